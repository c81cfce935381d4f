//! One line of a block.

use super::claim::claim;
use super::fault::{Fault, Parse};
use super::lexical::{after_blank, end_of_line, word};
use super::sequence::fields;
use crate::error::{Excerpt, ParseErrorKind};
use crate::limits::MAX_LINE_BYTES;
use crate::{Claim, FieldSet, Kind, Request};

/// How a request line begins.
pub(super) const LEAD: &str = "REQ.";

/// More than the canonical form of a line can be longer than the line: quotes around bare names, long names
/// for aliases, all decimals of an amount.
const GROWTH: usize = 256;

/// A line of a block that is not empty.
pub(super) enum Line {
    /// A request.
    Request(Request),
    /// `REQ.end`.
    End,
}

/// Reads `line`, which has no line ending.
pub(super) fn line(line: &str) -> Parse<'_, Line> {
    let Some(input) = line.strip_prefix(LEAD) else {
        return Err(Fault::between(line, "", ParseErrorKind::Expected("`REQ.<kind>` or `REQ.end`")));
    };
    let (rest, name) = word(input)?;
    if name == "end" {
        let (rest, ()) = end_of_line(rest, "nothing more after `REQ.end`")?;
        return Ok((rest, Line::End));
    }
    let (rest, kind) = kind(input)?;
    let mut what = "a blank and `fields=[...]` or `ctx={...}`, or the end of the line";
    let (rest, fields) = match after_blank(rest, "fields=") {
        Some(list) => {
            what = "a blank and `ctx={...}`, or the end of the line";
            fields(list, kind)?
        }
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
    if line.len() + GROWTH > MAX_LINE_BYTES && request.to_string().len() > MAX_LINE_BYTES {
        return Err(Fault::between(line, "", ParseErrorKind::LineTooLong));
    }
    Ok((rest, Line::Request(request)))
}

/// The word after the dot.
pub(super) fn kind(input: &str) -> Parse<'_, Kind> {
    let (rest, name) = word(input)?;
    if name.is_empty() {
        return Err(Fault::expected(input, "a kind after the dot, such as address"));
    }
    match Kind::from_name(name) {
        Some(kind) => Ok((rest, kind)),
        None => Err(Fault::between(input, rest, ParseErrorKind::UnknownKind(Excerpt::new(name, false)))),
    }
}
