//! The parser of a schema.

use std::borrow::Cow;

use nom::bytes::complete::take_while;
use nom::error::{ErrorKind, ParseError as NomError};
use nom::{Err, IResult, Parser};

use super::suggest::nearest;
use super::{Alias, Schema, SchemaError, SchemaErrorKind};
use crate::error::Excerpt;
use crate::limits::{MAX_ALIAS_BYTES, MAX_ALIASES, MAX_SCHEMA_BYTES, is_forbidden};
use crate::{Field, FieldSet, Kind};

type Parse<'a, T> = IResult<&'a str, T, SyntaxError>;

/// An error and its place, which is counted in bytes that are left of the text.
struct SyntaxError {
    start_left: usize,
    end_left: usize,
    kind: SchemaErrorKind,
}

impl SyntaxError {
    fn between(start: &str, end: &str, kind: SchemaErrorKind) -> Err<SyntaxError> {
        Err::Failure(SyntaxError { start_left: start.len(), end_left: end.len(), kind })
    }

    /// Makes an error at the first character of `input`, or at the end of the text.
    fn expected(input: &str, what: &'static str) -> Err<SyntaxError> {
        let mut rest = input.chars();
        rest.next();
        SyntaxError::between(input, rest.as_str(), SchemaErrorKind::Expected(what))
    }
}

impl NomError<&str> for SyntaxError {
    fn from_error_kind(input: &str, _: ErrorKind) -> SyntaxError {
        let kind = SchemaErrorKind::Expected("other text");
        SyntaxError { start_left: input.len(), end_left: input.len(), kind }
    }

    fn append(_: &str, _: ErrorKind, other: SyntaxError) -> SyntaxError {
        other
    }
}

/// A word and its place.
#[derive(Clone, Copy)]
struct LocatedWord<'a> {
    text: &'a str,
    start: &'a str,
    end: &'a str,
}

impl LocatedWord<'_> {
    fn error(&self, kind: SchemaErrorKind) -> Err<SyntaxError> {
        SyntaxError::between(self.start, self.end, kind)
    }

    fn excerpt(&self) -> Excerpt {
        Excerpt::new(self.text, false)
    }
}

impl Schema {
    /// Parses the text form, which `spec/sirl.md` describes.
    ///
    /// # Errors
    /// The first place where the text leaves the form, names something that does not exist or contradicts itself;
    /// an alias that no kind can use; a text that declares no kind.
    pub fn parse(text: &str) -> Result<Schema, SchemaError> {
        if text.len() > MAX_SCHEMA_BYTES {
            return Err(SchemaError::new(text, text.len()..text.len(), SchemaErrorKind::TooLong));
        }
        schema(text).map(|(_, schema)| schema).map_err(|error| {
            let error = match error {
                Err::Error(error) | Err::Failure(error) => error,
                Err::Incomplete(_) => NomError::from_error_kind("", ErrorKind::Eof),
            };
            let place = |left: usize| text.len().saturating_sub(left);
            SchemaError::new(text, place(error.start_left)..place(error.end_left), error.kind)
        })
    }
}

fn schema(text: &str) -> Parse<'_, Schema> {
    let mut takes = [None; Kind::ALL.len()];
    let mut aliases: Vec<(LocatedWord<'_>, Field)> = Vec::new();
    let (mut input, ()) = space(text)?;
    while !input.is_empty() {
        let (rest, first) = word(input, "`kind` or `alias`")?;
        input = match first.text {
            "kind" => kind(rest, &mut takes)?.0,
            "alias" => {
                let (end, (name, field)) = alias(rest)?;
                if aliases.iter().any(|(other, _)| other.text == name.text) {
                    return Err(name.error(SchemaErrorKind::DuplicateAlias));
                }
                if aliases.len() == MAX_ALIASES {
                    return Err(name.error(SchemaErrorKind::TooManyAliases));
                }
                aliases.push((name, field));
                end
            }
            text => {
                let near = nearest(text, ["kind", "alias"].into_iter());
                return Err(first.error(SchemaErrorKind::UnknownWord { name: first.excerpt(), near }));
            }
        };
    }
    if takes.iter().all(Option::is_none) {
        return Err(SyntaxError::between(input, input, SchemaErrorKind::NoKinds));
    }
    if let Some((name, field)) =
        aliases.iter().find(|(_, field)| !takes.iter().flatten().any(|takes| takes.contains(*field)))
    {
        return Err(name.error(SchemaErrorKind::IdleAlias(*field)));
    }
    aliases.sort_by_key(|(name, field)| (*field, name.text));
    let owned =
        |(name, field): (LocatedWord<'_>, Field)| Alias { name: Cow::Owned(name.text.to_owned()), field };
    let aliases = Cow::Owned(aliases.into_iter().map(owned).collect());
    Ok((input, Schema { takes, aliases }))
}

/// Parses the declaration of a kind.
fn kind<'a>(input: &'a str, takes: &mut [Option<FieldSet>; Kind::ALL.len()]) -> Parse<'a, ()> {
    let (rest, name) = word(input, "a kind, such as address")?;
    let Some(kind) = Kind::from_name(name.text) else {
        let near = nearest(name.text, Kind::ALL.into_iter().map(Kind::as_str));
        return Err(name.error(SchemaErrorKind::UnknownKind { name: name.excerpt(), near }));
    };
    let (rest, fields) = match rest.strip_prefix('{') {
        Some(list) => fields(list, kind)?,
        None => (rest, FieldSet::EMPTY),
    };
    if fields.is_empty() && !kind.allowed_fields().is_empty() {
        return Err(name.error(SchemaErrorKind::NoFields(kind)));
    }
    if let Some(slot) = takes.get_mut(kind as usize)
        && slot.replace(fields).is_some()
    {
        return Err(name.error(SchemaErrorKind::DuplicateKind(kind)));
    }
    Ok((rest, ()))
}

/// Parses fields and the closing brace.
fn fields(input: &str, kind: Kind) -> Parse<'_, FieldSet> {
    let (mut input, ()) = space(input)?;
    let mut fields = FieldSet::EMPTY;
    loop {
        if let Some(rest) = input.strip_prefix('}') {
            return space(rest).map(|(rest, ())| (rest, fields));
        }
        let (rest, name) = word(input, "a field or `}`")?;
        let field = own_name(&name)?;
        if !kind.allowed_fields().contains(field) {
            return Err(name.error(SchemaErrorKind::FieldNotOfKind { field, kind }));
        }
        if fields.contains(field) {
            return Err(name.error(SchemaErrorKind::DuplicateField(field)));
        }
        (input, fields) = (rest, fields.with(field));
    }
}

/// Parses the declaration of an alias.
fn alias(input: &str) -> Parse<'_, (LocatedWord<'_>, Field)> {
    let (rest, name) = word(input, "an alias, such as zip")?;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    let good = name.text.starts_with(|c: char| c.is_ascii_lowercase()) && name.text.bytes().all(plain);
    if !good || name.text.len() > MAX_ALIAS_BYTES {
        return Err(name.error(SchemaErrorKind::BadAlias));
    }
    let (rest, link) = word(rest, "`for` and a field")?;
    if link.text != "for" {
        return Err(link.error(SchemaErrorKind::Expected("`for` and a field")));
    }
    let (rest, target) = word(rest, "a field, such as postal_code")?;
    let field = own_name(&target)?;
    match Field::from_name(name.text) {
        Some(known) if known.as_str() == name.text => Err(name.error(SchemaErrorKind::AliasIsField(known))),
        Some(known) if known != field => Err(name.error(SchemaErrorKind::AliasIsTaken(known))),
        _ => Ok((rest, (name, field))),
    }
}

/// Finds the field with this name, which must not be an alias.
fn own_name(word: &LocatedWord<'_>) -> Result<Field, Err<SyntaxError>> {
    match Field::from_name(word.text) {
        Some(field) if field.as_str() == word.text => Ok(field),
        field => {
            let near = field.map(Field::as_str);
            let near = near.or_else(|| nearest(word.text, Field::ALL.into_iter().map(Field::as_str)));
            Err(word.error(SchemaErrorKind::UnknownField { name: word.excerpt(), near }))
        }
    }
}

/// Parses a word and the space after it; `what` names the expected text.
fn word<'a>(input: &'a str, what: &'static str) -> Parse<'a, LocatedWord<'a>> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let (end, text) = take_while(part).parse(input)?;
    if text.is_empty() {
        return Err(SyntaxError::expected(input, what));
    }
    space(end).map(|(rest, ())| (rest, LocatedWord { text, start: input, end }))
}

/// Parses blanks, line ends and comments.
fn space(input: &str) -> Parse<'_, ()> {
    let (mut input, _) = take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).parse(input)?;
    while let Some(comment) = input.strip_prefix('#') {
        let (rest, _) = take_while(|c| matches!(c, '\t' | '\r') || !is_forbidden(c)).parse(comment)?;
        if let Some(c) = rest.chars().next().filter(|c| *c != '\n') {
            let end = rest.get(c.len_utf8()..).unwrap_or("");
            return Err(SyntaxError::between(rest, end, SchemaErrorKind::ForbiddenCharacter));
        }
        (input, _) = take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).parse(rest)?;
    }
    Ok((input, ()))
}
