//! The effect of the look-ahead's horizon on a model that can be talked into leaking, compared with rollouts of the
//! language model itself and with best-of-n sampling: `spec/experiments.md`, section 10. No browser.
//!
//! | module | subject |
//! |---|---|
//! | [`turns`] | pages that ask for the card, and the judgement of an answer |
//! | [`learn`] | the hidden Markov model and the prior, learnt from the language model's answers |
//! | [`steer`] | an answer, written under a look-ahead, and a cache of the language model's steps |
//! | [`run`] | the whole experiment |
//! | [`report`] | the results: rows, figures, a plot |

pub mod learn;
pub mod report;
pub mod run;
pub mod steer;
pub mod turns;

use crate::trials::EvaluationError;

/// The most tokens that an answer may have.
pub const LONGEST: usize = 96;

/// The reason why the experiment failed.
#[derive(Debug, thiserror::Error)]
pub enum HorizonError {
    /// The agent model cannot be used.
    #[error("the agent model in {folder}: {why}")]
    Model {
        /// The folder that was named.
        folder: String,
        /// The problem.
        why: String,
    },
    /// A step failed during the experiment.
    #[error("{0}")]
    Failed(String),
}

impl From<EvaluationError> for HorizonError {
    fn from(error: EvaluationError) -> HorizonError {
        let (EvaluationError::NotSetUp(why) | EvaluationError::Input(why) | EvaluationError::Failed(why)) =
            error;
        HorizonError::Failed(why)
    }
}

/// Wraps the error of any library.
pub(crate) fn failed(error: impl std::fmt::Display) -> HorizonError {
    HorizonError::Failed(error.to_string())
}
