//! Each form of a value is found in random surroundings.

mod encodings;

use std::ops::Range;

use proptest::prelude::*;

use super::find::{Finder, Needles};
use super::search;

/// The places of `value` in `text`.
fn found(text: &str, value: &str) -> Vec<Range<usize>> {
    let mut needles = Needles::new();
    assert!(needles.add(value.as_bytes()), "a value long enough to look for");
    let mut spans = Vec::new();
    search::each(text, &Finder::new(needles), &mut |_, view, range| spans.push(view.origin(range)));
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    for span in &spans {
        assert!(text.get(span.clone()).is_some(), "{span:?} is not on character boundaries of {text:?}");
    }
    spans
}

/// Encodes Base64 from its definition, independent of the decoder under test.
fn base64(bytes: &[u8], url_safe: bool, pad: bool) -> String {
    let tail = if url_safe { "-_" } else { "+/" };
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(tail.chars()).collect();
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let number = group.iter().fold(0u32, |n, byte| n << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            out.push(alphabet[(number >> (18 - 6 * place) & 63) as usize]);
        }
        if pad {
            out.extend(std::iter::repeat_n('=', 3 - group.len()));
        }
    }
    out
}

fn hex(bytes: &[u8], between: &str, upper: bool) -> String {
    let digits: Vec<String> =
        bytes.iter().map(|b| if upper { format!("{b:02X}") } else { format!("{b:02x}") }).collect();
    digits.join(between)
}

fn percent(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("%{byte:02X}")).collect()
}

/// A realistic value, with at least four characters that count. A value that ends as it begins is left out: two places of it in a
/// text can overlap, and the first one counts.
fn value() -> impl Strategy<Value = String> {
    "[A-Za-z0-9äßé@#]{4,8}( [A-Za-z0-9.-]{1,8}){0,3}".prop_filter("ends as it begins", |value| {
        let letters: Vec<char> = value
            .to_lowercase()
            .replace('ä', "a")
            .replace('é', "e")
            .replace('ß', "ss")
            .chars()
            .filter(|c| c.is_alphanumeric())
            .collect();
        (1..letters.len()).all(|length| letters[..length] != letters[letters.len() - length..])
    })
}

/// Random text around a value.
fn around() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,40}", "[A-Za-z0-9+/= %]{0,40}", "[0-9a-f ]{0,40}"]
}

/// Checks that an encoded value is found. Quotes separate it from the text around it, which could otherwise shift
/// its alignment by half a symbol or complete a percent sign.
fn assert_found(before: &str, encoded: &str, after: &str, value: &str) -> Result<(), TestCaseError> {
    let text = format!("{before}\"{encoded}\"{after}");
    let spans = found(&text, value);
    let place = before.len() + 1..before.len() + 1 + encoded.len();
    let inside = spans.iter().any(|span| span.start >= place.start && span.end <= place.end);
    prop_assert!(inside, "{value:?} as {encoded:?} not found in {text:?}: {spans:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn plain_forms(value in value(), before in around(), after in around()) {
        assert_found(&before, &value, &after, &value)?;
        assert_found(&before, &value.to_uppercase(), &after, &value)?;
        let spaced: String = value.chars().flat_map(|c| [c, ' ']).collect();
        assert_found(&before, spaced.trim_end(), &after, &value)?;
        let dashed: String = value.chars().flat_map(|c| [c, '-']).collect();
        assert_found(&before, dashed.trim_end_matches('-'), &after, &value)?;
        assert_found(&before, &value.replace(['.', '-', ' '], ""), &after, &value)?;
        assert_found(&before, &value.replace('é', "e\u{301}").replace('ä', "a\u{308}"), &after, &value)?;
        let wide: String = value
            .chars()
            .map(|c| if c.is_ascii_graphic() { char::from_u32(c as u32 + 0xfee0).unwrap() } else { c })
            .collect();
        assert_found(&before, &wide, &after, &value)?;
    }

    #[test]
    fn percent_encoded(value in value(), before in around(), after in around()) {
        let once = percent(value.as_bytes());
        assert_found(&before, &once, &after, &value)?;
        assert_found(&before, &value.replace(' ', "+").replace('é', "%C3%A9").replace('@', "%40"), &after, &value)?;
        assert_found(&before, &once.replace('%', "%25"), &after, &value)?;
        assert_found(&before, &once.replace('%', "%2525").to_lowercase(), &after, &value)?;
    }

    #[test]
    fn escaped_characters(value in value(), before in around(), after in around()) {
        let bytes: String = value.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        assert_found(&before, &bytes, &after, &value)?;
        let each = |escape: &dyn Fn(u32) -> String| value.chars().map(|c| escape(u32::from(c))).collect::<String>();
        assert_found(&before, &each(&|c| format!("\\u{c:04x}")), &after, &value)?;
        assert_found(&before, &each(&|c| format!("&#{c};")), &after, &value)?;
        assert_found(&before, &each(&|c| format!("&#x{c:X}")), &after, &value)?;
        assert_found(&before, &percent(each(&|c| format!("&#{c};")).as_bytes()), &after, &value)?;
    }

    #[test]
    fn hexadecimal(value in value(), before in around(), after in around(), upper: bool) {
        let bytes = value.as_bytes();
        for between in ["", " ", ":", "-", ", 0x"] {
            assert_found(&before, &hex(bytes, between, upper), &after, &value)?;
        }
        // Half a byte of something else before it.
        let odd = format!("a{}", hex(bytes, "", upper));
        assert_found(&before, &odd, &after, &value)?;
        assert_found(&before, &percent(hex(bytes, "", upper).as_bytes()), &after, &value)?;
    }

    #[test]
    fn base64_at_every_alignment(
        value in value(), before in around(), after in around(),
        lead in prop::collection::vec(any::<u8>().prop_filter("joins no letter", u8::is_ascii_whitespace), 0..4),
        stem in "[A-Za-z0-9]{0,5}", url_safe: bool, pad: bool,
    ) {
        let bytes = [&lead, value.as_bytes(), b" tail"].concat();
        let encoded = base64(&bytes, url_safe, pad);
        assert_found(&before, &encoded, &after, &value)?;
        assert_found(&before, &base64(value.as_bytes(), url_safe, pad), &after, &value)?;
        // Something else that looks like Base64, straight before it, and wrapped lines.
        let glued = format!("{stem}{}", base64(value.as_bytes(), url_safe, pad));
        assert_found(&before, &glued, &after, &value)?;
        let wrapped: Vec<String> = encoded.as_bytes().chunks(5).map(|c| String::from_utf8(c.to_vec()).unwrap()).collect();
        assert_found(&before, &wrapped.join("\r\n"), &after, &value)?;
        assert_found(&before, &encoded.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D"), &after, &value)?;
    }

    #[test]
    fn any_text_gives_places_in_it(text in "\\PC{0,200}", value in value()) {
        found(&text, &value);
    }

    #[test]
    fn a_value_is_not_found_where_it_is_not(text in "[a-m ,.%]{0,120}", value in "[n-z]{4,12}") {
        let plain = found(&text, &value);
        prop_assert!(plain.is_empty(), "{value:?} found in {text:?}: {plain:?}");
    }
}

#[test]
fn the_span_is_the_value_and_no_more() {
    assert_eq!(found("pay with 4111 1111-1111.1111, please", "4111111111111111"), vec![9..28]);
    assert_eq!(found("mail ANNA@EXAMPLE.com!", "anna@example.com"), vec![5..21]);
    assert_eq!(found("q=Main%20Street%205&x=1", "Main Street 5").first(), Some(&(2..19)));
    assert_eq!(found("[TWFpbiBTdHJlZXQ=]", "Main Street"), vec![1..16]);
    assert_eq!(found("<4d61696e>", "Main"), vec![1..9]);
}

#[test]
fn every_occurrence_is_found() {
    assert_eq!(found("Anna, anna; ANNA", "Anna"), vec![0..4, 6..10, 12..16]);
}

#[test]
fn short_values_are_not_searched_for() {
    for short in ["123", "1-2-3", "....----", "äöü", ""] {
        assert!(!Needles::new().add(short.as_bytes()), "{short}");
    }
    for long in ["1234", "1-2-3-4", "äöüß"] {
        assert!(Needles::new().add(long.as_bytes()), "{long}");
    }
}

#[test]
fn near_misses_are_not_found() {
    for text in ["4111111111111112", "411111111111111", "4111 1111 x 1111 1111", "", "%34%31%31"] {
        assert!(found(text, "4111111111111111").is_empty(), "{text}");
    }
}
