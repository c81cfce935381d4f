//! Keys and tokens, known by how they begin or by what they are assigned to.

use std::ops::Range;

/// Patterns that a token begins with. Each match ends where the secret part begins.
///
/// The word in front says who issued the token; the number behind is how many characters the secret part
/// has at least.
pub(crate) const PREFIXES: [(&str, usize); 18] = [
    (r"(?:sk|rk)_(?:live|test)_", 16),         // Stripe
    (r"whsec_", 24),                           // Stripe webhook
    (r"sk-(?:proj-|ant-|svcacct-|or-)?", 20),  // OpenAI, Anthropic, OpenRouter
    (r"gh[pousr]_", 30),                       // GitHub
    (r"github_pat_", 30),                      // GitHub, fine-grained
    (r"gl(?:pat|dt|rt|ptt)-", 20),             // GitLab
    (r"xox[abeoprs]-", 20),                    // Slack
    (r"xapp-", 20),                            // Slack app
    (r"(?:AKIA|ASIA|ABIA|ACCA)", 16),          // AWS
    (r"AIza", 35),                             // Google API key
    (r"GOCSPX-", 20),                          // Google client secret
    (r"ya29\.", 20),                           // Google access token
    (r"(?:npm|hf|dop_v1|doo_v1|dor_v1)_", 30), // npm, Hugging Face, DigitalOcean
    (r"pypi-", 40),                            // PyPI
    (r"SG\.", 40),                             // SendGrid
    (r"shp(?:at|ca|pa|ss)_", 32),              // Shopify
    (r"AGE-SECRET-KEY-1", 40),                 // age
    (r"(?:SK|AC)", 32),                        // Twilio, hexadecimal
];

/// The word before a token that has no form of its own.
pub(crate) const SCHEME: &str = r"(?i:bearer|authorization:[ ]?basic)[ ]+";

/// A name that promises a secret, and the sign that assigns it.
pub(crate) const ASSIGNMENT: &str = r#"(?i:api[_-]?key|secret|token|passw(?:or)?d|access[_-]?key|private[_-]?key|client[_-]?secret)[a-z_-]{0,16}["']?[ ]?(?:=>|:=|[:=])[ ]?["']?"#;

/// The beginning of a JSON web token: base64url of `{"`.
pub(crate) const WEB_TOKEN: &str = r"eyJ";

/// The beginning of a private key block.
pub(crate) const KEY_BLOCK: &str = r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----";

/// The longest header of a JSON web token that is followed, in characters.
const LONGEST_HEADER: usize = 512;

/// Whether a token may begin at `start`: not inside a word.
fn begins_word(text: &str, start: usize) -> bool {
    let before = text.get(..start).and_then(|head| head.chars().next_back());
    !before.is_some_and(|character| character.is_alphanumeric())
}

/// How many of the first characters of `rest` may stand in a token.
fn run(rest: &str, extra: &[u8]) -> usize {
    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte)).count()
}

/// How many bytes belong to the run, looking at no more than `most`.
fn bounded_run(rest: &str, extra: &[u8], most: usize) -> usize {
    let window = rest.as_bytes().get(..most.min(rest.len())).unwrap_or_default();
    window.iter().take_while(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte)).count()
}

/// The token that begins with the matched prefix.
pub(crate) fn find_prefixed(text: &str, prefix: Range<usize>, shortest: usize) -> Option<Range<usize>> {
    let rest = text.get(prefix.end..)?;
    let enough = bounded_run(rest, b"_-.", shortest) >= shortest;
    let head = rest.get(..shortest)?;
    let word = text.get(prefix.clone())?;
    let fits = match word {
        "SK" | "AC" => head.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
        "AKIA" | "ASIA" | "ABIA" | "ACCA" => {
            head.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        }
        _ => head.bytes().any(|byte| byte.is_ascii_digit()) || mixes_case(head),
    };
    (enough && fits && begins_word(text, prefix.start))
        .then(|| prefix.start..end_of(text, prefix.end, b"_-."))
}

/// The secret after a scheme or an assignment; the word itself is not part of it.
pub(crate) fn find_assigned(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?;
    let window = rest.get(..bounded_run(rest, b"_-.~+/=", 64))?;
    let secret = window.trim_end_matches(['.', '-', '_']);
    (secret.len() >= 16 && is_random(secret)).then(|| word.end..end_of(text, word.end, b"_-.~+/="))
}

/// The JSON web token that begins at `start`.
pub(crate) fn find_web_token(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let header = bounded_run(rest, b"_-", LONGEST_HEADER);
    let payload = rest.get(header..)?.strip_prefix('.')?;
    (header >= 12 && bounded_run(payload, b"_-", 8) == 8 && begins_word(text, start))
        .then(|| start..end_of(text, start, b"_-."))
}

/// The private key block whose first line is at `first`; where the last line is missing, as far as base64
/// goes.
pub(crate) fn find_key_block(text: &str, first: Range<usize>) -> Range<usize> {
    let rest = text.get(first.end..).unwrap_or_default();
    // The next dashes end the search, so that a page full of first lines is still read once.
    let last =
        rest.find("-----").filter(|at| rest.get(*at..).is_some_and(|line| line.starts_with("-----END ")));
    let close = last.and_then(|at| {
        let label = at + "-----END ".len();
        let length = bounded_run(rest.get(label..)?, b" ", 48);
        rest.get(label + length..)?.starts_with("-----").then_some(label + length + "-----".len())
    });
    first.start..first.end + close.unwrap_or_else(|| run(rest, b"+/=\r\n\\"))
}

/// Where the run that goes through `start` ends, without the full stop of a sentence.
fn end_of(text: &str, start: usize, extra: &[u8]) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let length = run(rest, extra);
    start + rest.get(..length).unwrap_or_default().trim_end_matches('.').len()
}

fn mixes_case(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase()) && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether a string looks drawn at random: letters with digits or in both cases, and at least three bits a
/// character.
fn is_random(text: &str) -> bool {
    let mut counts = [0_u32; 128];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let length = text.len() as f64;
    let entropy: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum();
    let count = |test: fn(&u8) -> bool| text.as_bytes().iter().filter(|byte| test(byte)).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let mixed = (count(u8::is_ascii_digit) > 0 && upper + lower > 0) || (upper >= 4 && lower >= 4);
    mixed && entropy >= 3.0
}
