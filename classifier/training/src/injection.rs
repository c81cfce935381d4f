//! The model of instructions to an agent that stand where only content should.

use std::path::Path;
use std::sync::Arc;

use classifier::{LinearClassifier, Place};

use crate::corpora::{self, CorpusError};
use crate::fit::classes::ClassOptions;
use crate::fit::{self, FitError, FitOptions};
use crate::recipe::Subject;
use crate::{Document, Part, hash};

/// A model and what it was trained and may be judged on.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: LinearClassifier,
    /// All documents. Only those of [`Part::Training`] gave weights; [`Part::Development`] gave the calibration and
    /// the thresholds; [`Part::Test`] gave nothing.
    pub documents: Vec<Document>,
}

/// Why a model was not trained.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A corpus was not read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The documents do not make a model.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// How many documents' worth of text a page has, and how often a page without harm may be kept from its reader: less
/// than once in 2000 pages, so that of tasks of 20 pages less than one in a hundred is touched.
const DOCUMENTS_A_PAGE: f64 = 10.0;
const PAGES_QUARANTINED: f64 = 5e-4;

/// Trains the model of injections from the folder of the corpora. The same folder and options give the same bytes.
///
/// The threshold for quarantine is an extrapolation, since no corpus here has the tens of thousands of pages that
/// counting would take: see [`fit::calibrate::rare`].
///
/// # Errors
/// When a corpus is missing.
pub fn train_injection(data: &Path, options: &FitOptions) -> Result<Trained, TrainError> {
    let mut documents = corpora::injection(data, options.seed)?;
    documents.extend(corpora::benign(data, options.seed)?);
    let model = fitted(&documents, options)?;
    Ok(Trained { model, documents })
}

/// The model of documents that were read already.
pub(crate) fn fitted(documents: &[Document], options: &FitOptions) -> Result<LinearClassifier, FitError> {
    let mut learned: Vec<Document> =
        documents.iter().filter(|one| Subject::Injection.learns_from(&one.source)).cloned().collect();
    learned.extend(corpora::encoded(&learned));
    let classes = fit::classes::learn(documents, &ClassOptions::default());
    let options = &FitOptions { classes: Some(Arc::new(classes)), ..options.clone() };
    let model = fit::fit(&learned, options)?;
    // Our own lines are written to be as close to the border as can be, on either side, and requests to an assistant
    // are over it; pages are not like that. But pages have code, of which the corpora have
    // little, so one in ten of our own pages of code counts.
    let development = documents.iter().filter(|document| document.part == Part::Development);
    let scores: Vec<(f64, bool)> = development
        .filter(|document| {
            let apart = ["own/", "requests/"].iter().any(|kind| document.source.starts_with(kind));
            !apart || (document.source == "own/code" && hash(&document.text).is_multiple_of(10))
        })
        .map(|document| (fit::risk(&model, document), document.harmful.is_some()))
        .collect();
    let harmless: Vec<f64> = scores.iter().filter(|(_, harmful)| !harmful).map(|(risk, _)| *risk).collect();
    let mut parameters = model.parameters().clone();
    parameters.thresholds =
        options.rates.iter().map(|rate| (*rate, fit::calibrate::threshold(&scores, *rate))).collect();
    parameters.quarantine = fit::calibrate::rare(&harmless, PAGES_QUARANTINED / DOCUMENTS_A_PAGE);
    parameters.calibration_error = fit::calibrate::expected_error(&scores, 15);
    parameters.places = places();
    fit::with(&model, parameters).map_err(FitError::Model)
}

/// What a place adds to the log odds. No corpus says where attacks stand, so these are judgement, and small: words
/// that only a machine reads are more often meant for one.
fn places() -> [f32; Place::ALL.len()] {
    Place::ALL.map(|place| match place {
        Place::Hidden | Place::Markup => 1.0,
        Place::Generated | Place::ForeignFrame => 0.5,
        Place::Shown | Place::Attribute | Place::Unknown => 0.0,
    })
}
