//! A counterexample.

use crate::alphabet::{Axis, Valuation};
use crate::cube::Cube;
use crate::session::Happened;
use crate::table::{Outcome, Root};

/// A statement that does not hold, with one case in which it does not.
///
/// The case can be replayed: walking from [`root`](Violation::root) with
/// [`valuation`](Violation::valuation) gives [`outcome`](Violation::outcome).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The statement, in plain words or as the policy wrote it.
    pub statement: String,
    /// What is decided in the case.
    pub root: Root,
    /// The signals of the case.
    pub valuation: Valuation,
    /// What the policy answers.
    pub outcome: Outcome,
    /// The signals that make it a contradiction.
    pub because: Vec<Axis>,
    /// The other signals on which the case depends; those that are in neither list do not matter.
    pub given: Vec<Axis>,
    /// For a statement about a session: what happens before, from the beginning of the task.
    pub history: Vec<Happened>,
    /// For a statement about two cases: what the other one answers and what sets it apart.
    pub but: Option<String>,
}

impl Violation {
    /// How much there is to read.
    pub(super) fn size(&self) -> usize {
        self.because.len() + self.given.len() + self.history.len()
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let facts = |axes: &[Axis]| {
            let each = axes.iter().map(|axis| format!("{} is {}", axis.as_str(), self.valuation.name(*axis)));
            each.collect::<Vec<_>>().join(", ")
        };
        write!(f, "{}: but ", self.statement)?;
        if !self.history.is_empty() {
            let steps: Vec<_> = self.history.iter().map(ToString::to_string).collect();
            write!(f, "after {}, ", steps.join(", then "))?;
        }
        write!(f, "{} is {}", self.root, answer(self.outcome))?;
        if !self.because.is_empty() {
            write!(f, " where {}", facts(&self.because))?;
        }
        if !self.given.is_empty() {
            write!(f, " (given that {})", facts(&self.given))?;
        }
        match &self.but {
            Some(but) => write!(f, "; {but}"),
            None => Ok(()),
        }
    }
}

/// An answer in words.
pub(super) fn answer(outcome: Outcome) -> String {
    match outcome {
        Outcome::Deny(_, reason) => format!("refused ({})", reason.code()),
        Outcome::Ask(_) => "asked".to_owned(),
        Outcome::Grant(None) => "granted".to_owned(),
        Outcome::Grant(Some(way)) => format!("granted by {}", way.as_str()),
    }
}

/// A violation in one case of `part`, which is the part of a path's `cube` that contradicts.
pub(super) fn violation(
    statement: String,
    root: Root,
    (cube, part): (&Cube, &Cube),
    outcome: Outcome,
) -> Violation {
    let (because, given) = part.limits().partition(|axis| part.mask(*axis) != cube.mask(*axis));
    let (valuation, history) = (part.witness(), Vec::new());
    Violation { statement, root, valuation, outcome, because, given, history, but: None }
}
