//! The request language: grammar, parser, printer, masks, schemas, tool calls and plans.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod errors;
mod golden;
mod grammar;
mod lark;
mod masks;
mod plan;
mod properties;
mod schema;
mod tool_calls;
mod written;
