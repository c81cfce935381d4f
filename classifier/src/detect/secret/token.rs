//! Keys and tokens, recognised by their prefix or by a part in their middle.

use super::issuer::{Alphabet, Issuer};
use super::randomness::{is_placeholder, is_wordy};
use crate::detect::context::begins;
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// The beginning of a JSON web token: base64url of `{"`.
pub(crate) const WEB_TOKEN: &str = r"eyJ";

/// The beginning of a private key block.
pub(crate) const KEY_BLOCK: &str = r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----";

/// The middle of tokens of Telegram, Azure, Mailchimp and Terraform. [`INNER_LENGTHS`] says how many characters are
/// before and after it.
pub(crate) const INNER: [&str; 4] = [r":AA", r"[0-9]Q~", r"-us[0-9]{1,2}", r"\.atlasv1\."];

/// For each of [`INNER`]: the alphabet before it, the smallest and the largest number of characters there, and the
/// smallest number after it.
const INNER_LENGTHS: [(Alphabet, usize, usize, usize); 4] = [
    (Alphabet::Capital, 8, 10, 33),
    (Alphabet::Name, 3, 3, 30),
    (Alphabet::Hex, 32, 32, 0),
    (Alphabet::Plain, 14, 14, 60),
];

/// The longest header of a JSON web token that is read, in characters.
const LONGEST_HEADER: usize = 512;

fn finding(span: Range<usize>, percent: u8) -> Finding {
    Finding::new(span, SensitiveKind::Token, percent)
}

/// Returns the number of leading characters of `rest` that may be in a token.
fn run(rest: &str, extra: &[u8]) -> usize {
    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte)).count()
}

/// Returns the length of the run in bytes, at most `most`.
fn bounded_run(rest: &str, extra: &[u8], most: usize) -> usize {
    let window = rest.as_bytes().get(..most.min(rest.len())).unwrap_or_default();
    window.iter().take_while(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte)).count()
}

/// Returns the token that begins with the matched prefix of an issuer.
pub(crate) fn find_issued(text: &str, prefix: Range<usize>, issuer: &Issuer) -> Option<Finding> {
    let rest = text.get(prefix.end..)?;
    let head = rest.get(..issuer.shortest)?;
    let fits = head.bytes().all(|byte| issuer.alphabet.holds(byte));
    let varied = match issuer.alphabet {
        Alphabet::Capital => true,
        _ => head.bytes().any(|byte| byte.is_ascii_digit()) || mixes_case(head),
    };
    // In capitals alone, many runs of letters match by chance.
    let made_up = is_placeholder(head) || (issuer.alphabet != Alphabet::Capital && is_wordy(head));
    (fits && varied && !made_up && begins(text, prefix.start)).then(|| {
        // Some tokens continue with other characters; text glued to the token is masked with it.
        let extra: &[u8] = match issuer.alphabet {
            Alphabet::Base64 => b"_-.+/=%",
            Alphabet::Address => b"_-.+/=%@~:",
            _ => b"_-.",
        };
        finding(prefix.start..end_of(text, prefix.end, extra), 95)
    })
}

/// Returns the token with the sign of [`INNER`] in its middle.
pub(crate) fn find_inner(text: &str, sign: Range<usize>, index: usize) -> Option<Finding> {
    let (alphabet, fewest, most, behind) = INNER_LENGTHS.get(index)?;
    let head = text.get(..sign.start)?;
    let length = head.bytes().rev().take(most + 1).take_while(|byte| alphabet.holds(*byte)).count();
    let before = head.get(head.len() - length..)?;
    let digits = *alphabet != Alphabet::Capital || before.bytes().all(|byte| byte.is_ascii_digit());
    // The window may have cut a longer run; then the beginning of the token is unknown.
    let sized = (*fewest..=*most).contains(&length) && digits && begins(text, sign.start - length);
    let rest = text.get(sign.end..)?;
    let tail = rest.get(..*behind)?;
    let fits = tail.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
    let varied = tail.is_empty() || (!is_placeholder(tail) && !is_wordy(tail));
    let ends = *behind > 0 || !rest.starts_with(|c: char| c.is_alphanumeric());
    (sized && fits && varied && ends)
        .then(|| finding(sign.start - length..end_of(text, sign.end, b"_-.~"), 90))
}

/// Returns the JSON web token that begins at `start`.
pub(crate) fn find_web_token(text: &str, start: usize) -> Option<Finding> {
    let rest = text.get(start..)?;
    let header = bounded_run(rest, b"_-", LONGEST_HEADER);
    let payload = rest.get(header..)?.strip_prefix('.')?;
    (header >= 12 && bounded_run(payload, b"_-", 8) == 8 && begins(text, start))
        .then(|| finding(start..end_of(text, start, b"_-."), 95))
}

/// Returns the private key block whose first line is at `first`; without a last line, the block ends where base64
/// ends.
pub(crate) fn find_key_block(text: &str, first: Range<usize>) -> Finding {
    let rest = text.get(first.end..).unwrap_or_default();
    // The search ends at the next dashes, so that a page full of first lines is still read once.
    let last =
        rest.find("-----").filter(|at| rest.get(*at..).is_some_and(|line| line.starts_with("-----END ")));
    let close = last.and_then(|at| {
        let label = at + "-----END ".len();
        let length = bounded_run(rest.get(label..)?, b" ", 48);
        rest.get(label + length..)?.starts_with("-----").then_some(label + length + "-----".len())
    });
    finding(first.start..first.end + close.unwrap_or_else(|| run(rest, b"+/=\r\n\\")), 99)
}

/// Returns the end of the run that begins at `start`, without the full stop of a sentence.
fn end_of(text: &str, start: usize, extra: &[u8]) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let length = run(rest, extra);
    start + rest.get(..length).unwrap_or_default().trim_end_matches('.').len()
}

fn mixes_case(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase()) && text.bytes().any(|byte| byte.is_ascii_lowercase())
}
