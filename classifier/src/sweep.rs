//! A whole text judged window by window.

use std::ops::Range;

use crate::{Disguise, Judgement, Place, Risk, Unfolded, Window, WindowClassifier};

/// A part of a text that was judged at or above a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The part, in bytes of the text as it was given, on character boundaries.
    pub span: Range<usize>,
    /// What was said of it.
    pub judgement: Judgement,
    /// How it was hidden, where it was.
    pub disguise: Option<Disguise>,
}

/// The parts of a text at or above a risk, in order.
pub fn sweep(text: &str, place: Place, judge: &dyn WindowClassifier, at_least: Risk) -> Vec<Suspect> {
    let unfolded = Unfolded::new(text);
    let judgement = judge.judge(&Window { text: unfolded.plain().text(), place });
    if judgement.risk < at_least {
        return Vec::new();
    }
    vec![Suspect { span: 0..text.len(), judgement, disguise: None }]
}
