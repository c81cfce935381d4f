//! One line of a block.

use super::claim::claim;
use super::fault::{Fault, Parse};
use super::form::Form;
use super::lexical::{after_blank, end_of_line, word};
use super::sequence::fields;
use crate::error::{Excerpt, ParseErrorKind};
use crate::limits::MAX_LINE_BYTES;
use crate::{Claim, FieldSet, Kind, Request, Schema};

/// More than the canonical form of a line can be longer than the line: quotes around bare names, long names
/// for aliases, the fields that a schema allows where none is named, all decimals of an amount, `PLAN`.
const GROWTH: usize = 256;

/// A line of a block that is not empty.
pub(super) enum Line {
    /// A request.
    Request(Request),
    /// `REQ.end`.
    End,
}

/// Reads `line`, which has no line ending.
pub(super) fn line<'a>(line: &'a str, form: Form, schema: &Schema) -> Parse<'a, Line> {
    let Some(input) = line.strip_prefix(form.lead()) else {
        return Err(Fault::between(line, "", form.wants_line()));
    };
    let (rest, name) = word(input)?;
    if name == "end" {
        let (rest, ()) = end_of_line(rest, form.wants_end())?;
        return Ok((rest, Line::End));
    }
    let (rest, (kind, takes)) = kind(input, schema)?;
    let mut what = "a blank and `fields=[...]` or `ctx={...}`, or the end of the line";
    let (rest, fields) = match after_blank(rest, "fields=") {
        Some(list) => {
            what = "a blank and `ctx={...}`, or the end of the line";
            fields(list, kind, takes, schema)?
        }
        // What the kind stands for alone must not be more than the schema allows.
        None if takes != kind.default_fields() => (rest, takes),
        None => (rest, FieldSet::EMPTY),
    };
    let (rest, claim) = match after_blank(rest, "ctx=") {
        Some(object) => {
            what = "the end of the line; `fields` comes before `ctx`, and each once";
            claim(object)?
        }
        None => (rest, Claim::default()),
    };
    let (rest, ()) = end_of_line(rest, what)?;
    let request = Request { kind, fields, claim };
    if line.len() + GROWTH > MAX_LINE_BYTES
        && form.lead().len() + request.tail().to_string().len() > MAX_LINE_BYTES
    {
        return Err(Fault::between(line, "", ParseErrorKind::LineTooLong));
    }
    Ok((rest, Line::Request(request)))
}

/// The word after the dot, and the fields that `schema` lets it ask for.
pub(super) fn kind<'a>(input: &'a str, schema: &Schema) -> Parse<'a, (Kind, FieldSet)> {
    let (rest, name) = word(input)?;
    if name.is_empty() {
        return Err(Fault::expected(input, "a kind after the dot, such as address"));
    }
    let kind = Kind::from_name(name);
    if let Some((kind, takes)) = kind.and_then(|kind| Some((kind, schema.takes(kind)?))) {
        return Ok((rest, (kind, takes)));
    }
    let name = Excerpt::new(name, false);
    let declared: Vec<Kind> = schema.kinds().collect();
    let unknown = if declared.len() == Kind::ALL.len() {
        ParseErrorKind::UnknownKind(name)
    } else {
        ParseErrorKind::UndeclaredKind { name, declared }
    };
    Err(Fault::between(input, rest, unknown))
}
