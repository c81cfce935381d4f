//! The server as an MCP client uses it, with real browsers.
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

mod answers;
mod by_http;
mod capabilities;
mod concurrent_calls;
mod downloads;
mod forms;
mod gateway;
mod hand_over;
mod keys;
mod leaks;
mod limits;
mod messages;
mod new_task;
mod protocol;
mod safety;
mod saved_login;
mod tabs;
mod temporary_files;
mod uploads;
