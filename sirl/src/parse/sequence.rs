//! Parsers of lists and objects.

use nom::character::complete::space0;

use super::error::{Parse, SyntaxError};
use super::lexical::{Name, mark, name};
use crate::error::ParseErrorKind;
use crate::{FieldSet, Kind, Schema};

/// Parses items between brackets, with commas between them; `item` parses each.
fn sequence<'a>(
    input: &'a str,
    (open, open_label): (char, &'static str),
    (close, close_label): (char, &'static str),
    mut item: impl FnMut(&'a str) -> Parse<'a, ()>,
) -> Parse<'a, ()> {
    let Some(input) = input.strip_prefix(open) else {
        return Err(SyntaxError::expected(input, open_label));
    };
    let (mut input, _) = space0(input)?;
    if let Some(rest) = input.strip_prefix(close) {
        return Ok((rest, ()));
    }
    loop {
        let (rest, ()) = item(input)?;
        let (rest, _) = space0(rest)?;
        if let Some(rest) = rest.strip_prefix(close) {
            return Ok((rest, ()));
        }
        (input, _) = mark(rest, ',', close_label)?;
    }
}

/// Parses an object in braces. `entry` gets each key and parses the value.
pub(super) fn object<'a>(
    input: &'a str,
    mut entry: impl FnMut(&Name<'a>, &'a str) -> Parse<'a, ()>,
) -> Parse<'a, ()> {
    sequence(input, ('{', "`{`"), ('}', "`,` or `}`"), |input| {
        let (input, key) = name(input, "a key, such as origin")?;
        let (input, ()) = mark(input, ':', "`:` after the key")?;
        entry(&key, input)
    })
}

/// Parses a list of at least one field in brackets. `takes` are the fields that `kind` takes.
pub(super) fn fields<'a>(
    input: &'a str,
    kind: Kind,
    takes: FieldSet,
    schema: &Schema,
) -> Parse<'a, FieldSet> {
    let narrowed = takes != kind.allowed_fields();
    let mut fields = FieldSet::EMPTY;
    let (rest, ()) = sequence(input, ('[', "`[`"), (']', "`,` or `]`"), |input| {
        if input.starts_with(['[', '{']) {
            return Err(SyntaxError::at(input, ParseErrorKind::TooDeep));
        }
        let (rest, name) = name(input, "the name of a field, such as \"city\"")?;
        let field = match schema.field(&name.text) {
            Some(field) if narrowed && !takes.contains(field) => {
                return Err(name.error(ParseErrorKind::UndeclaredField { field, kind, takes }));
            }
            Some(field) if !takes.contains(field) => {
                return Err(name.error(ParseErrorKind::FieldNotOfKind { field, kind }));
            }
            Some(field) if fields.contains(field) => {
                return Err(name.error(ParseErrorKind::DuplicateField(field)));
            }
            Some(field) => field,
            None => {
                return Err(name.error(ParseErrorKind::UnknownField { name: name.excerpt(), kind, takes }));
            }
        };
        fields = fields.with(field);
        Ok((rest, ()))
    })?;
    if fields.is_empty() {
        return Err(SyntaxError::between(input, rest, ParseErrorKind::NoFields));
    }
    Ok((rest, fields))
}
