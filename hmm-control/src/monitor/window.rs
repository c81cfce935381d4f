//! One window of a document, as the monitor sees it.

use classifier::Risk;

/// One window of a document: a score from each detector, in the order in which the detectors were named, and the
/// window's state where somebody labelled it.
///
/// A detector that gave no score has none: that says nothing of the window, while [`Risk::NONE`] says a lot.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The state's number, as the builder gave it; none where nobody knows.
    pub state: Option<usize>,
    /// One entry a detector.
    pub scores: Vec<Option<Risk>>,
}

impl Window {
    /// A window whose state is known and that every detector scored.
    pub fn labelled(state: usize, scores: impl IntoIterator<Item = Risk>) -> Window {
        Window { state: Some(state), scores: scores.into_iter().map(Some).collect() }
    }

    /// A window whose state nobody knows and that every detector scored.
    pub fn unlabelled(scores: impl IntoIterator<Item = Risk>) -> Window {
        Window { state: None, scores: scores.into_iter().map(Some).collect() }
    }
}
