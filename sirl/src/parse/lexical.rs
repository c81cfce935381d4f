//! Words, names and single values.

use std::borrow::Cow;

use nom::bytes::complete::{tag, take_while};
use nom::character::complete::{char, space0, space1};
use nom::sequence::preceded;
use nom::{Err, Parser};

use super::fault::{Fault, Parse};
use super::string::string;
use crate::error::{Excerpt, ParseErrorKind};

/// A name, bare or in quotes, and where it stood.
pub(super) struct Name<'a> {
    pub(super) text: Cow<'a, str>,
    start: &'a str,
    end: &'a str,
}

impl<'a> Name<'a> {
    /// Blames the name.
    pub(super) fn fault(&self, kind: ParseErrorKind) -> Err<Fault> {
        Fault::between(self.start, self.end, kind)
    }

    /// As much of the name as an error may repeat.
    pub(super) fn excerpt(&self) -> Excerpt {
        Excerpt::new(&self.text, self.start.starts_with('"'))
    }
}

/// A run, perhaps empty, of letters, digits, `_` and `-`.
pub(super) fn word(input: &str) -> Parse<'_, &str> {
    take_while(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-').parse(input)
}

/// A name, bare or in quotes; `what` says what should stand here.
pub(super) fn name<'a>(input: &'a str, what: &'static str) -> Parse<'a, Name<'a>> {
    let (end, text) = if input.starts_with('"') {
        string(input)?
    } else {
        let (end, text) = word(input)?;
        (end, Cow::Borrowed(text))
    };
    if end.len() == input.len() {
        return Err(Fault::expected(input, what));
    }
    Ok((end, Name { text, start: input, end }))
}

/// One mark such as `:`, with the blanks around it; `what` says what should stand here.
pub(super) fn mark<'a>(input: &'a str, symbol: char, what: &'static str) -> Parse<'a, ()> {
    let (input, _) = space0(input)?;
    let (input, _) = char(symbol).parse(input).map_err(|_: Err<Fault>| Fault::expected(input, what))?;
    let (input, _) = space0(input)?;
    Ok((input, ()))
}

/// What follows blanks and then `lead`, if they stand here.
pub(super) fn after_blank<'a>(input: &'a str, lead: &'static str) -> Option<&'a str> {
    let parsed: Parse<'a, &str> = preceded(space1, tag(lead)).parse(input);
    parsed.ok().map(|(rest, _)| rest)
}

/// Blanks, then the end of the line; `what` says what else may stand here.
pub(super) fn end_of_line<'a>(input: &'a str, what: &'static str) -> Parse<'a, ()> {
    let (rest, _) = space0(input)?;
    if rest.is_empty() {
        return Ok((rest, ()));
    }
    let (end, _) = take_while(|c: char| c != ' ' && c != '\t').parse(rest)?;
    Err(Fault::between(rest, end, ParseErrorKind::Expected(what)))
}

/// A run, perhaps empty, of what can be a bare value: anything up to a blank or a bracket, comma or quote.
pub(super) fn bare(input: &str) -> Parse<'_, &str> {
    take_while(|c: char| !matches!(c, ' ' | '\t' | ',' | '{' | '}' | '[' | ']' | '"')).parse(input)
}

/// Reads a string that is the value of `key` and turns it into a `T`; `wants` says what the key takes.
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
        None => Err(Fault::between(input, rest, ParseErrorKind::WrongValue { key, wants })),
    }
}

/// Reads a value without quotes and turns it into a `T`; `wants` says what the key takes.
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

/// Blames the value at `input`, whatever sort it is.
fn wrong_value(input: &str, key: &'static str, wants: &'static str) -> Err<Fault> {
    if input.starts_with(['{', '[']) {
        return Fault::at(input, ParseErrorKind::TooDeep);
    }
    let end = if input.starts_with('"') {
        match string(input) {
            Ok((end, _)) => end,
            Err(fault) => return fault,
        }
    } else {
        bare(input).map_or(input, |(end, _): (&str, &str)| end)
    };
    let kind = ParseErrorKind::WrongValue { key, wants };
    if end.len() == input.len() { Fault::at(input, kind) } else { Fault::between(input, end, kind) }
}
