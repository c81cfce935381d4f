//! Parsers of lists and objects.

use nom::character::complete::space0;

use super::error::{Parse, SyntaxError};
use super::lexical::{Name, bare_value, mark, name, string_value};
use crate::error::ParseErrorKind;
use crate::items::{is_item_id, quantity};
use crate::{Field, FieldSet, Items, Kind, Pointers, Schema};

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
    let mut fields = FieldSet::EMPTY;
    let (rest, ()) = sequence(input, ('[', "`[`"), (']', "`,` or `]`"), |input| {
        if input.starts_with(['[', '{']) {
            return Err(SyntaxError::at(input, ParseErrorKind::TooDeep));
        }
        let (rest, name) = name(input, "the name of a field, such as \"city\"")?;
        fields = fields.with(new_field(&name, fields, kind, takes, schema)?);
        Ok((rest, ()))
    })?;
    if fields.is_empty() {
        return Err(SyntaxError::between(input, rest, ParseErrorKind::NoFields));
    }
    Ok((rest, fields))
}

/// Parses the object after `at=`: the refs of controls by field.
pub(super) fn pointers<'a>(
    input: &'a str,
    kind: Kind,
    takes: FieldSet,
    schema: &Schema,
) -> Parse<'a, Pointers> {
    let mut at = Pointers::default();
    let (rest, ()) = object(input, |name, input| {
        let field = new_field(name, at.fields(), kind, takes, schema)?;
        let wants = "the ref of a control in quotes, such as \"e12\"";
        let so_far = std::mem::take(&mut at);
        let (rest, pointed) =
            string_value(input, field.as_str(), wants, |control| so_far.with(field, &control))?;
        at = pointed;
        Ok((rest, ()))
    })?;
    if at.is_empty() {
        return Err(SyntaxError::between(input, rest, ParseErrorKind::NoPointers));
    }
    Ok((rest, at))
}

/// Parses the object after `items=`: the quantities by the shop's ids of the items.
pub(super) fn items(input: &str) -> Parse<'_, Items> {
    let mut items = Items::default();
    let (rest, ()) = object(input, |id, input| {
        if !is_item_id(&id.text) {
            return Err(id.error(ParseErrorKind::BadItemId));
        }
        if items.names(&id.text) {
            return Err(id.error(ParseErrorKind::DuplicateItem(id.excerpt())));
        }
        if items.is_full() {
            return Err(id.error(ParseErrorKind::TooManyItems));
        }
        let wants = "the number of pieces of each item: a whole number from 1 to 999, without quotes";
        let so_far = std::mem::take(&mut items);
        let (rest, named) =
            bare_value(input, "items", wants, |pieces| so_far.with(&id.text, quantity(pieces)?))?;
        items = named;
        Ok((rest, ()))
    })?;
    if items.is_empty() {
        return Err(SyntaxError::between(input, rest, ParseErrorKind::NoItems));
    }
    Ok((rest, items))
}

/// The field of this name, which the kind takes and which is not among the `earlier` ones.
fn new_field<'a>(
    name: &Name<'a>,
    earlier: FieldSet,
    kind: Kind,
    takes: FieldSet,
    schema: &Schema,
) -> Result<Field, nom::Err<SyntaxError>> {
    let narrowed = takes != kind.allowed_fields();
    match schema.field(&name.text) {
        Some(field) if narrowed && !takes.contains(field) => {
            Err(name.error(ParseErrorKind::UndeclaredField { field, kind, takes }))
        }
        Some(field) if !takes.contains(field) => {
            Err(name.error(ParseErrorKind::FieldNotOfKind { field, kind }))
        }
        Some(field) if earlier.contains(field) => Err(name.error(ParseErrorKind::DuplicateField(field))),
        Some(field) => Ok(field),
        None => Err(name.error(ParseErrorKind::UnknownField { name: name.excerpt(), kind, takes })),
    }
}
