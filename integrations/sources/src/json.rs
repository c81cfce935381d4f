//! Secret strings in the JSON of a program's answer.
//!
//! A string with an escape would pass through a buffer of the JSON parser that nobody wipes, and an error of the
//! parser may quote a value. So the parser only finds where a secret string stands, and this module reads it.

use serde_json::value::RawValue;
use vault::Secret;
use vault::sources::{Account, SourceError};
use zeroize::Zeroizing;

/// The longest value of a login in bytes, as the vault has it.
const LONGEST_VALUE: usize = 4094;

/// Reads a value of one line.
pub(crate) fn value(raw: &RawValue, fits: impl Fn(&[u8]) -> bool) -> Option<Secret> {
    let mut bytes = string(raw)?;
    let text = std::str::from_utf8(&bytes).ok()?;
    if bytes.len() > LONGEST_VALUE || text.chars().any(char::is_control) || !fits(&bytes) {
        return None;
    }
    Some(Secret::new(std::mem::take(&mut *bytes)))
}

/// Reads a value that may be missing, null or empty.
pub(crate) fn value_if_there(raw: Option<&RawValue>) -> Result<Option<Secret>, SourceError> {
    match raw.filter(|raw| raw.get() != "null" && raw.get() != "\"\"") {
        None => Ok(None),
        Some(raw) => value(raw, |_| true).map(Some).ok_or(SourceError::Unusable),
    }
}

/// The account of a login, by which the user recognises it.
pub(crate) fn account(id: &str, username: Option<&Secret>) -> Account {
    match username {
        Some(name) => Account::named(id, name),
        None => Account { id: id.to_owned(), label: "without a user name".to_owned() },
    }
}

/// Reads a JSON string into one buffer that never grows. Anything else is `None`.
pub(crate) fn string(raw: &RawValue) -> Option<Zeroizing<Vec<u8>>> {
    let mut rest = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    // No escape is shorter than what it stands for.
    let mut out = Zeroizing::new(Vec::with_capacity(rest.len()));
    while let Some((plain, escaped)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let letter = escaped.chars().next()?;
        rest = escaped.get(letter.len_utf8()..)?;
        let character = match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => unit(&mut rest)?,
            _ => return None,
        };
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    out.extend_from_slice(rest.as_bytes());
    Some(out)
}

/// Reads a character of one or two UTF-16 units, after the first `\u`.
fn unit(rest: &mut &str) -> Option<char> {
    let mut four = || {
        let (digits, after) = rest.split_at_checked(4)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        *rest = after;
        u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    let first = four()?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first.into());
    }
    *rest = rest.strip_prefix("\\u")?;
    let mut four = || {
        let (digits, after) = rest.split_at_checked(4)?;
        *rest = after;
        u16::from_str_radix(digits, 16).ok()
    };
    char::decode_utf16([first, four()?]).next()?.ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::string;

    proptest! {
        #[test]
        fn a_string_is_read_as_the_parser_reads_it(text in "\"([^\"\\\\\u{0}-\u{1f}]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4}|\\\\ud83d\\\\ude0[0-9])*\"") {
            let raw: Box<RawValue> = serde_json::from_str(&text).unwrap();
            let expected = serde_json::from_str::<String>(&text).ok();
            prop_assert_eq!(string(&raw).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()), expected);
        }
    }
}
