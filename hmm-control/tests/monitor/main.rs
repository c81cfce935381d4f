//! The monitor of conversations, and the prior of a person.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

mod conversations;
mod monitor;
mod prior;
