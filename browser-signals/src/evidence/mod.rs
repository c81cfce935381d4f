//! Evidence: what a bridge has seen.

pub mod fact;
pub mod id;
pub mod snapshot;
