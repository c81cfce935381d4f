//! Tasks of a third-party benchmark: MiniWoB++ (the PyPI package `miniwob`, MIT), with the guard and without.
//!
//! The package is not part of this repository. Fetch it as follows:
//!
//! ```text
//! pip download miniwob==1.1.0 --no-deps -d target/miniwob
//! unzip -q target/miniwob/miniwob-1.1.0-py3-none-any.whl -d target/miniwob
//! cargo xtask evaluate --miniwob target/miniwob --seeds 5
//! ```
//!
//! `--tasks NAME,NAME` runs some of the tasks, and `--transcripts FOLDER` keeps what the agent did and was told in each episode.
//!
//! The comparison is paired: both approaches get the same page, drawn from the same seed, the same sentence and the same solver. What
//! the solver sees differs, as it does for any agent: without a guard it reads the outline of Playwright, under the guard the guard's
//! text of the page. Each names some elements that the other does not.
//!
//! | module | subject |
//! |---|---|
//! | [`tasks`] | the pages: those that the solver does, and those that are left out |
//! | [`site`] | the package's pages, served over TLS, and the rewards that they report |
//! | [`solver`] | a scripted agent that understands the tasks' sentences |
//! | [`trials`] | each task in the bare browser and under approach B |
//! | [`findings`] | the file, the table and the report's section |

pub mod findings;
pub mod site;
pub mod solver;
pub mod tasks;
pub mod trials;
