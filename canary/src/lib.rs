//! Searches for values that must not be there.
//!
//! Tests plant values that occur nowhere else, canaries, and search every output for them: logs, traces,
//! errors, files, the DOM, memory images. This crate is for tests and for experiments that count leaks; no
//! program that guards anything depends on it.
//!
//! | module | subject |
//! |---|---|
//! | [`text`] | a value in a text, in any encoding |

pub mod text;

pub use text::{Encoding, find};
