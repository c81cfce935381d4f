//! Tests of the service, the native host and the extension together, in a real Chromium.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod assisted;
mod benchmark_suite;
mod browser;
mod browser_fetches;
mod consent;
mod consent_attacks;
mod contexts;
mod earlier_pages;
mod egress;
mod extension_worker;
mod files;
mod form_retargeting;
mod hostile_pages;
mod pairing;
mod site;
mod site_workers;
mod stage;
mod unresponsive_page;
mod webrtc;
mod words;
