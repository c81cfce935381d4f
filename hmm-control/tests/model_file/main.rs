//! Model files: our own form, published ones, damaged ones, and what reading them costs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

mod damaged;
mod mapped;
mod memory;
mod models;
mod own;
mod prior;
mod published;
