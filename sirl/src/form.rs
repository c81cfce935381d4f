//! The two forms of a block: requests and a plan.

use crate::Kind;
use crate::error::ParseErrorKind;

/// The form of a block. The forms differ in the first word of their lines, the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockForm {
    /// Requests that are to be decided, with the prefix `REQ.`.
    Requests,
    /// Requests that are only announced, with the prefix `PLAN.`.
    Plan,
}

impl BlockForm {
    /// The prefix of each line.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            BlockForm::Requests => "REQ.",
            BlockForm::Plan => "PLAN.",
        }
    }

    /// The last line.
    pub(crate) const fn end_line(self) -> &'static str {
        match self {
            BlockForm::Requests => "REQ.end",
            BlockForm::Plan => "PLAN.end",
        }
    }

    /// The error of a line that is neither a request nor the last one.
    pub(crate) const fn line_error(self) -> ParseErrorKind {
        ParseErrorKind::Expected(match self {
            BlockForm::Requests => "`REQ.<kind>` or `REQ.end`",
            BlockForm::Plan => "`PLAN.<kind>` or `PLAN.end`",
        })
    }

    /// The expected text after the kind of a request.
    pub(crate) const fn after_kind(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (BlockForm::Requests, Kind::Purchase) => {
                "a blank and `items={...}` or `ctx={...}`, or the end of the line"
            }
            (BlockForm::Requests, _) => {
                "a blank and `fields=[...]`, `at={...}` or `ctx={...}`, or the end of the line"
            }
            (BlockForm::Plan, _) => "a blank and `fields=[...]` or `ctx={...}`, or the end of the line",
        }
    }

    /// The expected text after the fields of a request.
    pub(crate) const fn after_fields(self) -> &'static str {
        match self {
            BlockForm::Requests => "a blank and `at={...}` or `ctx={...}`, or the end of the line",
            BlockForm::Plan => "a blank and `ctx={...}`, or the end of the line",
        }
    }

    /// The expected text after the `ctx` of a request.
    pub(crate) const fn after_ctx(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (BlockForm::Requests, Kind::Purchase) => {
                "the end of the line; `items` comes before `ctx`, and each once"
            }
            (BlockForm::Requests, _) => {
                "the end of the line; `fields` comes first, then `at`, then `ctx`, each once"
            }
            (BlockForm::Plan, _) => "the end of the line; `fields` comes before `ctx`, and each once",
        }
    }

    /// The expected text after the last word of the last line.
    pub(crate) const fn end_label(self) -> &'static str {
        match self {
            BlockForm::Requests => "nothing more after `REQ.end`",
            BlockForm::Plan => "nothing more after `PLAN.end`",
        }
    }

    /// The error of a block without a request.
    pub(crate) const fn empty_error(self) -> ParseErrorKind {
        match self {
            BlockForm::Requests => ParseErrorKind::EmptyBlock,
            BlockForm::Plan => ParseErrorKind::EmptyPlan,
        }
    }

    /// The error of a text that ends before the last line of the block.
    pub(crate) const fn open_error(self) -> ParseErrorKind {
        match self {
            BlockForm::Requests => ParseErrorKind::MissingEnd,
            BlockForm::Plan => ParseErrorKind::MissingPlanEnd,
        }
    }

    /// The error of text after the block.
    pub(crate) const fn trailing_error(self) -> ParseErrorKind {
        match self {
            BlockForm::Requests => ParseErrorKind::TrailingText,
            BlockForm::Plan => ParseErrorKind::TextAfterPlan,
        }
    }
}
