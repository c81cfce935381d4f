//! The session's state machine without a browser: what it asks for, refuses and releases.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

mod played;

mod by_hand;
mod consent;
mod egress;
mod guessing;
mod interference;
mod observing;
mod order;
mod parts;
mod purchase;
mod release;
mod safety;
mod told;
mod verbs;
mod wire;
