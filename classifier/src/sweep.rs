//! A whole text judged window by window.

use std::collections::BTreeMap;
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
/// does not make it less so. Windows that overlap are judged as one, as the worst of them. Of what they cover, those
/// lines are meant that explain the most with the least: a harmful line does not take its neighbours with it, such as the
/// fields of a form that stand around one.
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
        // A window by itself is added up in another order, and may come out a rounding lower than it was flagged with.
        judgement.risk = highest;
        // Lines reach no further than the windows do.
        while let Some(line) = needed.peek().filter(|line| line.start < part.end) {
            let within = line.start.max(part.start)..line.end.min(part.end);
            if !within.is_empty() {
                found.push((within, judgement.clone()));
            }
            // A long line may hold several parts.
            if line.end > part.end {
                break;
            }
            needed.next();
        }
    }
    found
}

/// The lines that explain why windows were flagged: those of the shortest, then of the shortest that does not touch
/// these, and so on. In order, disjoint.
fn needed_lines(text: &str, flagged: &[(Range<usize>, Risk)]) -> Vec<Range<usize>> {
    let breaks: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut order: Vec<&Range<usize>> = flagged.iter().map(|(window, _)| window).collect();
    order.sort_by_key(|window| (window.len(), window.start));
    // Where each line begins, and where it ends.
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
