//! Estimating the parameters from counts, and the exponent on the detectors' evidence.

use super::parameters::{Coded, Parameters};
use ndarray::Array2;

/// Pseudo-counts, the prior of the parameters.
#[derive(Debug, Clone)]
pub(super) struct Pseudo {
    /// The pseudo-count of every first state and of every transition.
    pub transition: f64,
    /// The pseudo-count of every state and detector, distributed over the bins like the pool.
    pub score: f64,
    /// Each detector's pool.
    pub pools: Vec<Vec<f64>>,
}

/// Counts of first states, transitions and scores.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    initial: Vec<f64>,
    transition: Array2<f64>,
    scores: Vec<Array2<f64>>,
}

impl Counts {
    pub fn none(states: usize, pseudo: &Pseudo) -> Counts {
        Counts {
            initial: vec![0.0; states],
            transition: Array2::zeros((states, states)),
            scores: pseudo.pools.iter().map(|pool| Array2::zeros((states, pool.len()))).collect(),
        }
    }

    /// Counts the labels; a transition counts where both windows are labelled.
    pub fn add_labelled(&mut self, document: &[Coded]) {
        if let Some(first) = document.first().and_then(|window| window.state)
            && let Some(count) = self.initial.get_mut(first)
        {
            *count += 1.0;
        }
        for (before, after) in document.iter().zip(document.iter().skip(1)) {
            if let (Some(from), Some(to)) = (before.state, after.state)
                && let Some(count) = self.transition.get_mut((from, to))
            {
                *count += 1.0;
            }
        }
        for window in document {
            if let Some(state) = window.state {
                self.add_scores(state, &window.bins, 1.0);
            }
        }
    }

    /// Counts a model's expectation of the unlabelled windows, and returns the document's log evidence.
    pub fn add_expected(&mut self, document: &[Coded], parameters: &Parameters) -> f64 {
        let Some(smoothed) = parameters.smooth(document) else {
            self.add_labelled(document);
            return 0.0;
        };
        if let Some(first) = smoothed.states.first() {
            self.initial.iter_mut().zip(first).for_each(|(count, p)| *count += p);
        }
        self.transition += &smoothed.transitions;
        for (window, states) in document.iter().zip(&smoothed.states) {
            for (state, weight) in states.iter().enumerate() {
                self.add_scores(state, &window.bins, *weight);
            }
        }
        smoothed.log_evidence
    }

    fn add_scores(&mut self, state: usize, bins: &[Option<usize>], weight: f64) {
        for (table, bin) in self.scores.iter_mut().zip(bins) {
            if let Some(count) = bin.and_then(|bin| table.get_mut((state, bin))) {
                *count += weight;
            }
        }
    }

    /// The most probable parameters under a Dirichlet prior with these pseudo-counts.
    pub fn estimate(&self, pseudo: &Pseudo, temper: f64) -> Parameters {
        let states = self.initial.len() as f64;
        let added = pseudo.transition;
        let total: f64 = self.initial.iter().sum();
        let initial = self.initial.iter().map(|n| (n + added) / (total + states * added)).collect();
        let mut transition = self.transition.clone();
        for mut row in transition.rows_mut() {
            let total = row.sum() + states * added;
            row.mapv_inplace(|n| (n + added) / total);
        }
        let log_scores = self
            .scores
            .iter()
            .zip(&pseudo.pools)
            .map(|(counts, pool)| {
                let mut table = counts.clone();
                for mut row in table.rows_mut() {
                    let total = row.sum() + pseudo.score;
                    row.iter_mut()
                        .zip(pool)
                        .for_each(|(n, share)| *n = ((*n + pseudo.score * share) / total).ln());
                }
                table
            })
            .collect();
        Parameters { initial, transition, log_scores, temper }
    }
}

/// Candidate exponents, in falling order; of equals the first wins.
const CANDIDATES: [f64; 10] = [1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1];

/// The number of folds.
const FOLDS: usize = 4;

/// Learns the exponent on a window's likelihood: the candidate that best predicts labels in held-out documents; 1 where
/// there are too few documents.
///
/// The model treats detectors as independent given the state. Correlated detectors repeat the same evidence, and the
/// posterior would be overconfident; an exponent below 1 corrects this. Two copies of one detector give about one half.
pub(super) fn learn_temper(documents: &[Vec<Coded>], states: usize, pseudo: &Pseudo) -> f64 {
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
