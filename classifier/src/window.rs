//! What judges a window of text, and what it says.

use std::ops::Range;

use crate::{Place, Risk};

/// A piece of text to be judged by itself: a sentence or some, a few hundred characters.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The text, folded (see [`crate::Normalised`]).
    pub text: &'a str,
    /// Where it stood.
    pub place: Place,
}

/// Why a window was judged as it was: a part of it, and how much that part added.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The part, in bytes of the window's text, on character boundaries.
    pub span: Range<usize>,
    /// What it added to the log odds of harm; below 0 where it spoke for harmlessness.
    pub weight: f32,
}

/// A judgement of one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// How likely the window is harmful, calibrated where the classifier is [`Calibrated`].
    pub risk: Risk,
    /// The parts that weighed most, heaviest first; a few.
    pub reasons: Vec<Reason>,
}

/// Something that judges windows of text.
///
/// Any text may be given; the time is linear in its length. A framework plugs its own model in by implementing
/// this, and gives it calibrated risks by [`Calibrated`].
pub trait WindowClassifier: Send + Sync {
    /// The risk alone, as cheaply as can be.
    fn risk(&self, window: &Window<'_>) -> Risk;

    /// The risk and what it rests on.
    fn judge(&self, window: &Window<'_>) -> Judgement {
        Judgement { risk: self.risk(window), reasons: Vec::new() }
    }

    /// The risks of many windows of one text, each as if it stood alone. A classifier that can share work between
    /// windows that overlap does it here. A window that is not on character boundaries of the text is certain harm.
    fn risks(&self, text: &str, place: Place, windows: &[Range<usize>]) -> Vec<Risk> {
        let risk = |part: &Range<usize>| {
            text.get(part.clone()).map_or(Risk::CERTAIN, |text| self.risk(&Window { text, place }))
        };
        windows.iter().map(risk).collect()
    }
}

/// A classifier whose risks are frequencies: of the windows that it gives the risk r, a share of r is harmful.
pub trait Calibrated: WindowClassifier {
    /// The least risk at which at most this share of harmless windows was flagged on the development split; `None`
    /// where the model was not measured at that rate.
    fn threshold(&self, false_positive_rate: f64) -> Option<Risk>;

    /// The expected calibration error that was measured, in `[0, 1]`.
    fn calibration_error(&self) -> f64;
}
