//! The audit log: its content, its state after a power cut, and the detection of changes.
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
