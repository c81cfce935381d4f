//! A vault as bytes: written, read, unlocked and exported.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail")]

#[path = "../common/mod.rs"]
mod common;

mod export;
mod keys;
mod round_trip;
