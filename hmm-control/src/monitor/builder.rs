//! Naming the states and detectors, and estimating the parameters.

use super::counts::{Counts, Pseudo, learn_temper};
use super::error::MonitorError;
use super::histogram::{Sample, choose_edges, code, pool};
use super::model::{Detector, Monitor, Window};
use super::parameters::{Coded, Parameters};
use std::collections::BTreeSet;

/// The most states of a monitor, which is small by design; it bounds foreign files.
pub(super) const MOST_STATES: usize = 64;
/// The most detectors of a monitor.
pub(super) const MOST_DETECTORS: usize = 256;

/// Names the states and detectors of a [`Monitor`], and estimates it from labelled documents.
///
/// See [`Monitor`] for an example.
#[derive(Debug, Clone)]
pub struct MonitorBuilder {
    /// Name, and true if the state is appropriate.
    states: Vec<(String, bool)>,
    detectors: Vec<String>,
    transition_smoothing: f64,
    score_smoothing: f64,
    temper: Option<f64>,
    rounds: usize,
}

impl Monitor {
    /// An empty builder.
    pub fn builder() -> MonitorBuilder {
        MonitorBuilder::new()
    }
}

impl MonitorBuilder {
    fn new() -> MonitorBuilder {
        MonitorBuilder {
            states: Vec::new(),
            detectors: Vec::new(),
            transition_smoothing: 0.5,
            score_smoothing: 2.0,
            temper: None,
            rounds: 5,
        }
    }

    /// Names a state of appropriate text. Returns its number, counted from 0 over all states.
    pub fn appropriate(&mut self, name: impl Into<String>) -> usize {
        self.states.push((name.into(), true));
        self.states.len() - 1
    }

    /// Names a state of harmful text. Returns its number, counted from 0 over all states.
    pub fn harmful(&mut self, name: impl Into<String>) -> usize {
        self.states.push((name.into(), false));
        self.states.len() - 1
    }

    /// Names a detector. Returns its index among a window's scores, counted from 0.
    pub fn detector(&mut self, name: impl Into<String>) -> usize {
        self.detectors.push(name.into());
        self.detectors.len() - 1
    }

    /// The pseudo-count of every transition and first state: above 0, by default 0.5. No transition is then impossible, so
    /// that one that no labelled document has is still detected.
    pub fn transition_smoothing(&mut self, count: f64) -> &mut MonitorBuilder {
        self.transition_smoothing = count;
        self
    }

    /// The pseudo-count of every state's score histogram, in windows: above 0, by default 2. The score of one window can be
    /// evidence against a state by a factor of at most `(n + count) / count`, where `n` is the number of the state's
    /// labelled windows.
    pub fn score_smoothing(&mut self, count: f64) -> &mut MonitorBuilder {
        self.score_smoothing = count;
        self
    }

    /// The exponent on a window's likelihood, in (0, 1]. By default it is learnt from the labels: below 1 where the
    /// detectors are correlated.
    pub fn temper(&mut self, exponent: f64) -> &mut MonitorBuilder {
        self.temper = Some(exponent);
        self
    }

    /// Rounds of expectation maximisation over windows without a label, by default 5. 0 learns from the labels alone, and
    /// without unlabelled windows the rounds have no effect. A round never makes the data less probable under an exponent
    /// of 1; under a smaller one this is not guaranteed, since tempered likelihoods are not probabilities.
    pub fn rounds(&mut self, rounds: usize) -> &mut MonitorBuilder {
        self.rounds = rounds;
        self
    }

    /// Estimates the model. The same documents give the same bits.
    ///
    /// Transitions are counts over neighbouring windows with Dirichlet smoothing; scores are histograms, treated as
    /// independent given the state and tempered. Cost: about `windows * detectors` for each of 9 numbers of bins and
    /// 10 exponents, and `windows * states^2` per round.
    ///
    /// # Errors
    /// When the names or the settings are invalid, a label is not a state, a window does not have one score per detector, or
    /// a state has no labelled window.
    pub fn fit(&self, documents: &[Vec<Window>]) -> Result<Monitor, MonitorError> {
        self.check_settings()?;
        self.check_documents(documents)?;
        let states = self.states.len();
        let edges: Vec<Vec<f64>>;
        let pseudo;
        {
            let samples: Vec<Vec<Sample>> =
                (0..self.detectors.len()).map(|detector| samples(documents, detector)).collect();
            edges =
                samples.iter().map(|samples| choose_edges(samples, states, self.score_smoothing)).collect();
            let pools = edges.iter().zip(&samples).map(|(edges, samples)| pool(edges, samples, states));
            pseudo = Pseudo {
                transition: self.transition_smoothing,
                score: self.score_smoothing,
                pools: pools.collect(),
            };
        }
        let documents: Vec<Vec<Coded>> = documents
            .iter()
            .map(|document| {
                document
                    .iter()
                    .map(|window| Coded { state: window.state, bins: code(edges.iter(), &window.scores) })
                    .collect()
            })
            .collect();
        let temper = self.temper.unwrap_or_else(|| learn_temper(&documents, states, &pseudo));
        let (parameters, _) = estimate(&documents, states, &pseudo, temper, self.rounds);
        let detectors = self
            .detectors
            .iter()
            .zip(edges)
            .map(|(name, edges)| Detector { name: name.clone(), edges })
            .collect();
        Ok(Monitor::from_parts(self.states.clone(), detectors, parameters))
    }

    fn check_settings(&self) -> Result<(), MonitorError> {
        check_names(&self.states, self.detectors.iter().map(String::as_str))?;
        let positive = |setting, given: f64| match given.is_finite() && given > 0.0 {
            true => Ok(()),
            false => Err(MonitorError::Setting { setting, given, wanted: "a number above 0" }),
        };
        positive("the smoothing of transitions", self.transition_smoothing)?;
        positive("the smoothing of scores", self.score_smoothing)?;
        match self.temper {
            Some(given) if !(given > 0.0 && given <= 1.0) => {
                Err(MonitorError::Setting { setting: "the exponent", given, wanted: "above 0 and at most 1" })
            }
            _ => Ok(()),
        }
    }

    fn check_documents(&self, documents: &[Vec<Window>]) -> Result<(), MonitorError> {
        let mut labelled = BTreeSet::new();
        let all = documents
            .iter()
            .enumerate()
            .flat_map(|(document, windows)| windows.iter().enumerate().map(move |(n, w)| (document, n, w)));
        for (document, number, window) in all {
            let (found, wanted) = (window.scores.len(), self.detectors.len());
            if found != wanted {
                return Err(MonitorError::Scores { document, window: number, found, wanted });
            }
            if let Some(state) = window.state {
                let states = self.states.len();
                if state >= states {
                    return Err(MonitorError::Label { document, window: number, state, states });
                }
                labelled.insert(state);
            }
        }
        match self.states.iter().enumerate().find(|(number, _)| !labelled.contains(number)) {
            Some((_, (name, _))) => Err(MonitorError::NoLabels { state: name.clone() }),
            None => Ok(()),
        }
    }
}

/// Checks the names of a model, built or read.
pub(super) fn check_names<'a>(
    states: &[(String, bool)],
    detectors: impl ExactSizeIterator<Item = &'a str>,
) -> Result<(), MonitorError> {
    let appropriate = states.iter().filter(|(_, appropriate)| *appropriate).count();
    let harmful = states.len() - appropriate;
    if appropriate == 0 || harmful == 0 {
        return Err(MonitorError::States { appropriate, harmful });
    }
    if detectors.len() == 0 {
        return Err(MonitorError::NoDetectors);
    }
    let limited = |part, found, limit| match found <= limit {
        true => Ok(()),
        false => Err(MonitorError::TooMany { part, found, limit }),
    };
    limited("states", states.len(), MOST_STATES)?;
    limited("detectors", detectors.len(), MOST_DETECTORS)?;
    distinct("state", states.iter().map(|(name, _)| name.as_str()))?;
    distinct("detector", detectors)
}

fn distinct<'a>(part: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), MonitorError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.trim().is_empty() || !seen.insert(name) {
            return Err(MonitorError::Name { part, name: name.to_owned() });
        }
    }
    Ok(())
}

fn samples(documents: &[Vec<Window>], detector: usize) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (document, windows) in documents.iter().enumerate() {
        samples.extend(windows.iter().filter_map(|window| {
            let score = window.scores.get(detector)?.as_ref()?.value();
            Some(Sample { document, state: window.state?, score })
        }));
    }
    samples
}

/// Counts the labels, then estimates the other labels for some rounds. Also returns the log evidence of the documents
/// before each round.
fn estimate(
    documents: &[Vec<Coded>],
    states: usize,
    pseudo: &Pseudo,
    temper: f64,
    rounds: usize,
) -> (Parameters, Vec<f64>) {
    let mut counts = Counts::none(states, pseudo);
    documents.iter().for_each(|document| counts.add_labelled(document));
    let mut parameters = counts.estimate(pseudo, temper);
    let complete = documents.iter().flatten().all(|window| window.state.is_some());
    let mut history = Vec::new();
    for _ in 0..if complete { 0 } else { rounds } {
        let mut counts = Counts::none(states, pseudo);
        let evidence =
            documents.iter().map(|document| counts.add_expected(document, &parameters)).sum::<f64>();
        history.push(evidence);
        parameters = counts.estimate(pseudo, temper);
    }
    (parameters, history)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The logarithm of the Dirichlet prior, up to a constant.
    fn log_prior(parameters: &Parameters, pseudo: &Pseudo) -> f64 {
        let all = parameters.initial.iter().chain(&parameters.transition);
        let chain: f64 = all.map(|p| pseudo.transition * p.ln()).sum();
        let tables = parameters.log_scores.iter().zip(&pseudo.pools);
        let scores = tables
            .flat_map(|(table, pool)| table.rows().into_iter().map(move |row| (row.to_vec(), pool)))
            .flat_map(|(row, pool)| row.into_iter().zip(pool))
            .map(|(log, share)| pseudo.score * share * log);
        chain + scores.sum::<f64>()
    }

    proptest! {
        #[test]
        fn a_round_never_makes_the_data_less_probable(
            documents in proptest::collection::vec(
                proptest::collection::vec(
                    (proptest::option::weighted(0.3, 0_usize..3), proptest::option::of(0_usize..4), 0_usize..2),
                    0..8,
                ),
                1..6,
            ),
            smoothing in (0.1..3.0_f64, 0.1..3.0_f64),
        ) {
            let coded: Vec<Vec<Coded>> = documents
                .iter()
                .map(|document| {
                    let windows = document.iter();
                    windows.map(|(state, a, b)| Coded { state: *state, bins: vec![*a, Some(*b)] }).collect()
                })
                .collect();
            let pools = vec![vec![0.4, 0.3, 0.2, 0.1], vec![0.5, 0.5]];
            let pseudo = Pseudo { transition: smoothing.0, score: smoothing.1, pools };
            let mut last = f64::NEG_INFINITY;
            for rounds in 1..12 {
                let (before, _) = estimate(&coded, 3, &pseudo, 1.0, rounds - 1);
                let (_, history) = estimate(&coded, 3, &pseudo, 1.0, rounds);
                let Some(evidence) = history.last() else { continue };
                let value = evidence + log_prior(&before, &pseudo);
                prop_assert!(value >= last - 1e-9, "{value} after {last}");
                last = value;
            }
        }
    }
}
