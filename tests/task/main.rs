//! Intake of the task, and scrubbing of pages.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod intake;
mod scrub;
mod support;
mod texts;
