//! JSON strings.

use std::borrow::Cow;

use nom::Parser;
use nom::bytes::complete::take_while;

use super::fault::{Fault, Parse};
use crate::error::ParseErrorKind;
use crate::limits::MAX_STRING_BYTES;
use crate::text::is_forbidden;

/// A string in quotes; `input` begins with the opening one.
pub(super) fn string(input: &str) -> Parse<'_, Cow<'_, str>> {
    let Some(body) = input.strip_prefix('"') else {
        return Err(Fault::expected(input, "a string in quotes"));
    };
    let (mut rest, run) = plain(body)?;
    let mut text = Cow::Borrowed(run);
    loop {
        if text.len() > MAX_STRING_BYTES {
            return Err(Fault::between(input, rest, ParseErrorKind::StringTooLong));
        }
        if let Some(end) = rest.strip_prefix('"') {
            if let Cow::Owned(text) = &mut text {
                // So that what is kept of a line is never larger than the line.
                text.shrink_to_fit();
            }
            return Ok((end, text));
        }
        if rest.is_empty() {
            return Err(Fault::between(input, rest, ParseErrorKind::UnclosedString));
        }
        let Some(after) = rest.strip_prefix('\\') else {
            return Err(Fault::at(rest, ParseErrorKind::ForbiddenCharacter));
        };
        let (after, c) = escape(rest, after)?;
        let (next, run) = plain(after)?;
        let owned = text.to_mut();
        owned.push(c);
        owned.push_str(run);
        rest = next;
    }
}

/// Characters that stand for themselves.
fn plain(input: &str) -> Parse<'_, &str> {
    take_while(|c: char| c != '"' && c != '\\' && !is_forbidden(c)).parse(input)
}

/// The character that an escape stands for. `start` begins with its backslash, `input` after it.
fn escape<'a>(start: &'a str, input: &'a str) -> Parse<'a, char> {
    let mut rest = input.chars();
    let c = match rest.next() {
        Some(c @ ('"' | '\\' | '/')) => return Ok((rest.as_str(), c)),
        Some('b' | 'f' | 'n' | 'r' | 't') => {
            return Err(Fault::between(start, rest.as_str(), ParseErrorKind::ForbiddenCharacter));
        }
        Some('u') => unicode(rest.as_str()),
        _ => None,
    };
    match c {
        Some((rest, c)) if is_forbidden(c) => {
            Err(Fault::between(start, rest, ParseErrorKind::ForbiddenCharacter))
        }
        Some(done) => Ok(done),
        None => Err(Fault::between(start, rest.as_str(), ParseErrorKind::BadEscape)),
    }
}

/// The rest of a `\u` escape: four digits, and the second half of a pair where the first is one.
fn unicode(input: &str) -> Option<(&str, char)> {
    let (rest, first) = hex4(input)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((rest, char::from_u32(first)?));
    }
    let (rest, second) = hex4(rest.strip_prefix("\\u")?)?;
    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((rest, char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)?))
}

fn hex4(input: &str) -> Option<(&str, u32)> {
    let (digits, rest) = input.split_at_checked(4)?;
    let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten().map(|value| (rest, value))
}
