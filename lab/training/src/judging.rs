//! Judges a model on documents: by source, by disguise, and by the identity that a text names.

use classifier::{Calibrated, LinearClassifier};
use serde::Serialize;

use crate::corpora::toxicity;
use crate::fit::{fit, risk};
use crate::metrics::{
    Confusion, Interval, Prior, Scored, bootstrap, brier_score, confusion, expected_calibration_error,
    operating_at, roc_auc, wilson,
};
use crate::obfuscation::Obfuscation;
use crate::recipe::Subject;
use crate::{CorpusPart, Document};

/// The false-positive rate of all reports.
pub const RATE: f64 = 0.01;

/// The number of bins of a reliability curve.
pub const BINS: usize = 10;

/// The number of bootstrap samples for an interval.
const ROUNDS: usize = 400;

/// Returns the risks of documents.
pub fn scores(model: &LinearClassifier, documents: &[&Document]) -> Vec<Scored> {
    let score = |one: &&Document| Scored { score: risk(model, one), harmful: one.harmful.is_some() };
    documents.iter().map(score).collect()
}

/// Returns the same documents, hidden in one way.
pub fn hidden(documents: &[&Document], way: Obfuscation) -> Vec<Document> {
    let hide = |one: &&Document| {
        let text = way.apply(&one.text);
        let harmful = one.harmful.as_ref().map(|_| 0..text.len());
        Document { text, harmful, ..(*one).clone() }
    };
    documents.iter().map(hide).collect()
}

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// The interval.
    pub interval: Interval,
}

/// The measures of a model on some texts.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureRow {
    /// The name of the texts.
    pub name: String,
    /// The number of harmful texts.
    pub harmful: usize,
    /// The number of harmless texts.
    pub harmless: usize,
    /// The area under the ROC curve, if there are texts of both sorts.
    pub auc: Option<Measured>,
    /// The recall at the threshold that is chosen on these very texts, for at most [`RATE`] of the harmless ones.
    pub recall_at_rate: Option<Measured>,
    /// The effect of the model's own threshold for that rate, which was chosen on other texts.
    pub own: Confusion,
    /// The recall at the model's own threshold, if there are harmful texts.
    pub own_recall: Option<Measured>,
    /// The share of harmless texts at or above it, if there are any.
    pub own_rate: Option<Measured>,
    /// The F1 score at it, if there are texts of both sorts.
    pub own_f1: Option<Measured>,
    /// The expected calibration error with an even prior, if there are texts of both sorts.
    pub calibration_error: Option<f64>,
    /// The Brier score with an even prior, if there are texts of both sorts.
    pub brier: Option<f64>,
}

/// Measures scores; `threshold` is the model's own.
pub fn measure(name: &str, scores: &[Scored], threshold: f64, seed: u64) -> MeasureRow {
    let own = confusion(scores, threshold);
    let (harmful, harmless) = (own.caught + own.missed, own.wrong + own.passed);
    let both = harmful > 0 && harmless > 0;
    let drawn = |statistic: &dyn Fn(&[Scored]) -> Option<f64>| {
        let value = both.then(|| statistic(scores)).flatten()?;
        let interval = bootstrap(scores, ROUNDS, seed, statistic)?;
        Some(Measured { value, interval })
    };
    let share = |count: usize, whole: usize| {
        (whole > 0).then(|| Measured { value: count as f64 / whole as f64, interval: wilson(count, whole) })
    };
    MeasureRow {
        name: name.to_owned(),
        harmful,
        harmless,
        auc: drawn(&roc_auc),
        recall_at_rate: drawn(&|scores| Some(operating_at(scores, RATE).confusion.recall())),
        own,
        own_recall: share(own.caught, harmful),
        own_rate: share(own.wrong, harmless),
        own_f1: drawn(&|scores| Some(confusion(scores, threshold).f1())),
        calibration_error: both.then(|| expected_calibration_error(scores, BINS, Prior::Even)),
        brier: both.then(|| brier_score(scores, Prior::Even)).flatten(),
    }
}

/// The measures of a model on the test part of documents.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The model's threshold for [`RATE`]; 1 if it has none.
    pub threshold: f64,
    /// All sources together.
    pub all: MeasureRow,
    /// Each source by itself, in the order of their names.
    pub sources: Vec<MeasureRow>,
    /// All sources together, hidden in each way.
    pub disguises: Vec<MeasureRow>,
    /// The scores of all, for pictures.
    pub scores: Vec<Scored>,
}

/// Judges a model on the test part, source by source and in every disguise. `say` receives progress messages.
pub fn judge(
    model: &LinearClassifier,
    documents: &[Document],
    seed: u64,
    mut say: impl FnMut(String),
) -> Judged {
    let threshold = model.threshold(RATE).map_or(1.0, |risk| risk.value());
    let test: Vec<&Document> = documents.iter().filter(|one| one.part == CorpusPart::Test).collect();
    let mut names: Vec<&str> = test.iter().map(|one| one.source.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    say(format!("judging {} texts of {} sources", test.len(), names.len()));
    let scored = scores(model, &test);
    let of = |name: &str| -> Vec<Scored> {
        test.iter().zip(&scored).filter(|(one, _)| one.source == name).map(|(_, score)| *score).collect()
    };
    let sources = names.iter().map(|name| measure(name, &of(name), threshold, seed)).collect();
    let mut disguises = Vec::new();
    for way in Obfuscation::ALL {
        say(format!("judging them {}", way.name()));
        let hidden = hidden(&test, way);
        let hidden: Vec<&Document> = hidden.iter().collect();
        disguises.push(measure(way.name(), &scores(model, &hidden), threshold, seed));
    }
    Judged { threshold, all: measure("all", &scored, threshold, seed), sources, disguises, scores: scored }
}

/// The range of the shares of harmless texts that are flagged, over the identities that they name.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gap {
    /// The lowest share of harmless texts flagged, of any identity.
    pub least: f64,
    /// The highest.
    pub most: f64,
}

/// Returns the gap over rows of one identity each; `None` for no rows.
pub fn gap(identities: &[MeasureRow]) -> Option<Gap> {
    let rates = || identities.iter().filter_map(|row| Some(row.own_rate?.value));
    let least = rates().min_by(f64::total_cmp)?;
    Some(Gap { least, most: rates().max_by(f64::total_cmp)? })
}

/// The result of a model that is trained on one source and judged on another.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossSource {
    /// The source that it learned from, with the sentences of this project and ordinary texts.
    pub trained_on: String,
    /// The source that it was judged on, all of it.
    pub judged_on: String,
    /// The area under the ROC curve.
    pub auc: f64,
}

/// Trains the model of toxicity on each source alone (with the sentences of this project) and judges it on every
/// other source. Nothing of the judged source is learned from.
pub fn pairs(documents: &[Document], seed: u64, mut say: impl FnMut(String)) -> Vec<CrossSource> {
    let options = Subject::Toxicity.options(seed);
    let mut found = Vec::new();
    for trained_on in toxicity::SOURCES {
        say(format!("training on {trained_on} alone"));
        let learned: Vec<Document> = documents
            .iter()
            .filter(|one| one.source == trained_on || toxicity::is_common(&one.source))
            .cloned()
            // The judged source is another one, so the test part may be learned from.
            .map(|one| {
                if one.part == CorpusPart::Test {
                    Document { part: CorpusPart::Training, ..one }
                } else {
                    one
                }
            })
            .collect();
        if !learned.iter().any(|one| one.source == trained_on) {
            continue;
        }
        let Ok(model) = fit(&learned, &options) else { continue };
        for judged_on in toxicity::SOURCES.into_iter().filter(|other| *other != trained_on) {
            let others: Vec<&Document> = documents.iter().filter(|one| one.source == judged_on).collect();
            if let Some(auc) = roc_auc(&scores(&model, &others)) {
                found.push(CrossSource {
                    trained_on: trained_on.to_owned(),
                    judged_on: judged_on.to_owned(),
                    auc,
                });
            }
        }
    }
    found
}
