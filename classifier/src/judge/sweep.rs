//! Judges a whole text window by window.

use std::collections::BTreeMap;
use std::ops::Range;

use super::score::Risk;
use super::window::{Judgement, Window, WindowClassifier, WindowPlace, windows};
use crate::unfold::{Disguise, Unfolded};

/// A part of a text whose risk is at or above a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The part, in bytes of the text as it was given, on character boundaries.
    pub span: Range<usize>,
    /// The judgement of its worst window. The spans of the reasons are those of the normalised window.
    pub judgement: Judgement,
    /// The disguise, if it was hidden.
    pub disguise: Option<Disguise>,
}

/// Returns the parts of a text at or above a risk, in order of their start.
///
/// The text is unfolded first, and judged both as it is and as it is after decoding. It is judged in overlapping
/// windows (see [`windows()`]), and each counts by itself: harmless text around a harmful text does not lower the
/// risk. Windows that overlap count as one, with the risk of the worst. Of the lines that they cover, only the fewest
/// that explain the risk are returned: a harmful line does not include its neighbours, such as the fields of a form
/// around it.
///
/// The time is linear in the length of the text if the classifier's is.
pub fn sweep(text: &str, place: WindowPlace, judge: &dyn WindowClassifier, at_least: Risk) -> Vec<Suspect> {
    sweep_unfolded(&Unfolded::new(text), place, judge, at_least)
}

/// Does the same for a text that is unfolded already, for instance because several classifiers judge it.
pub fn sweep_unfolded(
    unfolded: &Unfolded,
    place: WindowPlace,
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

/// Returns the risk of a text's worst window, decoded texts included.
pub fn highest_risk(unfolded: &Unfolded, place: WindowPlace, judge: &dyn WindowClassifier) -> Risk {
    let readings = std::iter::once(unfolded.plain().text())
        .chain(unfolded.decoded().iter().map(|decoded| decoded.text.text()));
    readings
        .flat_map(|text| judge.risks(text, place, &windows(text)))
        .fold(Risk::NONE, |worst, risk| if risk > worst { risk } else { worst })
}

/// Returns the parts of a normalised text at or above a risk, with the judgement of the worst window of each.
fn parts(
    text: &str,
    place: WindowPlace,
    judge: &dyn WindowClassifier,
    at_least: Risk,
) -> Vec<(Range<usize>, Judgement)> {
    let windows = windows(text);
    let risks = judge.risks(text, place, &windows);
    let flagged: Vec<(Range<usize>, Risk)> =
        windows.into_iter().zip(risks).filter(|(_, risk)| *risk >= at_least).collect();
    let needed = needed_lines(text, &flagged);
    let mut needed = needed.into_iter().peekable();
    let mut parts: Vec<(Range<usize>, Range<usize>, Risk)> = Vec::new();
    for (window, risk) in flagged {
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
    let mut found = Vec::new();
    for (part, worst, highest) in parts {
        let Some(worst) = text.get(worst) else { continue };
        let mut judgement = judge.judge(&Window { text: worst, place });
        // The sum of a single window is computed in another order, and may be lower by a rounding error than the one
        // that flagged it.
        judgement.risk = highest;
        // Lines are cut to the windows.
        while let Some(line) = needed.peek().filter(|line| line.start < part.end) {
            let within = line.start.max(part.start)..line.end.min(part.end);
            if !within.is_empty() {
                found.push((within, judgement.clone()));
            }
            // A long line may contain several parts.
            if line.end > part.end {
                break;
            }
            needed.next();
        }
    }
    found
}

/// Returns the lines that explain why windows were flagged: those of the shortest window, then of the shortest that
/// does not overlap these, and so on. They are in order and disjoint.
fn needed_lines(text: &str, flagged: &[(Range<usize>, Risk)]) -> Vec<Range<usize>> {
    let breaks: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut order: Vec<&Range<usize>> = flagged.iter().map(|(window, _)| window).collect();
    order.sort_by_key(|window| (window.len(), window.start));
    // The start and the end of each line.
    let mut lines: BTreeMap<usize, usize> = BTreeMap::new();
    for window in order {
        if lines.range(..window.end).next_back().is_some_and(|(_, end)| *end > window.start) {
            continue;
        }
        let from = breaks.partition_point(|at| *at < window.start);
        let to = breaks.partition_point(|at| *at < window.end);
        let start = from.checked_sub(1).and_then(|at| breaks.get(at)).map_or(0, |at| at + 1);
        let end = breaks.get(to).copied().unwrap_or(text.len());
        lines.insert(start, end);
    }
    lines.into_iter().map(|(start, end)| start..end).collect()
}
