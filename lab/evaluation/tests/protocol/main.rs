//! Orders by the shop's own protocol, by a guarded agent in a real browser, at a shop of ours that verifies every mandate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod cheats;
#[cfg(unix)]
mod killed;
mod orders;
