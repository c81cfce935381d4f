//! How each shipped model is made: its collections, what of them is learned from, and the settings.

use std::path::Path;

use classifier::{LinearClassifier, ModelError};

use crate::corpora::{Corpus, SourceError, scam, toxicity};
use crate::fit::{FitError, FitOptions, fit};
use crate::{Document, Part};

/// What a model looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Messages that want money or secrets by a story.
    Scam,
    /// Insults, hate, threats, lewdness, and requests for harm.
    Toxicity,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The collections cannot be read.
    #[error(transparent)]
    Corpus(#[from] SourceError),
    /// They were read, and no model came of it.
    #[error(transparent)]
    Fit(#[from] FitError),
}

impl Subject {
    /// Every subject.
    pub const ALL: [Subject; 2] = [Subject::Scam, Subject::Toxicity];

    /// Its name, which is also that of its model.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Scam => "scam",
            Subject::Toxicity => "toxicity",
        }
    }

    /// Reads the collections.
    ///
    /// # Errors
    /// When the folder has none of them, or a file cannot be read.
    pub fn corpus(self, folder: &Path) -> Result<Corpus, SourceError> {
        match self {
            Subject::Scam => scam::read(folder),
            Subject::Toxicity => toxicity::read(folder),
        }
    }

    /// The settings that the shipped model was fitted with.
    pub fn options(self, seed: u64) -> FitOptions {
        let options = FitOptions { seed, bits: 16, dilution: 80.0, ..FitOptions::default() };
        match self {
            Subject::Scam => FitOptions { hardest: 8_000, ..options },
            Subject::Toxicity => FitOptions { epochs: 6, most_of_source: 4_000, hardest: 8_000, ..options },
        }
    }

    /// Whether a source is learned from; some are only judged on.
    pub fn learns_from(self, source: &str) -> bool {
        match self {
            Subject::Scam => true,
            Subject::Toxicity => source != toxicity::REPLIES,
        }
    }

    /// Fits the model to the training part of the collections and calibrates it on the development part.
    ///
    /// # Errors
    /// When there are not texts of both sorts in both parts.
    pub fn train(self, documents: &[Document], seed: u64) -> Result<LinearClassifier, FitError> {
        let learned: Vec<Document> = documents
            .iter()
            .filter(|one| one.part != Part::Test && self.learns_from(&one.source))
            .cloned()
            .collect();
        fit(&learned, &self.options(seed))
    }

    /// The model that is shipped.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn shipped(self) -> Result<LinearClassifier, ModelError> {
        match self {
            Subject::Scam => LinearClassifier::scam(),
            Subject::Toxicity => LinearClassifier::toxicity(),
        }
    }
}
