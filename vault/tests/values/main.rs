//! Values in an open vault: adding them, choosing and releasing them, and finding them in texts.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail")]

#[path = "../common/mod.rs"]
mod common;

mod codes;
mod logins;
mod made;
mod messages;
mod order;
mod outgoing;
mod parts;
mod release;
mod sources;
mod store;
mod supply;
mod task_values;
mod traits;
mod wire;
