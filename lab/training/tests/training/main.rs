//! Fits and measures models, and the attributes made of them; assembles collections.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics fails")]

mod collections;
mod conformal;
mod fit;
mod metrics;
mod obfuscation;
mod secrets;
mod token_attribute;
