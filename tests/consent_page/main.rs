//! The consent page: its text and answers for a person, and that no other page or program gets anything from it.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

#[path = "../consent_page_support/chromium.rs"]
mod chromium;
#[path = "../consent_page_support/mod.rs"]
mod consent_page_support;

mod attack;
mod listener;
mod page;
