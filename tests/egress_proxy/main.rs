//! The proxy of a container: its clients, its targets, and that no traffic bypasses it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod browser;
mod forwarding;
#[cfg(target_os = "linux")]
mod launches;
mod limits;
mod listener;
mod loopback;
mod narrowing;
#[cfg(all(unix, not(target_os = "macos")))]
mod programs;
mod session;
mod support;
