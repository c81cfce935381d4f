//! Tells random strings, such as keys, from strings of words.

/// The smallest entropy of a random string, in bits per character.
const FEWEST_BITS: f64 = 3.0;

/// Parts of placeholders for secrets.
const SAMPLES: [&str; 19] = [
    "abcdefghijkl",
    "your",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "replace",
    "insert",
    "redacted",
    "removed",
    "dummy",
    "sample",
    "xxxx",
    "****",
    "....",
    "todo",
    "password",
    "passwort",
    "process.env",
];

/// Returns whether a string is a placeholder for a secret: `YOUR_API_KEY`, `xxxxxxxx`, `${TOKEN}`.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let longest_run = text.as_bytes().chunk_by(|a, b| a == b).map(<[u8]>::len).max().unwrap_or(0);
    SAMPLES.iter().any(|sample| lower.contains(sample))
        || longest_run >= 7
        || text.starts_with(['$', '<', '{', '%'])
}

/// Returns whether a string looks random: letters with digits or in both cases, at least three bits per character,
/// and not made of words.
pub(crate) fn is_random(text: &str) -> bool {
    let count = |test: fn(&u8) -> bool| text.as_bytes().iter().filter(|byte| test(byte)).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let mixed = (count(u8::is_ascii_digit) > 0 && upper + lower > 0) || (upper >= 4 && lower >= 4);
    mixed && bits(text) >= FEWEST_BITS && !is_wordy(text)
}

/// Returns the entropy of a string in bits per character, by its own character counts (Shannon).
fn bits(text: &str) -> f64 {
    let mut counts = [0_u32; 128];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// Returns whether a string is made of words: at least three fifths of its letters and digits are in runs of four or
/// more letters with the case of a word (all lower, all upper, or with a capital first), and these have as many
/// vowels as words have. A string of capitals alone needs signs between its words. Digits in three places of a part
/// without signs are no part of words.
pub(crate) fn is_wordy(text: &str) -> bool {
    let (mut covered, mut vowels, mut all) = (0, 0, 0);
    for part in text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()) {
        if part.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).count() >= 6 {
            return false;
        }
        all += part.len();
        for run in runs(part).filter(|run| run.len() >= 4) {
            covered += run.len();
            vowels += run.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
        }
    }
    let parted = all < text.len() || text.bytes().any(|byte| byte.is_ascii_lowercase());
    parted && covered * 5 >= all * 3 && vowels * 100 >= covered * 28
}

/// Returns whether a string is an identifier of a program: parts between dots, dashes or slashes, of which hardly any
/// looks random by itself.
pub(crate) fn is_identifier(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['.', '-', '_', '/', ':']).filter(|part| !part.is_empty()).collect();
    let chance = |part: &&str| part.len() >= 8 && is_random(part) && !is_wordy(&part.to_ascii_lowercase());
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let uuid = matches!(parts.as_slice(), [a, b, c, d, e] if [a.len(), b.len(), c.len(), d.len(), e.len()] == [8, 4, 4, 4, 12]);
    let longest = parts.iter().map(|part| part.len()).max().unwrap_or(0);
    // With few digits and short parts a name is likelier than a draw.
    parts.len() > 1 && !uuid && !parts.iter().any(chance) && (longest < 12 || digits * 8 < text.len())
}

/// Returns the parts of a string that have the case of a word; each digit is a part of its own.
fn runs(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = part;
    std::iter::from_fn(move || {
        let capitals = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let small = rest.iter().skip(capitals).take_while(|byte| byte.is_ascii_lowercase()).count();
        let length = match (capitals, small) {
            (0, 0) => 1,
            (0 | 1, _) => capitals + small,
            (_, 0) => capitals,
            // The last capital begins the next word.
            _ => capitals - 1,
        };
        let (run, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_random_and_names_are_not() {
        for text in [
            "a1B2c3D4e5F6g7H8i9J0",
            "0f1e2d3c4b5a69788796",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzRkT",
            "JBSWY3DPEHPK3PXP",
        ] {
            assert!(is_random(text), "{text}");
        }
        for text in [
            "aaaaaaaaaaaaaaaa1111",
            "bert-base-uncased-v2",
            "none-of-your-business-my-friend",
            "getTokenFromSession2",
            "PRODUCTION_DATABASE_URL_1",
            "input-field__label--2",
        ] {
            assert!(!is_random(text), "{text}");
        }
    }

    #[test]
    fn placeholders_are_not_secrets() {
        for text in ["YOUR_API_KEY", "sk-xxxxxxxxxxxxxxxx", "${TOKEN}", "<token>", "00000000", "REPLACE_ME"] {
            assert!(is_placeholder(text), "{text}");
        }
        assert!(!is_placeholder("a1B2c3D4e5F6g7H8i9J0"));
    }
}
