//! Parsers of words, names, strings and single values.

use std::borrow::Cow;

use nom::bytes::complete::{tag, take_while};
use nom::character::complete::{char, space0, space1};
use nom::sequence::preceded;
use nom::{Err, Parser};

use super::error::{Parse, SyntaxError};
use crate::error::{Excerpt, ParseErrorKind};
use crate::limits::{MAX_STRING_BYTES, is_forbidden};

/// A name, bare or in quotes, and its place.
pub(super) struct Name<'a> {
    pub(super) text: Cow<'a, str>,
    start: &'a str,
    end: &'a str,
}

impl<'a> Name<'a> {
    /// Makes an error at the name.
    pub(super) fn error(&self, kind: ParseErrorKind) -> Err<SyntaxError> {
        SyntaxError::between(self.start, self.end, kind)
    }

    /// The part of the name that an error may repeat.
    pub(super) fn excerpt(&self) -> Excerpt {
        Excerpt::new(&self.text, self.start.starts_with('"'))
    }
}

/// Parses a run, perhaps empty, of letters, digits, `_` and `-`.
pub(super) fn word(input: &str) -> Parse<'_, &str> {
    take_while(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-').parse(input)
}

/// Parses a name, bare or in quotes; `what` names the expected text.
pub(super) fn name<'a>(input: &'a str, what: &'static str) -> Parse<'a, Name<'a>> {
    let (end, text) = if input.starts_with('"') {
        string(input)?
    } else {
        let (end, text) = word(input)?;
        (end, Cow::Borrowed(text))
    };
    if end.len() == input.len() {
        return Err(SyntaxError::expected(input, what));
    }
    Ok((end, Name { text, start: input, end }))
}

/// Parses one mark such as `:` with the blanks around it; `what` names the expected text.
pub(super) fn mark<'a>(input: &'a str, symbol: char, what: &'static str) -> Parse<'a, ()> {
    let (input, _) = space0(input)?;
    let (input, _) =
        char(symbol).parse(input).map_err(|_: Err<SyntaxError>| SyntaxError::expected(input, what))?;
    let (input, _) = space0(input)?;
    Ok((input, ()))
}

/// The text after blanks and `prefix`, if `input` begins with them.
pub(super) fn after_blank<'a>(input: &'a str, prefix: &'static str) -> Option<&'a str> {
    let parsed: Parse<'a, &str> = preceded(space1, tag(prefix)).parse(input);
    parsed.ok().map(|(rest, _)| rest)
}

/// Parses blanks and the end of the line; `what` names the expected text.
pub(super) fn end_of_line<'a>(input: &'a str, what: &'static str) -> Parse<'a, ()> {
    let (rest, _) = space0(input)?;
    if rest.is_empty() {
        return Ok((rest, ()));
    }
    let (end, _) = take_while(|c: char| c != ' ' && c != '\t').parse(rest)?;
    Err(SyntaxError::between(rest, end, ParseErrorKind::Expected(what)))
}

/// Parses a bare value, perhaps empty: anything up to a blank, bracket, comma or quote.
pub(super) fn bare(input: &str) -> Parse<'_, &str> {
    take_while(|c: char| !matches!(c, ' ' | '\t' | ',' | '{' | '}' | '[' | ']' | '"')).parse(input)
}

/// Parses a string that is the value of `key` and converts it; `wants` names the values that the key takes.
pub(super) fn string_value<'a, T>(
    input: &'a str,
    key: &'static str,
    wants: &'static str,
    convert: impl FnOnce(Cow<'a, str>) -> Option<T>,
) -> Parse<'a, T> {
    if !input.starts_with('"') {
        return Err(wrong_value(input, key, wants));
    }
    let (rest, text) = string(input)?;
    match convert(text) {
        Some(value) => Ok((rest, value)),
        None => Err(SyntaxError::between(input, rest, ParseErrorKind::WrongValue { key, wants })),
    }
}

/// Parses a value without quotes and converts it; `wants` names the values that the key takes.
pub(super) fn bare_value<'a, T>(
    input: &'a str,
    key: &'static str,
    wants: &'static str,
    convert: impl FnOnce(&'a str) -> Option<T>,
) -> Parse<'a, T> {
    let (rest, text) = bare(input)?;
    match convert(text) {
        Some(value) => Ok((rest, value)),
        None => Err(wrong_value(input, key, wants)),
    }
}

/// Makes an error at the value at `input`, of any type.
fn wrong_value(input: &str, key: &'static str, wants: &'static str) -> Err<SyntaxError> {
    if input.starts_with(['{', '[']) {
        return SyntaxError::at(input, ParseErrorKind::TooDeep);
    }
    let end = if input.starts_with('"') {
        match string(input) {
            Ok((end, _)) => end,
            Err(error) => return error,
        }
    } else {
        bare(input).map_or(input, |(end, _): (&str, &str)| end)
    };
    let kind = ParseErrorKind::WrongValue { key, wants };
    if end.len() == input.len() {
        SyntaxError::at(input, kind)
    } else {
        SyntaxError::between(input, end, kind)
    }
}

/// Parses a string in quotes.
pub(super) fn string(input: &str) -> Parse<'_, Cow<'_, str>> {
    let Some(body) = input.strip_prefix('"') else {
        return Err(SyntaxError::expected(input, "a string in quotes"));
    };
    let (mut rest, run) = plain(body)?;
    let mut text = Cow::Borrowed(run);
    loop {
        if text.len() > MAX_STRING_BYTES {
            return Err(SyntaxError::between(input, rest, ParseErrorKind::StringTooLong));
        }
        if let Some(end) = rest.strip_prefix('"') {
            if let Cow::Owned(text) = &mut text {
                // The kept parts of a line must never be larger than the line.
                text.shrink_to_fit();
            }
            return Ok((end, text));
        }
        if rest.is_empty() {
            return Err(SyntaxError::between(input, rest, ParseErrorKind::UnclosedString));
        }
        let Some(after) = rest.strip_prefix('\\') else {
            return Err(SyntaxError::at(rest, ParseErrorKind::ForbiddenCharacter));
        };
        let (after, c) = escape(rest, after)?;
        let (next, run) = plain(after)?;
        let owned = text.to_mut();
        owned.push(c);
        owned.push_str(run);
        rest = next;
    }
}

/// Parses characters that need no escape.
fn plain(input: &str) -> Parse<'_, &str> {
    take_while(|c: char| c != '"' && c != '\\' && !is_forbidden(c)).parse(input)
}

/// Parses an escape. `start` begins with its backslash, `input` after it.
fn escape<'a>(start: &'a str, input: &'a str) -> Parse<'a, char> {
    let mut rest = input.chars();
    let c = match rest.next() {
        Some(c @ ('"' | '\\' | '/')) => return Ok((rest.as_str(), c)),
        Some('b' | 'f' | 'n' | 'r' | 't') => {
            return Err(SyntaxError::between(start, rest.as_str(), ParseErrorKind::ForbiddenCharacter));
        }
        Some('u') => unicode(rest.as_str()),
        _ => None,
    };
    match c {
        Some((rest, c)) if is_forbidden(c) => {
            Err(SyntaxError::between(start, rest, ParseErrorKind::ForbiddenCharacter))
        }
        Some(done) => Ok(done),
        None => Err(SyntaxError::between(start, rest.as_str(), ParseErrorKind::BadEscape)),
    }
}

/// Parses the rest of a `\u` escape: four digits, and the second half of a surrogate pair after a first one.
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
