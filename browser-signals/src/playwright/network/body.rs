//! The body of a paused request, and the base64 in which the browser's protocol writes it.

use serde_json::Value;
use zeroize::Zeroizing;

use crate::json::text;

/// The body of a request, as far as the browser gives it.
pub(crate) enum Body {
    None,
    Complete(Vec<u8>),
    /// There is a body, and the browser does not give all of it.
    Unread,
}

/// Reads the body of `Network.Request`.
pub(crate) fn body_of(request: &Value) -> Body {
    if request.get("hasPostData").and_then(Value::as_bool) != Some(true) {
        return Body::None;
    }
    let entries = request.get("postDataEntries").and_then(Value::as_array);
    let decoded: Option<Vec<Vec<u8>>> = entries
        .filter(|entries| !entries.is_empty())
        .and_then(|entries| entries.iter().map(|entry| text(entry, "bytes").and_then(base64)).collect());
    match (decoded, text(request, "postData")) {
        (Some(parts), _) => Body::Complete(parts.concat()),
        (None, Some(whole)) if entries.is_none() => Body::Complete(whole.as_bytes().to_vec()),
        (None, _) => Body::Unread,
    }
}

/// Reads standard base64, as CDP writes bytes.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(out)
}

/// Writes bytes as CDP reads them.
pub(crate) fn write_base64(bytes: &[u8]) -> Zeroizing<String> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Zeroizing::new(String::with_capacity(bytes.len().div_ceil(3) * 4));
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().enumerate().fold(0_u32, |all, (at, byte)| all | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let index = usize::try_from((group >> (18 - 6 * at)) & 63).unwrap_or_default();
            let letter = ALPHABET.get(index).filter(|_| at <= chunk.len());
            out.push(letter.map_or('=', |byte| char::from(*byte)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn base64_round_trips() {
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(91)).collect();
            assert_eq!(base64(&write_base64(&bytes)).as_deref(), Some(bytes.as_slice()));
        }
        assert_eq!(*write_base64(b"hello"), "aGVsbG8=");
    }

    #[test]
    fn bodies_are_read_whole_or_not_at_all() {
        assert_eq!(base64("aGVsbG8=").as_deref(), Some(b"hello".as_slice()));
        assert_eq!(base64("aGVsbG8h").as_deref(), Some(b"hello!".as_slice()));
        assert_eq!(base64("a*"), None);
        let whole =
            json!({ "hasPostData": true, "postDataEntries": [{ "bytes": "aGU=" }, { "bytes": "bGxv" }] });
        assert!(matches!(body_of(&whole), Body::Complete(bytes) if bytes == b"hello"));
        let file =
            json!({ "hasPostData": true, "postDataEntries": [{ "bytes": "aGU=" }, {}], "postData": "he" });
        assert!(matches!(body_of(&file), Body::Unread));
        assert!(matches!(body_of(&json!({ "hasPostData": true })), Body::Unread));
        assert!(matches!(body_of(&json!({})), Body::None));
    }
}
