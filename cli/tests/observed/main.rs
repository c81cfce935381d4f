//! `portcullis mcp`, the shipped program, observed from outside: a page that was given an address attacks from every
//! kind of frame and worker, and every packet is counted. The pages, the servers and the plain Chromium are those of
//! the library's own test (`tests/observed`).

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

#[path = "../../../tests/observed/attacks.rs"]
mod attacks;
#[path = "../../../tests/observed/control.rs"]
mod control;
#[path = "../../../tests/observed/network.rs"]
mod network;
#[path = "../../../tests/observed/plain.rs"]
mod plain;
mod shipped;
#[path = "../../../tests/observed/site.rs"]
mod site;
#[path = "../support/mod.rs"]
mod support;

use network::{in_the_network, soon};
