//! Errors while a line is being read.

use std::ops::Range;

use nom::error::{ErrorKind, ParseError as NomError};
use nom::{Err, IResult};

use crate::error::{ParseError, ParseErrorKind};

/// What a parser of a part of a line returns.
pub(super) type Parse<'a, T> = IResult<&'a str, T, Fault>;

/// An error and its place. The place is counted in bytes that are left of the line, because that is what a
/// parser knows of its input.
#[derive(Debug)]
pub(super) struct Fault {
    start_left: usize,
    end_left: usize,
    kind: ParseErrorKind,
}

impl Fault {
    /// Places `kind` from where `start` begins to where `end` begins.
    pub(super) fn between(start: &str, end: &str, kind: ParseErrorKind) -> Err<Fault> {
        Err::Failure(Fault { start_left: start.len(), end_left: end.len(), kind })
    }

    /// Places `kind` at the first character of `input`, or at the end of the line.
    pub(super) fn at(input: &str, kind: ParseErrorKind) -> Err<Fault> {
        let mut rest = input.chars();
        rest.next();
        Fault::between(input, rest.as_str(), kind)
    }

    /// Says that something else was expected at `input`.
    pub(super) fn expected(input: &str, what: &'static str) -> Err<Fault> {
        Fault::at(input, ParseErrorKind::Expected(what))
    }
}

/// An error and its place in its line, in bytes.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) span: Range<usize>,
    pub(crate) kind: ParseErrorKind,
}

impl Misfit {
    /// What a parser returned for a line of this many bytes.
    pub(super) fn of(error: Err<Fault>, line: usize) -> Misfit {
        let fault = match error {
            Err::Error(fault) | Err::Failure(fault) => fault,
            Err::Incomplete(_) => Fault { start_left: 0, end_left: 0, kind: ParseErrorKind::MissingEnd },
        };
        let place = |left: usize| line.saturating_sub(left);
        Misfit { span: place(fault.start_left)..place(fault.end_left), kind: fault.kind }
    }

    /// The error in the text in which the line begins at byte `start`.
    pub(super) fn locate(self, text: &str, start: usize) -> ParseError {
        ParseError::new(text, start + self.span.start..start + self.span.end, self.kind)
    }
}

impl NomError<&str> for Fault {
    fn from_error_kind(input: &str, _: ErrorKind) -> Fault {
        Fault { start_left: input.len(), end_left: input.len(), kind: ParseErrorKind::Expected("other text") }
    }

    fn append(_: &str, _: ErrorKind, other: Fault) -> Fault {
        other
    }
}
