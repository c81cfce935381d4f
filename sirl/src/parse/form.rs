//! The two forms of a block: requests, and a plan.

use crate::error::ParseErrorKind;

/// What a block is: its lines differ in their first word only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `REQ.`: requests that are to be decided.
    Requests,
    /// `PLAN.`: requests that are only announced.
    Plan,
}

impl Form {
    /// How a line begins.
    pub(crate) const fn lead(self) -> &'static str {
        match self {
            Form::Requests => "REQ.",
            Form::Plan => "PLAN.",
        }
    }

    /// The last line.
    pub(crate) const fn end_line(self) -> &'static str {
        match self {
            Form::Requests => "REQ.end",
            Form::Plan => "PLAN.end",
        }
    }

    /// What a line that is neither a request nor the last one should be.
    pub(super) const fn wants_line(self) -> ParseErrorKind {
        ParseErrorKind::Expected(match self {
            Form::Requests => "`REQ.<kind>` or `REQ.end`",
            Form::Plan => "`PLAN.<kind>` or `PLAN.end`",
        })
    }

    /// What should stand after the last word of the last line.
    pub(super) const fn wants_end(self) -> &'static str {
        match self {
            Form::Requests => "nothing more after `REQ.end`",
            Form::Plan => "nothing more after `PLAN.end`",
        }
    }

    /// The block has no request.
    pub(super) const fn is_empty(self) -> ParseErrorKind {
        match self {
            Form::Requests => ParseErrorKind::EmptyBlock,
            Form::Plan => ParseErrorKind::EmptyPlan,
        }
    }

    /// The text ends before the last line of the block.
    pub(crate) const fn is_open(self) -> ParseErrorKind {
        match self {
            Form::Requests => ParseErrorKind::MissingEnd,
            Form::Plan => ParseErrorKind::MissingPlanEnd,
        }
    }

    /// Text follows where nothing should.
    pub(super) const fn has_more(self) -> ParseErrorKind {
        match self {
            Form::Requests => ParseErrorKind::TrailingText,
            Form::Plan => ParseErrorKind::TextAfterPlan,
        }
    }
}
