//! The n-gram model: its formula, its tokens, its bytes, its topics.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

mod bytes;
mod formula;
mod tokenizer;
mod topics;
