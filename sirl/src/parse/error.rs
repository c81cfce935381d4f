//! Errors of the parsers of parts of a line.

use nom::error::{ErrorKind, ParseError as NomError};
use nom::{Err, IResult};

use crate::error::{LineError, ParseErrorKind};

/// The result of a parser of a part of a line.
pub(super) type Parse<'a, T> = IResult<&'a str, T, SyntaxError>;

/// An error and its place, which is counted in bytes that are left of the line, because a parser does not know
/// more of its input.
#[derive(Debug)]
pub(super) struct SyntaxError {
    start_left: usize,
    end_left: usize,
    kind: ParseErrorKind,
}

impl SyntaxError {
    /// Makes an error from the start of `start` to the start of `end`.
    pub(super) fn between(start: &str, end: &str, kind: ParseErrorKind) -> Err<SyntaxError> {
        Err::Failure(SyntaxError { start_left: start.len(), end_left: end.len(), kind })
    }

    /// Makes an error at the first character of `input`, or at the end of the line.
    pub(super) fn at(input: &str, kind: ParseErrorKind) -> Err<SyntaxError> {
        let mut rest = input.chars();
        rest.next();
        SyntaxError::between(input, rest.as_str(), kind)
    }

    /// Makes an error that expects `what` at `input`.
    pub(super) fn expected(input: &str, what: &'static str) -> Err<SyntaxError> {
        SyntaxError::at(input, ParseErrorKind::Expected(what))
    }
}

/// Turns the error of a parser into one with its place in a line of this many bytes.
pub(super) fn line_error(error: Err<SyntaxError>, line: usize) -> LineError {
    let error = match error {
        Err::Error(error) | Err::Failure(error) => error,
        Err::Incomplete(_) => SyntaxError { start_left: 0, end_left: 0, kind: ParseErrorKind::MissingEnd },
    };
    let place = |left: usize| line.saturating_sub(left);
    LineError { span: place(error.start_left)..place(error.end_left), kind: error.kind }
}

impl NomError<&str> for SyntaxError {
    fn from_error_kind(input: &str, _: ErrorKind) -> SyntaxError {
        SyntaxError {
            start_left: input.len(),
            end_left: input.len(),
            kind: ParseErrorKind::Expected("other text"),
        }
    }

    fn append(_: &str, _: ErrorKind, other: SyntaxError) -> SyntaxError {
        other
    }
}
