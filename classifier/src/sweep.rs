//! A whole text judged window by window.

use std::ops::Range;

use crate::{Disguise, Judgement, Place, Risk, Unfolded, Window, WindowClassifier, windows};

/// A part of a text that was judged at or above a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The part, in bytes of the text as it was given, on character boundaries.
    pub span: Range<usize>,
    /// What was said of its worst window. The spans of the reasons are those of the folded window.
    pub judgement: Judgement,
    /// How it was hidden, where it was.
    pub disguise: Option<Disguise>,
}

/// The parts of a text at or above a risk, in order of where they begin.
///
/// The text is unfolded first, and judged as it reads and as it reads once what is hidden in it is decoded. It is
/// judged by overlapping windows (see [`windows()`]), and each counts by itself: harmless text around a harmful one
/// does not make it less so. Windows that overlap are one part, with the judgement of the worst of them.
///
/// The time is linear in the text's length if the classifier's is.
pub fn sweep(text: &str, place: Place, judge: &dyn WindowClassifier, at_least: Risk) -> Vec<Suspect> {
    sweep_unfolded(&Unfolded::new(text), place, judge, at_least)
}

/// The same for a text that is unfolded already, for instance because several classifiers judge it.
pub fn sweep_unfolded(
    unfolded: &Unfolded,
    place: Place,
    judge: &dyn WindowClassifier,
    at_least: Risk,
) -> Vec<Suspect> {
    let mut suspects: Vec<Suspect> = parts(unfolded.plain().text(), place, judge, at_least)
        .into_iter()
        .map(|(part, judgement)| Suspect { span: unfolded.plain().original(part), judgement, disguise: None })
        .collect();
    for decoded in unfolded.decoded() {
        let found = parts(decoded.text.text(), place, judge, at_least).into_iter();
        suspects.extend(found.map(|(part, judgement)| Suspect {
            span: decoded.text.original(part),
            judgement,
            disguise: Some(decoded.disguise),
        }));
    }
    suspects.sort_by_key(|suspect| (suspect.span.start, suspect.span.end));
    suspects
}

/// The risk of a text's worst window, in any of its readings.
pub fn highest_risk(unfolded: &Unfolded, place: Place, judge: &dyn WindowClassifier) -> Risk {
    let readings = std::iter::once(unfolded.plain().text())
        .chain(unfolded.decoded().iter().map(|decoded| decoded.text.text()));
    readings
        .flat_map(|text| judge.risks(text, place, &windows(text)))
        .fold(Risk::NONE, |worst, risk| if risk > worst { risk } else { worst })
}

/// The parts of a folded text at or above a risk, and the judgement of the worst window of each.
fn parts(
    text: &str,
    place: Place,
    judge: &dyn WindowClassifier,
    at_least: Risk,
) -> Vec<(Range<usize>, Judgement)> {
    let windows = windows(text);
    let risks = judge.risks(text, place, &windows);
    let mut parts: Vec<(Range<usize>, Range<usize>, Risk)> = Vec::new();
    for (window, risk) in windows.into_iter().zip(risks).filter(|(_, risk)| *risk >= at_least) {
        match parts.last_mut() {
            Some((part, worst, highest)) if window.start < part.end => {
                part.end = part.end.max(window.end);
                if risk > *highest {
                    (*worst, *highest) = (window, risk);
                }
            }
            _ => parts.push((window.clone(), window, risk)),
        }
    }
    parts
        .into_iter()
        .filter_map(|(part, worst, _)| Some((part, judge.judge(&Window { text: text.get(worst)?, place }))))
        .collect()
}
