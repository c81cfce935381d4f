//! The commands of `portcullis-lab`: what they print, what they refuse, and their exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod classify;
mod hmm;
