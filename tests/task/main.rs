//! The task on its way in, and values that are taken out of texts.
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
