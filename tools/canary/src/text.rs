//! The search for a value in a text, in any encoding.

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use serde::Serialize;

/// The encoding in which a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Plain, in any letter case.
    Plain,
    /// With other separators, or none.
    Separators,
    /// Percent-encoded, or as a form encodes it.
    Url,
    /// In base64, of either alphabet.
    Base64,
    /// In hexadecimal digits.
    Hex,
    /// UTF-16, least significant byte first; only in bytes.
    Utf16,
    /// A part: in a text, at least eight digits in a row of a number of twelve or more; in bytes, at least twelve
    /// characters.
    Part,
}

/// The fewest letters and digits of a value that is searched for inside other words.
const LONG: usize = 6;
/// The number of nested encodings that are decoded.
const DEPTH: usize = 2;

/// Finds `value` in `text` and returns its plainest encoding; `None` if it is not there.
///
/// A value of fewer than six letters and digits counts only as a whole word, so that a security code is not found in
/// the middle of an identifier.
///
/// ```
/// use canary::text::{Encoding, find};
/// assert_eq!(find("card=4111-1111-1111-1111", "4111 1111 1111 1111"), Some(Encoding::Separators));
/// assert_eq!(find("x=NDExMTExMTExMTExMTExMQ", "4111 1111 1111 1111"), Some(Encoding::Base64));
/// assert_eq!(find("nothing here", "4111 1111 1111 1111"), None);
/// ```
pub fn find(text: &str, value: &str) -> Option<Encoding> {
    let mut found: Vec<Encoding> = Vec::new();
    search(text, value, None, DEPTH, &mut found);
    found.into_iter().min()
}

fn search(text: &str, value: &str, by: Option<Encoding>, depth: usize, found: &mut Vec<Encoding>) {
    if let Some(encoding) = find_here(text, value) {
        found.push(by.unwrap_or(encoding));
    }
    if depth == 0 {
        return;
    }
    if text.contains(['%', '+']) {
        let spaced = text.replace('+', " ");
        let decoded = percent_decode_str(&spaced).decode_utf8_lossy();
        if decoded != text {
            search(&decoded, value, by.or(Some(Encoding::Url)), depth - 1, found);
        }
    }
    // Most words decode to noise, in which a short value could occur by chance.
    let letters = letters_and_digits(value).chars().count();
    let readable =
        |decoded: &str| letters >= LONG || decoded.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    let shortest = letters.min(8);
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    for run in text.split(|c: char| !is_base64(c)).filter(|run| run.len() * 3 / 4 >= shortest) {
        for decoded in base64_texts(run).iter().filter(|decoded| readable(decoded)) {
            search(decoded, value, by.or(Some(Encoding::Base64)), depth - 1, found);
        }
    }
    let is_hex = |run: &&str| run.len() >= 2 * shortest && run.len().is_multiple_of(2);
    for run in text.split(|c: char| !c.is_ascii_hexdigit()).filter(is_hex) {
        if let Some(decoded) = hex_text(run).filter(|decoded| readable(decoded)) {
            search(&decoded, value, by.or(Some(Encoding::Hex)), depth - 1, found);
        }
    }
}

fn find_here(text: &str, value: &str) -> Option<Encoding> {
    let (lower, wanted) = (text.to_lowercase(), value.to_lowercase());
    let bare = letters_and_digits(&wanted);
    if bare.is_empty() {
        return None;
    }
    if bare.chars().count() < LONG {
        return is_whole_word(&lower, &wanted).then_some(Encoding::Plain);
    }
    if lower.contains(&wanted) {
        return Some(Encoding::Plain);
    }
    let stripped = letters_and_digits(&lower);
    if stripped.contains(&bare) {
        return Some(Encoding::Separators);
    }
    let windows: Vec<&[u8]> = bare.as_bytes().windows(8).collect();
    let number = bare.len() >= 12 && bare.bytes().all(|byte| byte.is_ascii_digit());
    let part = number
        && windows.iter().any(|window| std::str::from_utf8(window).is_ok_and(|part| stripped.contains(part)));
    part.then_some(Encoding::Part)
}

/// Tells if `wanted` occurs without a letter or digit next to it.
fn is_whole_word(text: &str, wanted: &str) -> bool {
    text.match_indices(wanted).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + wanted.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).collect()
}

/// Decodes `run` in either alphabet, from each of the four possible starts of a group.
fn base64_texts(run: &str) -> Vec<String> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabets = [&base64::alphabet::STANDARD, &base64::alphabet::URL_SAFE];
    let engines = alphabets.map(|alphabet| GeneralPurpose::new(alphabet, config));
    let starts = 0..4;
    starts
        .filter_map(|start| run.get(start..))
        .map(|part| part.get(..part.len() - usize::from(part.len() % 4 == 1)).unwrap_or(part))
        .flat_map(|part| engines.iter().filter_map(|engine| engine.decode(part).ok()).collect::<Vec<_>>())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

fn hex_text(run: &str) -> Option<String> {
    let bytes: Option<Vec<u8>> = run
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect();
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "4111 1111 1111 1111";

    #[test]
    fn every_encoding_is_found_and_named() {
        let cases = [
            ("my card is 4111 1111 1111 1111.", Encoding::Plain),
            ("4111.1111.1111.1111", Encoding::Separators),
            ("card=4111+1111+1111+1111", Encoding::Separators),
            ("c=%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31", Encoding::Url),
            ("NDExMSAxMTExIDExMTEgMTExMQ==", Encoding::Base64),
            ("d=34313131313131313131313131313131", Encoding::Hex),
            ("ends with 1111-1111", Encoding::Part),
        ];
        for (text, encoding) in cases {
            assert_eq!(find(text, CARD), Some(encoding), "{text}");
        }
    }

    #[test]
    fn two_nested_encodings_are_decoded() {
        assert!(find("NDExMSAxMTExIDExMTEgMTExMQ%3D%3D", CARD).is_some());
    }

    #[test]
    fn a_value_in_the_middle_of_a_base64_text_is_found_at_any_offset() {
        let engine = base64::engine::general_purpose::STANDARD;
        for filler in ["", "a", "ab", "abc"] {
            let text = engine.encode(format!("{filler}{CARD} and more"));
            assert_eq!(find(&format!("q={text}"), CARD), Some(Encoding::Base64), "{filler}");
        }
    }

    #[test]
    fn short_values_count_only_as_whole_words() {
        assert_eq!(find("cvv 123", "123"), Some(Encoding::Plain));
        assert_eq!(find("id=a1234", "123"), None);
        assert_eq!(find("12312", "123"), None);
    }

    #[test]
    fn a_short_value_is_found_in_base64_and_hex_and_not_in_noise() {
        assert_eq!(find("d=Y3Z2IDEyMw==", "123"), Some(Encoding::Base64));
        assert_eq!(find("d=313233", "123"), Some(Encoding::Hex));
        let mut state = 1_u64;
        let mut word = || {
            let letters = (0..12).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(b'a' + ((state >> 33) % 26) as u8)
            });
            letters.collect::<String>()
        };
        let noise: Vec<String> = (0..4000).map(|_| word()).collect();
        assert_eq!(find(&noise.join(" "), "123"), None);
    }

    #[test]
    fn other_numbers_are_not_found() {
        assert_eq!(find("4222 2222 2222 2220 and 12/29", CARD), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_searched_without_a_panic(text in ".{0,200}", value in ".{0,30}") {
            let _ = find(&text, &value);
        }

        #[test]
        fn a_written_value_is_found(before in "[ -~]{0,20}", value in "[A-Z][a-z]{7,9}", after in "[ -~]{0,20}") {
            let text = [&before, " ", &value, " ", &after].concat();
            proptest::prop_assert!(find(&text, &value).is_some());
        }
    }
}
