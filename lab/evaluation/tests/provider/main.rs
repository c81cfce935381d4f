//! Card fields in the frames of a payment provider, in a real browser: a provider of ours in three shapes, and pages that try to
//! get the card. Each attack succeeds without the guard, by the same pages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics fails")]

mod attacks;
mod hosted;
mod pages;
mod runs;
mod shapes;
mod stage;
#[path = "../support/tls_sites.rs"]
mod tls_sites;
