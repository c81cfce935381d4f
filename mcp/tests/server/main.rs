//! The server as an MCP client uses it, with real browsers behind it.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

#[path = "../support/mod.rs"]
mod support;

mod anew;
mod by_hand;
mod gateway;
mod judged;
mod kept;
mod leaks;
mod limits;
mod protocol;
mod side_by_side;
