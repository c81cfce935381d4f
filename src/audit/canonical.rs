//! The bytes that are hashed: JSON with keys sorted at every level and no spaces; and hexadecimal digits.

use serde_json::{Map, Value};

/// The one text of a record.
pub(super) fn canonical(record: &Map<String, Value>) -> String {
    let mut out = String::with_capacity(512);
    object(record, &mut out);
    out
}

fn object(map: &Map<String, Value>, out: &mut String) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    // Whether a map keeps its keys sorted depends on a feature that another crate may turn on.
    entries.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (i, (key, value)) in entries.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        text(key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => object(map, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::String(value) => text(value, out),
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn text(value: &str, out: &mut String) {
    if value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(value);
        out.push('"');
    } else {
        out.push_str(&Value::from(value).to_string());
    }
}

/// Small hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What [`hex`] wrote: exactly `N` bytes, in small digits.
pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_texts_escaped_at_every_level() {
        let Value::Object(map) = json!({"b": [{"z": 1, "a": null}], "a": "\"\n\u{e9}", "c": {"y": true}})
        else {
            panic!("not an object")
        };
        assert_eq!(
            canonical(&map),
            "{\"a\":\"\\\"\\n\u{e9}\",\"b\":[{\"a\":null,\"z\":1}],\"c\":{\"y\":true}}"
        );
    }

    #[test]
    fn digits_go_both_ways_and_only_one_way_of_writing_is_read() {
        assert_eq!(hex(&[0, 0x9a, 255]), "009aff");
        assert_eq!(unhex("009aff"), Some([0, 0x9a, 255]));
        for bad in ["009afF", "009af", "009aff0", "+09aff", "009a\u{e9}"] {
            assert_eq!(unhex::<3>(bad), None, "{bad}");
        }
    }
}
