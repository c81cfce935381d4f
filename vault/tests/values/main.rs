//! Values in an open vault: how they come in, who gets them, and what is said of them.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail")]

#[path = "../common/mod.rs"]
mod common;

mod doors;
mod messages;
mod outgoing;
mod parts;
mod store;
mod supply;
mod task_values;
mod traits;
mod wire;
