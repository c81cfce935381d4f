//! A vault as bytes: written, read, unlocked, exported, and of an older format.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail")]

#[path = "../common/mod.rs"]
mod common;

mod export;
mod keys;
mod migration;
mod round_trip;
