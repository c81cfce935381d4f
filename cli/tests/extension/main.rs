//! The service, the native host and the extension together, in a real Chromium.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod beside;
mod browser;
mod busy;
mod by_itself;
mod consent;
mod contexts;
mod earlier;
mod family;
mod files;
mod hostile;
mod imitated;
mod names;
mod pairing;
mod sending;
mod site;
mod stage;
mod way_out;
mod worker;
mod workers;
