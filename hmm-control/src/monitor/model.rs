//! The monitor, and the windows that it sees.

use super::histogram::{bin, code};
use super::parameters::Parameters;
use classifier::Risk;
use std::sync::Arc;

/// One window of a document: a score from each detector, in the order in which the detectors were named, and the
/// window's state, if it is labelled.
///
/// A missing score is no evidence, in contrast to [`Risk::NONE`].
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The state's number in the builder; none if it is unknown.
    pub state: Option<usize>,
    /// One entry per detector.
    pub scores: Vec<Option<Risk>>,
}

impl Window {
    /// A window with a known state and a score from every detector.
    pub fn labelled(state: usize, scores: impl IntoIterator<Item = Risk>) -> Window {
        Window { state: Some(state), scores: scores.into_iter().map(Some).collect() }
    }

    /// A window with an unknown state and a score from every detector.
    pub fn unlabelled(scores: impl IntoIterator<Item = Risk>) -> Window {
        Window { state: None, scores: scores.into_iter().map(Some).collect() }
    }
}

/// A detector's name and the edges of its histogram.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Detector {
    pub name: String,
    /// Rising; a score is in the bin whose number is the count of edges at or below it.
    pub edges: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    /// Name, and true if the state is appropriate.
    pub states: Vec<(String, bool)>,
    pub detectors: Vec<Detector>,
    pub parameters: Parameters,
}

/// A hidden Markov model over a document's windows, with a few named states.
///
/// Immutable; a clone shares the numbers, so that one monitor serves all documents and threads. A [`Watch`](super::Watch) follows
/// one document.
///
/// ```
/// use classifier::Risk;
/// use hmm_control::monitor::{Monitor, Window};
///
/// let mut builder = Monitor::builder();
/// let fine = builder.appropriate("appropriate");
/// let scam = builder.harmful("scam");
/// builder.detector("urgency");
///
/// // Three documents; two turn into a scam and stay one.
/// let window = |state, score| Ok(Window::labelled(state, [Risk::new(score)?]));
/// let documents = [
///     [(fine, 0.1), (fine, 0.2), (fine, 0.1), (fine, 0.0)],
///     [(fine, 0.1), (scam, 0.9), (scam, 0.8), (scam, 0.9)],
///     [(fine, 0.0), (fine, 0.1), (scam, 0.7), (scam, 0.9)],
/// ];
/// let documents = documents
///     .map(|document| document.into_iter().map(|(state, score)| window(state, score)).collect())
///     .into_iter()
///     .collect::<Result<Vec<Vec<Window>>, classifier::ScoreError>>()?;
/// let monitor = builder.fit(&documents)?;
///
/// let mut watch = monitor.watch();
/// watch.observe(&[Some(Risk::new(0.1)?)])?;
/// let calm = watch.expectation(3);
/// watch.observe(&[Some(Risk::new(0.95)?)])?;
/// assert!(watch.expectation(3) < calm);
/// assert_eq!(watch.most_likely(), Some(scam));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Monitor {
    pub(super) parts: Arc<Parts>,
}

impl Monitor {
    pub(super) fn from_parts(
        states: Vec<(String, bool)>,
        detectors: Vec<Detector>,
        parameters: Parameters,
    ) -> Monitor {
        Monitor { parts: Arc::new(Parts { states, detectors, parameters }) }
    }

    pub(super) fn parameters(&self) -> &Parameters {
        &self.parts.parameters
    }

    pub(super) fn code(&self, scores: &[Option<Risk>]) -> Vec<Option<usize>> {
        code(self.parts.detectors.iter().map(|detector| &detector.edges), scores)
    }

    /// The states' names, in the order of their numbers.
    pub fn states(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts.states.iter().map(|(name, _)| name.as_str())
    }

    /// A state's number.
    pub fn state(&self, name: &str) -> Option<usize> {
        self.states().position(|state| state == name)
    }

    /// True if a state is appropriate; false for a missing one.
    pub fn is_appropriate(&self, state: usize) -> bool {
        self.parts.states.get(state).is_some_and(|(_, appropriate)| *appropriate)
    }

    /// The detectors' names, in the order of a window's scores.
    pub fn detectors(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts.detectors.iter().map(|detector| detector.name.as_str())
    }

    /// The distribution of the first window's state.
    pub fn initial(&self) -> &[f64] {
        &self.parameters().initial
    }

    /// The transition probability between two states; 0 for a missing one.
    pub fn transition(&self, from: usize, to: usize) -> f64 {
        self.parameters().transition.get((from, to)).copied().unwrap_or(0.0)
    }

    /// The exponent on a window's likelihood, in (0, 1].
    pub fn temper(&self) -> f64 {
        self.parameters().temper
    }

    /// The number of a detector's bins; 1 where the detector is no evidence of the state.
    pub fn bins(&self, detector: usize) -> usize {
        self.parts.detectors.get(detector).map_or(1, |detector| detector.edges.len() + 1)
    }

    /// The probability, in a state, of the bin of a detector's score; 0 for a missing state or detector.
    pub fn score_probability(&self, state: usize, detector: usize, score: Risk) -> f64 {
        let edges = self.parts.detectors.get(detector).map(|detector| detector.edges.as_slice());
        let table = self.parameters().log_scores.get(detector);
        edges
            .zip(table)
            .and_then(|(edges, table)| table.get((state, bin(edges, score.value()))))
            .map_or(0.0, |log| log.exp())
    }
}
