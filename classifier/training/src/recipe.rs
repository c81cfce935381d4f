//! How each shipped model is made: its collections, what of them is learned from, and the settings.

use std::path::Path;

use classifier::{LinearClassifier, ModelError};

use crate::corpora::{Corpus, MENTIONED, SourceError, benign, contexts, encoded, injection, scam, toxicity};
use crate::fit::{FitError, FitOptions, fit};
use crate::{Document, Part};

/// What a model looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Instructions to an agent that stand where only content should.
    Injection,
    /// What stands around a quoted attack in a text that speaks of attacks.
    Mention,
    /// Messages that want money or secrets by a story.
    Scam,
    /// Insults, hate, threats, lewdness, and requests for harm.
    Toxicity,
}

impl Subject {
    /// Every subject.
    pub const ALL: [Subject; 4] = [Subject::Injection, Subject::Mention, Subject::Scam, Subject::Toxicity];

    /// Its name, which is also that of its model.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Injection => "injection",
            Subject::Mention => "mention",
            Subject::Scam => "scam",
            Subject::Toxicity => "toxicity",
        }
    }

    /// Reads the collections; for injections what is inserted where follows from the seed.
    ///
    /// # Errors
    /// When the folder has none of them (for injections: lacks one), or a file cannot be read.
    pub fn corpus(self, folder: &Path, seed: u64) -> Result<Corpus, SourceError> {
        match self {
            Subject::Injection => {
                let mut documents = injection(folder, seed)?;
                documents.extend(benign(folder, seed)?);
                Ok(Corpus { documents, absent: Vec::new() })
            }
            Subject::Mention => {
                let mut documents = injection(folder, seed)?;
                documents.extend(benign(folder, seed)?);
                Ok(Corpus { documents: contexts(&documents), absent: Vec::new() })
            }
            Subject::Scam => scam::read(folder),
            Subject::Toxicity => toxicity::read(folder),
        }
    }

    /// The settings that the shipped model was fitted with.
    pub fn options(self, seed: u64) -> FitOptions {
        let options = FitOptions { seed, ..FitOptions::default() };
        match self {
            Subject::Injection => FitOptions { most_of_source: 4_000, hardest: 14_000, ..options },
            Subject::Mention => {
                FitOptions { bits: 14, dilution: 30.0, epochs: 8, most_of_source: 2_000, ..options }
            }
            Subject::Scam => FitOptions { dilution: 60.0, epochs: 12, hardest: 8_000, ..options },
            Subject::Toxicity => FitOptions {
                bits: 16,
                dilution: 80.0,
                epochs: 6,
                most_of_source: 4_000,
                hardest: 8_000,
                ..options
            },
        }
    }

    /// Whether a source is learned from; some are only judged on.
    pub fn learns_from(self, source: &str) -> bool {
        match self {
            // A weighted sum cannot both know an attack and excuse it where it is quoted; another model does that.
            Subject::Injection => source != MENTIONED,
            Subject::Mention | Subject::Scam => true,
            Subject::Toxicity => source != toxicity::REPLIES,
        }
    }

    /// Whether a source has a say in calibration and thresholds. Pages have none in those of scam and toxicity: they
    /// hardly ever read like a message or an insult, and would lower the thresholds until many honest ones are flagged.
    fn sets_thresholds(self, source: &str) -> bool {
        match self {
            Subject::Injection | Subject::Mention => true,
            Subject::Scam => source == scam::MESSAGES,
            Subject::Toxicity => source == toxicity::WRITTEN || !toxicity::is_common(source),
        }
    }

    /// Fits the model to the training part of the collections and calibrates it on the development part.
    ///
    /// # Errors
    /// When there are not texts of both sorts in both parts.
    pub fn train(self, documents: &[Document], seed: u64) -> Result<LinearClassifier, FitError> {
        if self == Subject::Injection {
            return crate::injection::fitted(documents, &self.options(seed));
        }
        let mut learned: Vec<Document> = documents
            .iter()
            .filter(|one| one.part != Part::Test && self.learns_from(&one.source))
            .cloned()
            .collect();
        for one in &mut learned {
            // Thresholds are a matter of the sources that are like what is judged.
            if !self.sets_thresholds(&one.source) {
                one.part = Part::Training;
            }
        }
        if self != Subject::Mention {
            learned.extend(encoded(&learned));
        }
        fit(&learned, &self.options(seed))
    }

    /// The model that is shipped.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn shipped(self) -> Result<LinearClassifier, ModelError> {
        match self {
            Subject::Injection => LinearClassifier::injection(),
            Subject::Mention => LinearClassifier::mention(),
            Subject::Scam => LinearClassifier::scam(),
            Subject::Toxicity => LinearClassifier::toxicity(),
        }
    }
}
