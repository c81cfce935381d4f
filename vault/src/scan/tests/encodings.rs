//! Encodings that a sender can choose, each implemented here from its definition.

use proptest::prelude::*;

use super::{around, assert_found, base64, found, hex, percent, value};

fn base32(bytes: &[u8], pad: bool) -> String {
    let alphabet: Vec<char> = ('A'..='Z').chain('2'..='7').collect();
    let mut out = String::new();
    for group in bytes.chunks(5) {
        let number = group.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte)) << (8 * (5 - group.len()));
        let symbols = (group.len() * 8).div_ceil(5);
        for place in 0..symbols {
            out.push(alphabet[(number >> (35 - 5 * place) & 31) as usize]);
        }
        if pad {
            out.extend(std::iter::repeat_n('=', 8 - symbols));
        }
    }
    out
}

fn utf16(text: &str, big_endian: bool) -> Vec<u8> {
    text.encode_utf16()
        .flat_map(|unit| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
        .collect()
}

fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    let each = text.chars().map(|c| match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        other => other,
    });
    each.collect()
}

/// A value with six characters or more that count, at least four of them letters.
fn long_value() -> impl Strategy<Value = String> {
    "[A-Za-z]{4}[A-Za-z0-9]{3,8}( [A-Za-z0-9.-]{1,8}){0,3}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn base32_at_every_alignment(
        value in value(), before in around(), after in around(), stem in "[A-Z2-7]{0,9}", pad: bool,
    ) {
        let encoded = base32(value.as_bytes(), pad);
        assert_found(&before, &encoded, &after, &value)?;
        assert_found(&before, &encoded.to_lowercase(), &after, &value)?;
        assert_found(&before, &format!("{stem}{encoded}"), &after, &value)?;
        for lead in [" ", "  ", "   ", "    "] {
            let bytes = [lead.as_bytes(), value.as_bytes(), b" tail"].concat();
            assert_found(&before, &base32(&bytes, pad), &after, &value)?;
        }
        assert_found(&before, &percent(encoded.as_bytes()), &after, &value)?;
    }

    #[test]
    fn utf16_behind_other_encodings(value in value(), before in around(), after in around(), big: bool) {
        let bytes = utf16(&value, big);
        assert_found(&before, &base64(&bytes, false, true), &after, &value)?;
        assert_found(&before, &hex(&bytes, "", true), &after, &value)?;
        assert_found(&before, &percent(&bytes), &after, &value)?;
        assert_found(&before, &base32(&bytes, true), &after, &value)?;
    }

    #[test]
    fn latin_1_behind_other_encodings(value in value(), before in around(), after in around()) {
        let bytes: Vec<u8> = value.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        assert_found(&before, &percent(&bytes), &after, &value)?;
        assert_found(&before, &base64(&bytes, true, false), &after, &value)?;
    }

    #[test]
    fn quoted_printable(value in value(), before in around(), after in around()) {
        let all: String = value.bytes().map(|byte| format!("={byte:02X}")).collect();
        assert_found(&before, &all, &after, &value)?;
        let some: String =
            value.bytes().map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("={b:02X}") }).collect();
        assert_found(&before, &some, &after, &value)?;
        let wrapped: String = value.chars().flat_map(|c| [c, '=', '\r', '\n']).collect();
        assert_found(&before, wrapped.trim_end_matches("=\r\n"), &after, &value)?;
    }

    #[test]
    fn backwards_and_rotated(value in long_value(), before in around(), after in around()) {
        let backwards: String = value.chars().rev().collect();
        assert_found(&before, &backwards, &after, &value)?;
        assert_found(&before, &percent(backwards.as_bytes()), &after, &value)?;
        assert_found(&before, &rot13(&value), &after, &value)?;
        assert_found(&before, &base64(rot13(&value).as_bytes(), false, true), &after, &value)?;
    }

    #[test]
    fn as_a_host_name_a_list_and_a_key_with_a_value(value in long_value(), before in around(), after in around()) {
        let label = |text: &str| text.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        assert_found(&before, &format!("https://{}.evil.test/", label(&value)), &after, &value)?;
        let listed: Vec<String> = value.chars().map(|c| format!("\"{c}\"")).collect();
        assert_found(&before, &format!("[{}]", listed.join(", ")), &after, &value)?;
        let spread: String = value.chars().flat_map(|c| [c, '|']).collect();
        assert_found(&before, &spread, &after, &value)?;
    }

    #[test]
    fn other_escapes(value in value(), before in around(), after in around()) {
        let octal: String = value.bytes().map(|byte| format!("\\{byte:03o}")).collect();
        assert_found(&before, &octal, &after, &value)?;
        let braces: String = value.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect();
        assert_found(&before, &braces, &after, &value)?;
        let named = value.replace('ä', "&auml;").replace('é', "&eacute;").replace('ß', "&szlig;");
        let named = named.replace('@', "&commat;").replace('#', "&num;").replace('.', "&period;").replace(' ', "&nbsp;");
        assert_found(&before, &named, &after, &value)?;
        let json = serde_like(&value);
        assert_found(&before, &json, &after, &value)?;
    }
}

/// Every character as JSON may escape it: by UTF-16 units.
fn serde_like(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

#[test]
fn surrogate_pairs_are_one_character() {
    let value = "kettle 𝒳𝒴 \u{1f600} nine";
    assert!(!found(&format!("\"{}\"", serde_like(value)), value).is_empty());
    assert!(!found(&format!("\"{}\"", serde_like("KETTLE XY \u{1f600}nine")), value).is_empty());
}

#[test]
fn tags_and_other_digits_are_read() {
    let tagged: String = "opal kettle".chars().map(|c| char::from_u32(0xe0000 + c as u32).unwrap()).collect();
    assert!(!found(&format!("x{tagged}x"), "opal kettle").is_empty());
    assert!(!found("٤١١١ ١١١١ ١١١١ ١١١١", "4111111111111111").is_empty());
}

#[test]
fn marks_count_in_short_values_that_hold_them() {
    assert!(!found("it is a#b!c, then", "a#b!c").is_empty());
    for other in ["abc", "a b c", "the a&b@c"] {
        assert!(found(other, "a#b!c").is_empty(), "{other}");
    }
    assert!(found("ab cd", "ab!!cd").is_empty());
}

#[test]
fn a_key_before_a_value_is_no_quoted_byte() {
    assert_eq!(found("a=4111%201111 1111 1111", "4111111111111111"), vec![2..23]);
}
