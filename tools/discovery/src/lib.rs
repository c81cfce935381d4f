//! Finds the installed programs that a guarded browser needs. It installs none, and starts them only to read their
//! versions.
//!
//! | module | subject |
//! |---|---|
//! | `program` | programs on PATH, and their versions |
//! | [`chromium()`] | Chromium, on PATH and in Playwright's own folder, and whether its sandbox can be used |
//! | [`node`] | the check of Node's version |
//! | [`playwright`] | the version of `playwright-core` that the bridge needs |

mod chromium;
pub mod node;
pub mod playwright;
mod program;

pub use chromium::{chromium, chromium_from, chromium_sandbox, chromium_to_start};
pub use program::{Program, answer, certutil, is_program, major, on_path, own_path, variable};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
