//! Violations: statements that do not hold, with a counterexample, and the paths in which it is searched.

use crate::automaton::cube::Cube;
use crate::decision::history::SessionEvent;
use crate::language::policy::Proof;
use crate::vocabulary::alphabet::{Axis, Valuation};
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;

/// A statement that does not hold, with one counterexample.
///
/// The case can be replayed: walking from [`root`](Violation::root) with
/// [`valuation`](Violation::valuation) gives [`outcome`](Violation::outcome).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The statement, in plain words or as the policy has it.
    pub statement: String,
    /// The event of the case.
    pub root: Root,
    /// The signals of the case.
    pub valuation: Valuation,
    /// The outcome of the case.
    pub outcome: Outcome,
    /// The signals that contradict the statement.
    pub because: Vec<Axis>,
    /// The other signals that the outcome depends on. Signals in neither list do not matter.
    pub given: Vec<Axis>,
    /// For a statement about a session, the earlier events since the task began.
    pub history: Vec<SessionEvent>,
    /// For a statement about two cases, the outcome of the other case and its difference.
    pub but: Option<String>,
}

/// The error of a policy for which statements do not hold. It dereferences to a slice of at least one violation, and its message has a
/// line for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(pub(super) Vec<Violation>);

impl std::ops::Deref for Violations {
    type Target = [Violation];

    fn deref(&self) -> &[Violation] {
        &self.0
    }
}

impl IntoIterator for Violations {
    type Item = Violation;
    type IntoIter = std::vec::IntoIter<Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl std::fmt::Display for Violations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, violation) in self.0.iter().enumerate() {
            let line = if at == 0 { "" } else { "\n" };
            write!(f, "{line}{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}

impl Violation {
    /// The number of signals and events that the message lists.
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
        write!(f, "{} is {}", self.root, outcome_in_words(self.outcome))?;
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

/// An outcome in words.
pub(super) fn outcome_in_words(outcome: Outcome) -> String {
    match outcome {
        Outcome::Deny(_, reason) => format!("refused ({})", reason.code()),
        Outcome::Ask(_) => "asked".to_owned(),
        Outcome::Grant(None) => "granted".to_owned(),
        Outcome::Grant(Some(delivery)) => format!("granted by {}", delivery.as_str()),
    }
}

/// A violation with one case of `part`, which is the part of a path's `cube` that contradicts the statement.
pub(super) fn violation(
    statement: String,
    root: Root,
    (cube, part): (&Cube, &Cube),
    outcome: Outcome,
) -> Violation {
    let (because, given) = part.constrained_axes().partition(|axis| part.mask(*axis) != cube.mask(*axis));
    let (valuation, history) = (part.witness(), Vec::new());
    Violation { statement, root, valuation, outcome, because, given, history, but: None }
}

/// The paths from each root to its outcomes.
pub(super) type Paths = Vec<(Root, Vec<(Cube, Outcome)>)>;

/// The counterexample with the fewest signals.
pub(super) fn shortest(
    roots: &Paths,
    contradicts: impl Fn(Root, &Cube, Outcome) -> Option<Violation>,
) -> Option<Violation> {
    let cases = roots.iter().flat_map(|(root, paths)| paths.iter().map(move |(cube, out)| (root, cube, out)));
    let found = cases.filter_map(|(root, cube, outcome)| contradicts(*root, cube, *outcome));
    found.min_by_key(Violation::size)
}

/// The cube without its constraints on the signals that a statement names. A violation lists those signals as the
/// cause.
pub(super) fn without_named_axes(cube: Cube, proof: &Proof) -> Cube {
    match proof {
        Proof::NeverGrant { conditions, .. } => {
            conditions.iter().fold(cube, |cube, named| cube.freed(named.axis))
        }
        Proof::NeverDeliver { .. } => cube,
    }
}
