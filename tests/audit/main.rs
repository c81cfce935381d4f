//! The audit log: what it holds, what a power cut leaves of it, and what shows that it was changed.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

#[path = "../storage_support/mod.rs"]
mod storage_support;

mod crash;
mod format;
mod kill;
mod support;
mod tamper;
