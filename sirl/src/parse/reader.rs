//! The parser of a block, line by line.

use super::claim::claim;
use super::error::{Parse, SyntaxError, line_error};
use super::lexical::{after_blank, end_of_line, word};
use super::sequence::{fields, items, pointers};
use crate::error::{Excerpt, LineError, ParseErrorKind};
use crate::form::BlockForm;
use crate::limits::{LOOK_AHEAD, MAX_LINE_BYTES, MAX_REQUESTS};
use crate::{Claim, FieldSet, Items, Kind, Pointers, Request, Schema};

/// A block of which some lines have been parsed.
pub(crate) struct BlockReader {
    form: BlockForm,
    requests: Vec<Request>,
}

impl BlockReader {
    pub(crate) const fn new(form: BlockForm) -> BlockReader {
        BlockReader { form, requests: Vec::new() }
    }

    /// Parses one more line, which has no line ending. Returns the requests if the line is the last of the block;
    /// after that, and after an error, the reader must not be used again.
    pub(crate) fn take(&mut self, schema: &Schema, text: &str) -> Result<Option<Vec<Request>>, LineError> {
        if let Some(error) = too_long(text.as_bytes()) {
            return Err(error);
        }
        if is_empty(text) {
            return Ok(None);
        }
        let fail = |kind| Err(LineError { span: 0..text.len(), kind });
        match line(text, self.form, schema) {
            Ok((_, BlockLine::End)) if self.requests.is_empty() => fail(self.form.empty_error()),
            Ok((_, BlockLine::End)) => Ok(Some(std::mem::take(&mut self.requests))),
            Ok((_, BlockLine::Request(_))) if self.requests.len() == MAX_REQUESTS => {
                fail(ParseErrorKind::TooManyRequests)
            }
            Ok((_, BlockLine::Request(request))) => {
                self.requests.push(*request);
                Ok(None)
            }
            Err(error) => Err(line_error(error, text.len())),
        }
    }

    /// Parses one more line of bytes that may not be UTF-8.
    pub(crate) fn take_bytes(
        &mut self,
        schema: &Schema,
        line: &[u8],
    ) -> Result<Option<Vec<Request>>, LineError> {
        if let Some(error) = too_long(line) {
            return Err(error);
        }
        match std::str::from_utf8(line) {
            Ok(text) => self.take(schema, text),
            Err(error) => {
                let start = error.valid_up_to();
                let end = error.error_len().map_or(line.len(), |len| start + len);
                Err(LineError { span: start..end, kind: ParseErrorKind::NotUtf8 })
            }
        }
    }

    /// The error of a text that ends within the block, after a line of this many bytes.
    pub(crate) fn at_end(&self, line: usize) -> LineError {
        let kind = if self.requests.is_empty() { self.form.empty_error() } else { self.form.open_error() };
        LineError { span: line..line, kind }
    }

    /// The memory of the requests so far, in bytes, with the spare capacity of their lists and strings.
    pub(crate) fn held_bytes(&self) -> usize {
        let strings = |request: &Request| {
            let Claim { origin, top_origin, origin_request, sink, purpose, control, .. } = &request.claim;
            let texts = [origin, top_origin, origin_request, sink, purpose, control];
            let texts = texts.into_iter().flatten().map(String::capacity).sum::<usize>();
            texts + request.at.held_bytes() + request.items.held_bytes()
        };
        self.requests.capacity() * size_of::<Request>() + self.requests.iter().map(strings).sum::<usize>()
    }

    pub(crate) const fn form(&self) -> BlockForm {
        self.form
    }
}

/// The error of a line that is too long. It ends with the first character past the limit, so that the rest of the
/// line need not have arrived.
fn too_long(line: &[u8]) -> Option<LineError> {
    let past = line.get(MAX_LINE_BYTES..).filter(|past| !past.is_empty())?;
    let more = past.iter().skip(1).take(LOOK_AHEAD - 1).take_while(|byte| **byte & 0xc0 == 0x80).count();
    Some(LineError { span: 0..MAX_LINE_BYTES + 1 + more, kind: ParseErrorKind::LineTooLong })
}

pub(super) fn is_empty(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ' || byte == b'\t')
}

/// An upper bound on how much longer the canonical form can be than the line: quotes around bare names, long names
/// for aliases, the fields that a schema allows if none is named, all decimals of an amount, `PLAN`.
const GROWTH: usize = 256;

/// A line of a block that is not empty.
pub(super) enum BlockLine {
    /// A request.
    Request(Box<Request>),
    /// `REQ.end`.
    End,
}

/// Parses `line`, which has no line ending.
pub(super) fn line<'a>(line: &'a str, form: BlockForm, schema: &Schema) -> Parse<'a, BlockLine> {
    let Some(input) = line.strip_prefix(form.prefix()) else {
        return Err(SyntaxError::between(line, "", form.line_error()));
    };
    let (rest, name) = word(input)?;
    if name == "end" {
        let (rest, ()) = end_of_line(rest, form.end_label())?;
        return Ok((rest, BlockLine::End));
    }
    let (rest, (kind, takes)) = kind(input, schema)?;
    let mut what = form.after_kind(kind);
    let (rest, fields) = match after_blank(rest, "fields=") {
        Some(list) => {
            what = form.after_fields();
            fields(list, kind, takes, schema)?
        }
        None if kind.default_fields().is_subset_of(takes) => (rest, FieldSet::EMPTY),
        // The default fields of a kind must not be more than the schema allows.
        None => {
            let within = takes.intersection(kind.default_fields());
            (rest, if within.is_empty() { takes } else { within })
        }
    };
    let (rest, at) = match after_blank(rest, "at=").filter(|_| form == BlockForm::Requests) {
        Some(object) => {
            what = "a blank and `ctx={...}`, or the end of the line";
            pointers(object, kind, takes, schema)?
        }
        None => (rest, Pointers::default()),
    };
    // A request asks for each field that it points at a control for.
    let asked = if fields.is_empty() { kind.default_fields() } else { fields };
    let fields =
        if at.fields().is_subset_of(asked) { fields } else { at.fields().iter().fold(asked, FieldSet::with) };
    let (rest, items) = match after_blank(rest, "items=").filter(|_| form == BlockForm::Requests) {
        Some(object) if kind == Kind::Purchase => {
            what = "a blank and `ctx={...}`, or the end of the line";
            items(object)?
        }
        Some(object) => {
            let start = rest.trim_start_matches([' ', '\t']);
            return Err(SyntaxError::between(start, object, ParseErrorKind::ItemsNotOfKind(kind)));
        }
        None => (rest, Items::default()),
    };
    let (rest, claim) = match after_blank(rest, "ctx=") {
        Some(object) => {
            what = form.after_ctx(kind);
            claim(object)?
        }
        None => (rest, Claim::default()),
    };
    let (rest, ()) = end_of_line(rest, what)?;
    let request = Request { kind, fields, at, items, claim };
    if line.len() + GROWTH > MAX_LINE_BYTES
        && form.prefix().len() + request.tail().to_string().len() > MAX_LINE_BYTES
    {
        return Err(SyntaxError::between(line, "", ParseErrorKind::LineTooLong));
    }
    Ok((rest, BlockLine::Request(Box::new(request))))
}

/// Parses the kind after the dot, and returns the fields that `schema` allows for it.
pub(super) fn kind<'a>(input: &'a str, schema: &Schema) -> Parse<'a, (Kind, FieldSet)> {
    let (rest, name) = word(input)?;
    if name.is_empty() {
        return Err(SyntaxError::expected(input, "a kind after the dot, such as address"));
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
    Err(SyntaxError::between(input, rest, unknown))
}
