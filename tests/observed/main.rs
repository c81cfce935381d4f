//! The browser's traffic, observed from outside: every look-up, datagram and connection of a page that attacks in every
//! kind of frame and worker, in a network namespace of its own. See `spec/attacks.md`.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod attacks;
mod claims;
mod control;
mod guarded;
mod launches;
mod network;
mod pages;
mod plain;
mod site;

use network::{in_the_network, soon};
