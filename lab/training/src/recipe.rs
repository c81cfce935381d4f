//! The recipe of each shipped model: its collections, the sources that are learned from, and the settings.

use std::path::Path;
use std::sync::Arc;

use classifier::{LinearClassifier, MentionAware, ModelError, WindowPlace};

use crate::by_page::{self, PAGE_RATES, QUARANTINE_RATE};
use crate::corpora::{Corpus, MENTIONED, SourceError, benign, contexts, injection, scam, toxicity};
use crate::fit::classes::ClassOptions;
use crate::fit::{self, FitError, FitOptions, fit};
use crate::obfuscation::encoded;
use crate::{CorpusPart, Document, hash};

/// The subject of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Prompt injections: instructions to an agent in text that should be content only.
    Injection,
    /// The text around a quoted attack in a text about attacks.
    Mention,
    /// Messages that ask for money or secrets under a pretext.
    Scam,
    /// Insult words: those of insults, hate, threats and lewdness, and of requests for harm.
    Toxicity,
}

impl Subject {
    /// Every subject.
    pub const ALL: [Subject; 4] = [Subject::Injection, Subject::Mention, Subject::Scam, Subject::Toxicity];

    /// Returns the name, which is also that of the model.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Injection => "injection",
            Subject::Mention => "mention",
            Subject::Scam => "scam",
            Subject::Toxicity => "toxicity",
        }
    }

    /// Reads the collections; for injections the seed determines the insertions.
    ///
    /// # Errors
    /// When the folder has none of them (for injections: lacks one), or a file cannot be read.
    pub fn corpus(self, folder: &Path, seed: u64) -> Result<Corpus, SourceError> {
        match self {
            Subject::Injection => {
                let mut documents = injection(folder, seed)?;
                documents.extend(benign(folder, seed)?);
                Corpus { documents, ..Corpus::default() }.with_pages(folder)
            }
            Subject::Mention => {
                let mut documents = injection(folder, seed)?;
                documents.extend(benign(folder, seed)?);
                Ok(Corpus { documents: contexts(&documents), ..Corpus::default() })
            }
            Subject::Scam => scam::read(folder)?.with_pages(folder),
            Subject::Toxicity => toxicity::read(folder)?.with_pages(folder),
        }
    }

    /// Returns the settings of the shipped model.
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

    /// Returns whether a source is learned from; some are only judged on.
    pub fn learns_from(self, source: &str) -> bool {
        match self {
            // A weighted sum cannot both recognise an attack and ignore it in a quotation; another model does that.
            Subject::Injection => source != MENTIONED,
            Subject::Mention | Subject::Scam => true,
            Subject::Toxicity => source != toxicity::REPLIES,
        }
    }

    /// Returns whether a source affects the calibration of risks. Pages do not for scam and toxicity: they hardly ever
    /// read like a message or an insult.
    fn calibrates(self, source: &str) -> bool {
        match self {
            Subject::Injection | Subject::Mention => true,
            Subject::Scam => source == scam::MESSAGES,
            Subject::Toxicity => source == toxicity::WRITTEN || !toxicity::is_common(source),
        }
    }

    /// Fits the model to the training part of the collections and calibrates it on the development part. Where a corpus
    /// has honest pages, the thresholds bound the share of pages that are flagged, else that of texts.
    ///
    /// # Errors
    /// When there are not texts of both sorts in both parts.
    pub fn train(self, corpus: &Corpus, seed: u64) -> Result<LinearClassifier, FitError> {
        let options = &self.options(seed);
        let model = match self {
            Subject::Injection => fitted(&corpus.documents, options)?,
            _ => self.fitted(&corpus.documents, options)?,
        };
        let risks = match self {
            Subject::Mention => Vec::new(),
            Subject::Injection => {
                let judge = MentionAware::new(model.clone(), LinearClassifier::mention()?);
                by_page::risks(&judge, &corpus.pages, CorpusPart::Development)
            }
            Subject::Scam | Subject::Toxicity => {
                by_page::risks(&model, &corpus.pages, CorpusPart::Development)
            }
        };
        if risks.is_empty() {
            return Ok(model);
        }
        let mut parameters = model.parameters().clone();
        parameters.thresholds = PAGE_RATES.map(|rate| (rate, by_page::threshold(&risks, rate))).to_vec();
        parameters.quarantine = by_page::threshold(&risks, QUARANTINE_RATE);
        fit::with(&model, parameters).map_err(FitError::Model)
    }

    fn fitted(self, documents: &[Document], options: &FitOptions) -> Result<LinearClassifier, FitError> {
        let mut learned: Vec<Document> = documents
            .iter()
            .filter(|one| one.part != CorpusPart::Test && self.learns_from(&one.source))
            .cloned()
            .collect();
        for one in &mut learned {
            // Calibration depends only on sources that resemble the texts that are judged in use.
            if !self.calibrates(&one.source) {
                one.part = CorpusPart::Training;
            }
        }
        if self != Subject::Mention {
            learned.extend(encoded(&learned));
        }
        fit(&learned, options)
    }

    /// Returns the shipped model.
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

/// Fits the model of injections to documents.
fn fitted(documents: &[Document], options: &FitOptions) -> Result<LinearClassifier, FitError> {
    let mut learned: Vec<Document> =
        documents.iter().filter(|one| Subject::Injection.learns_from(&one.source)).cloned().collect();
    learned.extend(encoded(&learned));
    let classes = fit::classes::learn(documents, &ClassOptions::default());
    let options = &FitOptions { classes: Some(Arc::new(classes)), ..options.clone() };
    let model = fit::fit(&learned, options)?;
    // Our own lines are as close to the border as possible, on either side, and requests to an assistant are beyond
    // it; pages are not like that. But pages contain code, of which the collections have little, so one in ten of our
    // own pages of code counts.
    let development = documents.iter().filter(|document| document.part == CorpusPart::Development);
    let scores: Vec<(f64, bool)> = development
        .filter(|document| {
            let apart = ["own/", "requests/"].iter().any(|kind| document.source.starts_with(kind));
            !apart || (document.source == "own/code" && hash(&document.text).is_multiple_of(10))
        })
        .map(|document| (fit::risk(&model, document), document.harmful.is_some()))
        .collect();
    let mut parameters = model.parameters().clone();
    parameters.thresholds =
        options.rates.iter().map(|rate| (*rate, fit::calibrate::threshold(&scores, *rate))).collect();
    parameters.quarantine = fit::calibrate::threshold(&scores, QUARANTINE_RATE);
    parameters.calibration_error = fit::calibrate::expected_error(&scores, 15);
    parameters.places = places();
    fit::with(&model, parameters).map_err(FitError::Model)
}

/// Returns the log odds that places add. No collection has the places of attacks, so these are estimates, and small:
/// text that only a machine reads is more often meant for one.
fn places() -> [f32; WindowPlace::ALL.len()] {
    WindowPlace::ALL.map(|place| match place {
        WindowPlace::Hidden | WindowPlace::Markup => 1.0,
        WindowPlace::Generated | WindowPlace::ForeignFrame => 0.5,
        WindowPlace::Shown | WindowPlace::Attribute | WindowPlace::Unknown => 0.0,
    })
}
