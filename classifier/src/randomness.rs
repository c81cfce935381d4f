//! Whether a string was drawn at random, as keys are, or is made of words.

/// The fewest bits a character, by the counts of the characters, that a random string has.
const FEWEST_BITS: f64 = 3.0;

/// Parts of strings that stand where a secret will stand later.
const SAMPLES: [&str; 18] = [
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

/// Whether a string stands in the place of a secret: `YOUR_API_KEY`, `xxxxxxxx`, `${TOKEN}`.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let longest_run = text.as_bytes().chunk_by(|a, b| a == b).map(<[u8]>::len).max().unwrap_or(0);
    SAMPLES.iter().any(|sample| lower.contains(sample))
        || longest_run >= 7
        || text.starts_with(['$', '<', '{', '%'])
}

/// Whether a string looks drawn at random: letters with digits or in both cases, at least three bits a character,
/// and not made of words.
pub(crate) fn is_random(text: &str) -> bool {
    let count = |test: fn(&u8) -> bool| text.as_bytes().iter().filter(|byte| test(byte)).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let mixed = (count(u8::is_ascii_digit) > 0 && upper + lower > 0) || (upper >= 4 && lower >= 4);
    mixed && bits(text) >= FEWEST_BITS && !is_wordy(text)
}

/// Bits a character, by the counts of the characters of this string alone (Shannon).
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

/// Whether a string is made of words: at least three fifths of it lies in runs of four letters or more that a person could
/// write (all small, all capital, or with a capital first), and these have as many vowels as words have.
pub(crate) fn is_wordy(text: &str) -> bool {
    let (mut covered, mut vowels) = (0, 0);
    let bytes = text.as_bytes();
    let continues = |before: &u8, next: &u8| {
        next.is_ascii_lowercase() && before.is_ascii_alphabetic()
            || next.is_ascii_uppercase() && before.is_ascii_uppercase()
    };
    for run in bytes.chunk_by(continues).filter(|run| run.len() >= 4) {
        covered += run.len();
        vowels += run.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
    }
    covered * 5 >= bytes.len() * 3 && vowels * 100 >= covered * 28
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
    fn what_stands_for_a_secret_is_none() {
        for text in ["YOUR_API_KEY", "sk-xxxxxxxxxxxxxxxx", "${TOKEN}", "<token>", "00000000", "REPLACE_ME"] {
            assert!(is_placeholder(text), "{text}");
        }
        assert!(!is_placeholder("a1B2c3D4e5F6g7H8i9J0"));
    }
}
