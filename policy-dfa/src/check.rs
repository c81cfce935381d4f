//! The proofs: what must hold of every valuation, and a counterexample where it does not.
//!
//! A walk through the automaton ends in one outcome for a whole cube of valuations. The cubes of a root
//! are disjoint and fill the space, so looking at each of them, and for statements about two valuations at
//! each pair, is looking at every valuation there is. Statements about a session follow every history that
//! there can be. Of the cases that contradict a statement the one that needs the fewest signals is told.

mod foreign;
mod history;
mod invariants;
mod order;
mod pairs;
mod violation;

use std::ops::Range;

use sirl::{Field, Kind};

pub use violation::Violation;

use crate::compile::{Checked, Compiled, Unchecked};
use crate::cube::Cube;
use crate::policy::Proof;
use crate::spans::Rule;
use crate::table::{Outcome, Root};
use invariants::INVARIANTS;

/// How many statements every policy is checked for.
pub(crate) const BUILT_IN: usize = order::STATEMENTS.len() + INVARIANTS.len() + pairs::STATEMENTS.len();

/// The ways from each root to its outcomes.
type Paths = Vec<(Root, Vec<(Cube, Outcome)>)>;

/// One statement about a policy, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement, in plain words or as the policy wrote it.
    pub words: String,
    /// Where the policy states it, in bytes of its text; none for the built-in ones.
    pub span: Option<Range<usize>>,
    /// A case in which it does not hold, if there is one.
    pub violation: Option<Violation>,
}

impl Compiled<Unchecked> {
    /// Proves the built-in invariants and the policy's own `prove` lines over every valuation.
    ///
    /// # Errors
    /// Every statement that does not hold, each with a case in which it does not. Where the automaton is not
    /// that of the rules, which only one that was loaded from bytes can be, that alone.
    ///
    /// ```
    /// use policy_dfa::Policy;
    ///
    /// # let shipped = include_str!("../../policies/default.policy");
    /// let careless = shipped.replace("container covers the fields", "container T0");
    /// let violations = Policy::parse(&careless).unwrap().compile().unwrap().check().unwrap_err();
    /// assert!(violations[0].to_string().contains("container is T0"));
    /// ```
    pub fn check(self) -> Result<Compiled<Checked>, Vec<Violation>> {
        // A table that was read from bytes may have more ways through it than could ever be followed, so that
        // whether it is the policy's own comes first.
        let [_, own, _] = order::STATEMENTS;
        if let Some(violation) = foreign::examine(&self, own) {
            return Err(vec![violation]);
        }
        let violations: Vec<_> = self.examine().into_iter().filter_map(|one| one.violation).collect();
        if violations.is_empty() { Ok(self.marked()) } else { Err(violations) }
    }

    /// Every statement, with a counterexample where it does not hold: the built-in ones first, then those
    /// of the policy, in its order.
    pub fn examine(&self) -> Vec<Statement> {
        let built_in = |words: &str, violation| Statement { words: words.to_owned(), span: None, violation };
        // What is said of a table that is not the policy's, or has a hole, would say nothing.
        let mut found: Vec<Statement> =
            order::examine(self).into_iter().map(|(words, violation)| built_in(words, violation)).collect();
        let roots: Paths = Root::all()
            .filter(|root| self.can_occur(*root))
            .map(|root| (root, self.table.paths(root)))
            .collect();
        found.extend(INVARIANTS.iter().map(|(words, contradicts)| {
            let case = shortest(&roots, |root, cube, outcome| {
                let part = contradicts(self, root, cube, outcome)?;
                Some(violation::violation((*words).to_owned(), root, (cube, &part), outcome))
            });
            built_in(words, case)
        }));
        found.extend(
            pairs::STATEMENTS.iter().map(|pair| built_in(pair.words, pairs::contradiction(pair, &roots))),
        );
        found.extend(self.policy.proofs.iter().enumerate().map(|(place, proof)| {
            let span = self.policy.spans.of(Rule::Proof(place));
            let span = if span.is_empty() { None } else { Some(span) };
            Statement { words: format!("`{proof}`"), span, violation: self.refute(proof, &roots) }
        }));
        found
    }

    /// A case in which a statement of the policy does not hold.
    fn refute(&self, proof: &Proof, roots: &Paths) -> Option<Violation> {
        if let Proof::NeverGrant { subject, conditions, after: Some(trigger) } = proof {
            return history::refute(self, proof, (*subject, conditions, *trigger), roots);
        }
        shortest(roots, |root, cube, outcome| {
            let part = contradicted(proof, cube, outcome).filter(|_| proof.subject().includes(root))?;
            Some(violation::violation(format!("`{proof}`"), root, (&forgot(*cube, proof), &part), outcome))
        })
    }

    /// Whether any request can start at a root: a purchase always needs the card, and a kind needs one of
    /// the tiers of its fields.
    pub(crate) fn can_occur(&self, root: Root) -> bool {
        self.policy.can_occur(root)
    }
}

impl crate::Policy {
    /// Whether any event can start at a root.
    pub(crate) fn can_occur(&self, root: Root) -> bool {
        match root {
            Root::Verb(_) => true,
            Root::Request(Kind::Purchase, need) => need == self.tiers.need(crate::valuation::card()),
            Root::Request(kind, need) => {
                kind.allowed_fields().iter().any(|field: Field| self.tiers.of(field) == need)
            }
        }
    }
}

/// Of all cases that contradict, the one that needs the fewest signals.
fn shortest(
    roots: &Paths,
    contradicts: impl Fn(Root, &Cube, Outcome) -> Option<Violation>,
) -> Option<Violation> {
    let cases = roots.iter().flat_map(|(root, paths)| paths.iter().map(move |(cube, out)| (root, cube, out)));
    let found = cases.filter_map(|(root, cube, outcome)| contradicts(*root, cube, *outcome));
    found.min_by_key(Violation::size)
}

/// The cube without what it says of the signals that a statement names: they are why it fails.
fn forgot(cube: Cube, proof: &Proof) -> Cube {
    match proof {
        Proof::NeverGrant { conditions, .. } => {
            conditions.iter().fold(cube, |cube, named| cube.freed(named.axis))
        }
        Proof::NeverDeliver { .. } => cube,
    }
}

fn contradicted(proof: &Proof, cube: &Cube, outcome: Outcome) -> Option<Cube> {
    match (proof, outcome) {
        (Proof::NeverGrant { conditions, .. }, Outcome::Grant(_)) => conditions
            .iter()
            .try_fold(*cube, |cube, condition| cube.narrowed(condition.axis, condition.symbols)),
        (Proof::NeverDeliver { delivery, .. }, Outcome::Grant(Some(way))) if *delivery == way => Some(*cube),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
