//! What the look-ahead's horizon does to a model that can be talked into leaking, and how it compares with rollouts of the
//! language model itself and with choosing among several answers: `spec/experiments.md`, section 10. No browser.
//!
//! | module | subject |
//! |---|---|
//! | [`turns`] | pages that ask for the card, and who may say what an answer to them did |
//! | [`tree`] | what the language model says after each text, asked once |
//! | [`learn`] | the hidden Markov model and the head, from what the language model writes |
//! | [`steer`] | an answer, written under a look-ahead |
//! | [`run`] | the whole experiment |
//! | [`report`] | what came of it: rows, figures, a plot |

pub mod learn;
pub mod report;
pub mod run;
pub mod steer;
pub mod tree;
pub mod turns;

/// The most tokens that an answer may have.
pub const LONGEST: usize = 96;

/// Why the experiment could not be made.
#[derive(Debug, thiserror::Error)]
pub enum HorizonError {
    /// The agent model cannot be used.
    #[error("the agent model in {folder}: {why}")]
    Model {
        /// The folder that was named.
        folder: String,
        /// What is wrong with it.
        why: String,
    },
    /// A step failed in the middle.
    #[error("{0}")]
    Failed(String),
}

/// What any of the libraries said.
pub(crate) fn failed(error: impl std::fmt::Display) -> HorizonError {
    HorizonError::Failed(error.to_string())
}
