//! Portcullis in front of an agent that is built with [rig](https://docs.rs/rig-agent).
//!
//! The crate has three parts around rig's agent, and each is useful alone:
//!
//! | module | subject |
//! |---|---|
//! | [`browser`] | the guarded browser as a tool: every verb and request is decided by a [`Session`](portcullis::Session) |
//! | [`hook`] | a hook that refuses unlisted tools, scrubs the results of the others, and selects the gated model |
//! | [`model`] | a model whose output is shown clause by clause, after each clause has passed |
//!
//! The agent runs in the guard's process: that is the second row of the table in `SECURITY.md`. The guarantee is that
//! the *model* gets no value; code that the program loads is trusted.

pub mod browser;
pub mod hook;
pub mod model;

pub use browser::{BrowserTool, GuardedBrowser};
pub use hook::Gatekeeper;
pub use model::{GATED, GatedModel};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
