//! Bodies of the format `application/json`: the strings that are members of objects.

use std::ops::Range;

use zeroize::Zeroizing;

use super::form::Entry;

/// An object or array around the current position.
enum Open {
    /// An object, with the current member's key once it was read.
    Object(Option<Range<usize>>),
    Array,
}

/// The members of a body whose value is a string that `wanted` accepts; none where the body is not JSON. Their
/// names are paths: the keys of the objects around them, joined by a full stop.
pub(super) fn entries<'b>(body: &'b [u8], wanted: impl Fn(&str) -> bool) -> Option<Vec<Entry<'b>>> {
    // From here on the body is known to be JSON, nested no deeper than the library allows.
    serde_json::from_slice::<serde_json::Value>(body).ok()?;
    let mut entries = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = body.get(at) {
        match byte {
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::Array),
            b'}' | b']' => drop(open.pop()),
            b',' => {
                if let Some(Open::Object(key)) = open.last_mut() {
                    *key = None;
                }
            }
            b'"' => {
                let token = at..string_end(body, at)?;
                at = token.end;
                match open.last_mut() {
                    Some(Open::Object(key @ None)) => *key = Some(token),
                    Some(Open::Object(Some(_))) => {
                        let value: String = serde_json::from_slice(body.get(token.clone())?).ok()?;
                        if wanted(&value) {
                            let name = path(body, &open)?;
                            let span = token.start + 1..token.end - 1;
                            entries.push(Entry { name: name.into(), value: value.into(), span });
                        }
                    }
                    _ => {}
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Some(entries)
}

/// The position after the closing quote of the string that begins at `from`.
fn string_end(body: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match body.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn path(body: &[u8], open: &[Open]) -> Option<String> {
    let mut keys = Vec::new();
    for around in open {
        if let Open::Object(Some(key)) = around {
            keys.push(serde_json::from_slice::<String>(body.get(key.clone())?).ok()?);
        }
    }
    Some(keys.join("."))
}

/// Whether a member's path ends with the name of a control. Only letters and digits count, in any case, since
/// `card[number]`, `card_number` and `cardNumber` are spellings of one field.
pub(super) fn is_named(path: &str, control: &str) -> bool {
    let plain =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let control: String = plain(control);
    let mut from = path;
    loop {
        let end: String = plain(from);
        if !control.is_empty() && end == control {
            return true;
        }
        match from.split_once('.') {
            Some((_, rest)) => from = rest,
            None => return false,
        }
    }
}

/// A value as the inside of a JSON string.
pub(super) fn encoded(value: &str) -> Zeroizing<Vec<u8>> {
    // Each byte becomes six at most.
    let mut out = Zeroizing::new(Vec::with_capacity(value.len() * 6));
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            0..=0x1f => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(byte),
        }
    }
    out
}
