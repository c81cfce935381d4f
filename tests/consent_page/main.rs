//! The consent page: what a person sees and says, and who else gets nothing from it.
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
