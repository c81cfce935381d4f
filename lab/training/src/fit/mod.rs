//! Fitting a linear model to documents.
//!
//! 1. Documents are normalised and cut into windows, as when the model is used.
//! 2. A logistic regression is fitted to a sample of the windows ([`logistic`]), then again with the harmless windows
//!    that it got most wrong (they are many and mostly easy, so a sample misses the hard ones).
//! 3. The weights are rounded to small integers ([`logistic::quantise`]).
//! 4. The risks are calibrated on documents of the development part, and the thresholds are chosen on them
//!    ([`calibrate`]).
//!
//! Classes of words, if the model has some, are learned before that, without labels ([`classes`]).
//!
//! The result is a function of the documents and the seed: the same give the same bytes (on one platform, since the
//! exponential function is the platform's).

pub mod calibrate;
pub mod classes;
pub mod logistic;
mod windows;

use std::sync::Arc;

use classifier::{
    Features, LinearClassifier, ModelError, Parameters, Unfolded, WindowPlace, WordClasses, highest_risk,
};

use crate::{CorpusPart, Document};
use windows::Windows;

/// Options for fitting.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// The seed of everything random.
    pub seed: u64,
    /// There are `2^bits` weights.
    pub bits: u32,
    /// The number of features that is added to those of a window; see [`Parameters::dilution`].
    pub dilution: f32,
    /// The number of passes over the windows in each round.
    pub epochs: usize,
    /// The step size of AdaGrad.
    pub step: f32,
    /// The L2 penalty.
    pub l2: f32,
    /// The largest number of harmless windows of one source in the first round.
    pub most_of_source: usize,
    /// The number of the hardest harmless windows that are added in the second round.
    pub hardest: usize,
    /// The share of the weight of all windows that the harmful ones have, in (0, 1).
    pub harmful_share: f32,
    /// The false-positive rates of the thresholds.
    pub rates: Vec<f64>,
    /// The log odds that a place adds, in the order of [`WindowPlace::ALL`].
    pub places: [f32; WindowPlace::ALL.len()],
    /// Classes of words, which give features of their own; see [`classes`].
    pub classes: Option<Arc<WordClasses>>,
}

impl Default for FitOptions {
    fn default() -> FitOptions {
        FitOptions {
            seed: 1,
            bits: 17,
            dilution: 40.0,
            epochs: 5,
            step: 1.0,
            l2: 1e-6,
            most_of_source: 6_000,
            hardest: 20_000,
            harmful_share: 0.4,
            rates: vec![0.05, 0.01, 0.005, 0.001],
            places: [0.0; WindowPlace::ALL.len()],
            classes: None,
        }
    }
}

/// The error of documents or numbers that do not make a model.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// A part has no harmful or no harmless documents.
    #[error("the {part:?} part has {harmful} harmful and {harmless} harmless documents: both are needed")]
    OneSided {
        /// The part.
        part: CorpusPart,
        /// The number of its harmful documents.
        harmful: usize,
        /// The number of its harmless documents.
        harmless: usize,
    },
    /// A number went out of range.
    #[error("the fitted model is not valid")]
    Model(#[from] ModelError),
}

/// Fits a model to the training part and calibrates it on the development part.
///
/// # Errors
/// When one of the two parts lacks harmful or harmless documents.
pub fn fit(documents: &[Document], options: &FitOptions) -> Result<LinearClassifier, FitError> {
    for part in [CorpusPart::Training, CorpusPart::Development] {
        let of_part = || documents.iter().filter(|document| document.part == part);
        let harmful = of_part().filter(|document| document.harmful.is_some()).count();
        let harmless = of_part().count() - harmful;
        if harmful == 0 || harmless == 0 {
            return Err(FitError::OneSided { part, harmful, harmless });
        }
    }
    let plain = Features::new(options.bits);
    let features = &match &options.classes {
        Some(classes) => plain.with_classes(Arc::clone(classes)),
        None => plain,
    };
    let training = || documents.iter().filter(|document| document.part == CorpusPart::Training);
    let mut sample = Windows::sample(training(), features, options);
    let first = rounded(&logistic::fit(&sample, features, options), features, options)?;
    sample.add_hardest(training(), &first, options);
    let raw = rounded(&logistic::fit(&sample, features, options), features, options)?;
    calibrated(&raw, documents, options)
}

/// Returns a model with rounded weights, whose risks are not calibrated.
fn rounded(
    fitted: &logistic::Fitted,
    features: &Features,
    options: &FitOptions,
) -> Result<LinearClassifier, ModelError> {
    let (weights, scale) = logistic::quantise(&fitted.weights);
    let parameters = Parameters {
        bias: fitted.bias,
        scale,
        dilution: options.dilution,
        places: options.places,
        thresholds: Vec::new(),
        quarantine: 1.0,
        calibration_error: 0.0,
    };
    LinearClassifier::new(features.clone(), weights, parameters)
}

/// Returns the model with risks that are calibrated on the development part, and thresholds of that part.
fn calibrated(
    raw: &LinearClassifier,
    documents: &[Document],
    options: &FitOptions,
) -> Result<LinearClassifier, FitError> {
    let development: Vec<(Unfolded, &Document)> = documents
        .iter()
        .filter(|document| document.part == CorpusPart::Development)
        .map(|document| (Unfolded::new(&document.text), document))
        .collect();
    let scores = |model: &LinearClassifier| -> Vec<(f64, bool)> {
        let score = |(unfolded, document): &(Unfolded, &Document)| {
            (highest_risk(unfolded, document.place, model).value(), document.harmful.is_some())
        };
        development.iter().map(score).collect()
    };
    let line = calibrate::platt(&scores(raw));
    let mut parameters = raw.parameters().clone();
    parameters.bias = (line.slope * f64::from(parameters.bias) + line.offset) as f32;
    parameters.scale = (line.slope * f64::from(parameters.scale)) as f32;
    let model = with(raw, parameters.clone())?;
    let scores = scores(&model);
    parameters.thresholds =
        options.rates.iter().map(|rate| (*rate, calibrate::threshold(&scores, *rate))).collect();
    parameters.quarantine = parameters.thresholds.last().map_or(1.0, |(_, risk)| *risk);
    parameters.calibration_error = calibrate::expected_error(&scores, 15);
    Ok(with(&model, parameters)?)
}

/// Returns a model with the same weights and other parameters.
///
/// # Errors
/// When a parameter is outside its range.
pub fn with(model: &LinearClassifier, parameters: Parameters) -> Result<LinearClassifier, ModelError> {
    LinearClassifier::new(model.features().clone(), model.weights().into(), parameters)
}

/// Returns the risk of a document: that of its worst window, decoded texts included.
pub fn risk(model: &LinearClassifier, document: &Document) -> f64 {
    highest_risk(&Unfolded::new(&document.text), document.place, model).value()
}
