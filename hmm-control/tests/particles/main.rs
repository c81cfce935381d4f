//! Sequential Monte Carlo over texts, against the enumeration of every text.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod exact;
mod failures;
mod models;
mod properties;
#[path = "../control/support.rs"]
mod support;
