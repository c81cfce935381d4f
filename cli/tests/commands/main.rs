//! The commands of `portcullis`: their output, their errors, and their exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod arguments;
mod audit;
mod classify;
mod doctor;
mod hmm;
mod manual;
mod policy;
mod scrub;
mod sirl;
mod suggest;
#[cfg(unix)]
mod vault;
