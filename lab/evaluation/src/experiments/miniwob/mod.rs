//! Tasks of a third-party benchmark: some of MiniWoB++ (the PyPI package `miniwob`, MIT), with the guard and without.
//!
//! The package is not part of this repository. Fetch it as follows:
//!
//! ```text
//! pip download miniwob==1.1.0 --no-deps -d target/miniwob
//! unzip -q target/miniwob/miniwob-1.1.0-py3-none-any.whl -d target/miniwob
//! cargo xtask evaluate --miniwob target/miniwob --seeds 5
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`site`] | the package's pages, served over TLS, and the rewards that they report |
//! | [`solver`] | a scripted agent that understands the tasks' sentences |
//! | [`trials`] | each task in the bare browser and under approach B |
//! | [`findings`] | the file, the table and the report's section |

pub mod findings;
pub mod site;
pub mod solver;
pub mod trials;

/// The tasks, by the names of their pages: those that need only plain verbs and are fully described by their sentence.
pub const TASKS: [&str; 13] = [
    "click-button",
    "click-checkboxes",
    "click-dialog",
    "click-dialog-2",
    "click-link",
    "click-option",
    "click-tab",
    "click-test",
    "click-test-2",
    "choose-list",
    "enter-password",
    "enter-text",
    "login-user",
];
