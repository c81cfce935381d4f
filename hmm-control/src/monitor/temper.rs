//! How much of the detectors' evidence to believe.
//!
//! Detectors are treated as independent given the state. They are not: two that look for the same words say the
//! same thing twice, and the posterior would be too sure of itself. So a window's likelihood is raised to an
//! exponent of at most 1, the one under which documents that were left out best predict their own labels; two
//! copies of one detector come out near one half.

use super::counts::{Counts, Pseudo};
use super::parameters::{Coded, Parameters};

/// Exponents that are tried, in falling order; of equals the first wins.
const CANDIDATES: [f64; 10] = [1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1];

/// Documents are left out in this many groups.
const FOLDS: usize = 4;

/// The exponent that best predicts labels in documents that were left out; 1 where there are too few to leave any
/// out.
pub(super) fn learn(documents: &[Vec<Coded>], states: usize, pseudo: &Pseudo) -> f64 {
    let labelled: Vec<&Vec<Coded>> =
        documents.iter().filter(|document| document.iter().any(|window| window.state.is_some())).collect();
    if labelled.len() < FOLDS {
        return 1.0;
    }
    let folds: Vec<Parameters> = (0..FOLDS)
        .map(|fold| {
            let mut counts = Counts::none(states, pseudo);
            let others = labelled.iter().enumerate().filter(|(number, _)| number % FOLDS != fold);
            others.for_each(|(_, document)| counts.add_labelled(document));
            counts.estimate(pseudo, 1.0)
        })
        .collect();
    let mut best = 1.0;
    let mut best_value = f64::NEG_INFINITY;
    for temper in CANDIDATES {
        let value = labelled
            .iter()
            .zip(folds.iter().cycle())
            .map(|(document, fold)| log_labels(document, &Parameters { temper, ..fold.clone() }))
            .sum();
        if value > best_value {
            best_value = value;
            best = temper;
        }
    }
    best
}

/// Sum over the labelled windows of `log p(label | scores so far)`.
fn log_labels(document: &[Coded], parameters: &Parameters) -> f64 {
    let mut now = parameters.initial.clone();
    let mut sum = 0.0;
    for window in document {
        parameters.update(&mut now, &window.bins);
        if let Some(p) = window.state.and_then(|state| now.get(state)) {
            sum += p.ln();
        }
        now = parameters.advance(&now);
    }
    sum
}
