//! The n-gram model, the transformer models and the published vocabularies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod every_model;
mod ngram;
mod transformer;
