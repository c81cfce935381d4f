//! A request, and the block of requests that is decided and consented to together.

use crate::{Claim, FieldSet, Kind};

/// One `REQ.<kind>` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What is asked for.
    pub kind: Kind,
    /// The fields asked for; empty means the fields that the kind has by default.
    pub fields: FieldSet,
    /// What the model says it sees.
    pub claim: Claim,
}

/// One or more requests closed by `REQ.end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The requests, in the order written; never empty.
    pub requests: Vec<Request>,
}

impl Request {
    /// The fields that the request asks for: those named, or those of the kind if none is named.
    ///
    /// ```
    /// use sirl::{Claim, Field, FieldSet, Kind, Request};
    ///
    /// let request = Request { kind: Kind::Otp, fields: FieldSet::EMPTY, claim: Claim::default() };
    /// assert!(request.effective_fields().contains(Field::OneTimeCode));
    /// ```
    #[must_use]
    pub const fn effective_fields(&self) -> FieldSet {
        if self.fields.is_empty() { self.kind.default_fields() } else { self.fields }
    }
}
