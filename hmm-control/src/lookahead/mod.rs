//! Exact look-ahead: the expected weight of all continuations of a text, or the probability that it is completed.

mod backward;
mod batch;
mod constraint;
mod exact;
mod targets;

pub use batch::Request;
pub use constraint::{Completion, Constraint};
pub use exact::{Lookahead, Progress};
