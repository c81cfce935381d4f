//! What is installed on this machine that a guarded browser needs: found, never installed, and nothing of it started
//! but to ask for its version.
//!
//! | module | subject |
//! |---|---|
//! | `program` | programs on PATH, and what they say of themselves |
//! | [`chromium()`] | Chromium, on PATH and in Playwright's own folder, and whether its sandbox can be used |
//! | [`node`] | whether a Node is new enough |
//! | [`npm_package`] | packages that npm put somewhere |
//! | [`playwright`] | whether a `playwright-core` is the one that the bridge speaks to |

mod chromium;
pub mod node;
mod npm;
pub mod playwright;
mod program;

pub use chromium::{chromium, chromium_sandbox};
pub use npm::{global_npm_package, npm_package, package_of};
pub use program::{Program, answer, certutil, is_program, major, on_path, variable};
