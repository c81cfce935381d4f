//! A block, line by line.

use super::fault::Misfit;
use super::form::Form;
use super::line::{Line, line};
use crate::error::ParseErrorKind;
use crate::limits::{MAX_LINE_BYTES, MAX_REQUESTS};
use crate::{Claim, Request, Schema};

/// A block of which some lines have been read.
pub(crate) struct Reader {
    form: Form,
    requests: Vec<Request>,
}

impl Reader {
    pub(crate) const fn new(form: Form) -> Reader {
        Reader { form, requests: Vec::new() }
    }

    /// Reads one more line, which has no line ending. Returns the requests once the line is the last of the
    /// block; after that, and after an error, the reader is spent.
    pub(crate) fn take(&mut self, schema: &Schema, text: &str) -> Result<Option<Vec<Request>>, Misfit> {
        if let Some(misfit) = too_long(text.as_bytes()) {
            return Err(misfit);
        }
        if is_empty(text) {
            return Ok(None);
        }
        let misfit = |kind| Err(Misfit { span: 0..text.len(), kind });
        match line(text, self.form, schema) {
            Ok((_, Line::End)) if self.requests.is_empty() => misfit(self.form.is_empty()),
            Ok((_, Line::End)) => Ok(Some(std::mem::take(&mut self.requests))),
            Ok((_, Line::Request(_))) if self.requests.len() == MAX_REQUESTS => {
                misfit(ParseErrorKind::TooManyRequests)
            }
            Ok((_, Line::Request(request))) => {
                self.requests.push(request);
                Ok(None)
            }
            Err(error) => Err(Misfit::of(error, text.len())),
        }
    }

    /// Reads one more line of bytes that may not be text.
    pub(crate) fn take_bytes(
        &mut self,
        schema: &Schema,
        line: &[u8],
    ) -> Result<Option<Vec<Request>>, Misfit> {
        if let Some(misfit) = too_long(line) {
            return Err(misfit);
        }
        match std::str::from_utf8(line) {
            Ok(text) => self.take(schema, text),
            Err(error) => {
                let start = error.valid_up_to();
                let end = error.error_len().map_or(line.len(), |len| start + len);
                Err(Misfit { span: start..end, kind: ParseErrorKind::NotUtf8 })
            }
        }
    }

    /// What is wrong where the text ends at the end of the line with this many bytes.
    pub(crate) fn at_end(&self, line: usize) -> Misfit {
        let kind = if self.requests.is_empty() { self.form.is_empty() } else { self.form.is_open() };
        Misfit { span: line..line, kind }
    }

    /// How many bytes the requests read so far take, with what their lists and strings have set aside.
    pub(crate) fn held_bytes(&self) -> usize {
        let strings = |request: &Request| {
            let Claim { origin, top_origin, origin_request, sink, purpose, control, .. } = &request.claim;
            let texts = [origin, top_origin, origin_request, sink, purpose, control];
            texts.into_iter().flatten().map(String::capacity).sum::<usize>()
        };
        self.requests.capacity() * size_of::<Request>() + self.requests.iter().map(strings).sum::<usize>()
    }

    pub(crate) const fn form(&self) -> Form {
        self.form
    }
}

/// The bytes of a line, past the limit, that tell where a character ends there.
pub(crate) const LOOK_AHEAD: usize = 4;

/// Blames a line that is longer than a line may be: as far as its first character past the limit, so that the
/// rest of the line need not have arrived.
fn too_long(line: &[u8]) -> Option<Misfit> {
    let past = line.get(MAX_LINE_BYTES..).filter(|past| !past.is_empty())?;
    let more = past.iter().skip(1).take(LOOK_AHEAD - 1).take_while(|byte| **byte & 0xc0 == 0x80).count();
    Some(Misfit { span: 0..MAX_LINE_BYTES + 1 + more, kind: ParseErrorKind::LineTooLong })
}

pub(super) fn is_empty(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ' || byte == b'\t')
}
