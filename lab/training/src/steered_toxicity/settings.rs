//! The settings of the experiment, its methods, its progress and its errors.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::writing::WriteError;
use crate::corpora::{CorpusError, SourceError};
use crate::fit::FitError;
use crate::token_attribute::DataError;
use hmm_control::distil::DistilError;
use hmm_control::{AttributeError, ControlError, ModelError};
use language_models::ngram::NgramError;

/// The settings of a run. They are written into its folder, and a folder takes rows of one setting only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The seed of the rollouts, the training, the continuations and the intervals.
    pub seed: u64,
    /// The continuations of each prompt that the attribute did not see.
    pub continuations: usize,
    /// The continuations of each other prompt.
    pub continuations_of_seen: usize,
    /// The tokens of a continuation.
    pub length: usize,
    /// The most probable tokens that are sampled from, after steering.
    pub top_k: usize,
    /// The hidden states.
    pub states: usize,
    /// The texts that the hidden Markov model learns from.
    pub rollouts: usize,
    /// The tokens of such a text.
    pub rollout_length: usize,
    /// The steps of expectation-maximisation.
    pub steps: u32,
    /// The SHA-256 of the transformer's weights; none where the language model is one of n-grams. [`run()`](super::run()) sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transformer: Option<String>,
}

impl Default for Settings {
    /// The planned size.
    fn default() -> Settings {
        Settings {
            seed: 32,
            continuations: 2,
            continuations_of_seen: 1,
            length: 20,
            top_k: 50,
            states: 256,
            rollouts: 20_000,
            rollout_length: 32,
            steps: 12,
            transformer: None,
        }
    }
}

/// A way of writing a continuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The language model alone.
    Free,
    /// The attribute, weighed over the next tokens.
    Lookahead {
        /// The tokens after the next one; with 0 only the weight of the next token counts.
        horizon: usize,
        /// The strength: the power of the odds.
        strength: u8,
    },
    /// The best of so many free continuations by the attribute.
    BestOf(usize),
    /// The tokens with the lowest weights are forbidden.
    Ban,
}

impl Method {
    /// Every planned method; the free one is the first.
    pub fn planned() -> Vec<Method> {
        let steered = |(horizon, strength)| Method::Lookahead { horizon, strength };
        let pairs = [(0, 1), (4, 1), (8, 1), (16, 1), (0, 2), (4, 2), (8, 2), (16, 2)];
        [Method::Free].into_iter().chain(pairs.map(steered)).chain([Method::BestOf(4), Method::Ban]).collect()
    }

    /// The method that the question is answered by.
    pub const PRIMARY: Method = Method::Lookahead { horizon: 16, strength: 2 };

    /// Returns the name, which the rows have.
    ///
    /// ```
    /// use classifier_training::steered_toxicity::Method;
    ///
    /// assert_eq!(Method::PRIMARY.name(), "k = 16, strength 2");
    /// assert!(Method::PRIMARY.looks_ahead() && Method::planned().contains(&Method::PRIMARY));
    /// ```
    pub fn name(self) -> String {
        match self {
            Method::Free => "free".to_owned(),
            Method::Lookahead { horizon, strength } => format!("k = {horizon}, strength {strength}"),
            Method::BestOf(count) => format!("best of {count}"),
            Method::Ban => "ban".to_owned(),
        }
    }

    /// Returns whether it looks at tokens after the next one.
    pub fn looks_ahead(self) -> bool {
        matches!(self, Method::Lookahead { horizon, .. } if horizon > 0)
    }
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The current stage, in words.
    pub stage: String,
    /// How much of it is done.
    pub done: usize,
    /// How much there is in all.
    pub of: usize,
}

/// The error of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SteeringError {
    /// A collection is missing.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file of a collection cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The data of the attribute cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A judge cannot be fitted.
    #[error("a judge cannot be fitted")]
    Judge(#[from] FitError),
    /// The language model cannot be trained.
    #[error("the language model cannot be trained")]
    Language(#[from] NgramError),
    /// The transformer cannot be loaded.
    #[error("the language model in {path} cannot be read")]
    Load {
        /// Its folder.
        path: PathBuf,
        /// Why.
        source: language_models::transformer::LoadError,
    },
    /// A transformer does not write in the tokens of the attribute, or does not name the token after which its texts begin.
    #[error(
        "the language model in {path} has {found}; it needs the {vocabulary} tokens of GPT-2, and eos_token_id in config.json"
    )]
    Vocabulary {
        /// Its folder.
        path: PathBuf,
        /// What it has, in words.
        found: String,
        /// The tokens of the attribute.
        vocabulary: usize,
    },
    /// Texts cannot be drawn from the language model.
    #[error("the language model writes no texts")]
    Draw(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The hidden Markov model cannot be trained.
    #[error("the hidden Markov model cannot be trained")]
    Distil(#[from] DistilError),
    /// A model without the look-ahead is not valid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The attribute does not fit the language model.
    #[error(transparent)]
    Attribute(#[from] AttributeError),
    /// A setting of the decoder is out of its range.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A continuation cannot be written.
    #[error("a continuation cannot be written")]
    Write(#[from] WriteError),
    /// A file of the run's folder cannot be read or written.
    #[error("{path} cannot be read or written: name a folder that may be written")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the run's folder is not of this run.
    #[error(
        "{path} is not of this run ({problem}): name another folder, or the settings that it was begun with"
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// The difference, in words.
        problem: String,
    },
}

impl SteeringError {
    pub(super) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> SteeringError {
        let path = path.to_owned();
        move |source| SteeringError::File { path, source }
    }
}
