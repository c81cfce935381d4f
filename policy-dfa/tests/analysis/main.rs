//! Differences, explanations, prospects and warnings, compared with slow evaluations of the automaton.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod diffs;
mod explanations;
mod pictures;
mod policies;
mod prospects;
mod warnings;
