//! Portcullis in front of an agent that is built with [rig](https://docs.rs/rig-agent).
//!
//! Three things stand around rig's agent, and each is of use alone:
//!
//! | module | subject |
//! |---|---|
//! | [`browser`] | the guarded browser as a tool: every verb and request is decided by a [`Session`](portcullis::Session) |
//! | [`hook`] | a hook that refuses tools nobody allowed, scrubs what the others bring, and chooses the gated model |
//! | [`model`] | a model whose words are shown clause by clause, once they passed |
//!
//! The agent's process is the guard's here: that is the second row of the table in `SECURITY.md`, and what holds is that
//! the *model* gets no value. Code that the program loads is trusted.

pub mod browser;
pub mod hook;
pub mod model;

pub use browser::{BrowserTool, GuardedBrowser};
pub use hook::Gatekeeper;
pub use model::{GATED, GatedModel};
