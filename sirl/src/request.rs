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
