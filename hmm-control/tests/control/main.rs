//! Look-ahead, control of logits, and the decode loop with its gates.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

mod attacks;
mod batch;
mod controller;
mod enumeration;
mod gates;
mod generate;
mod grammar_masks;
mod quality;
mod rollout;
mod sampler;
mod support;
