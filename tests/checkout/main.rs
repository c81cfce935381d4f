//! Purchases through the payment handler, with the browser's part played by the tests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

mod browser;
mod crash;
mod flow;
mod journal;
mod listener;
mod support;
