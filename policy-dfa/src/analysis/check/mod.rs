//! The checker: proofs of the statements about a policy, with a counterexample where one does not hold.
//!
//! A walk through the automaton ends in one outcome for a whole cube of valuations. The cubes of a root are disjoint
//! and fill the space. So a proof that goes through each cube, or through each pair of cubes for a statement about two
//! valuations, covers every valuation. A statement about a session is proved over every possible history. Of the cases
//! that contradict a statement, the one with the fewest signals is reported.

mod equivalence;
mod history;
mod invariants;
mod violation;

use std::ops::Range;

pub use violation::{Violation, Violations};

use crate::automaton::compile::{Checked, Compiled, Unchecked};
use crate::automaton::cube::Cube;
use crate::language::policy::Proof;
use crate::language::spans::RuleId;
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;
use invariants::{INVARIANTS, PAIRS, contradicting_pair};
use violation::{Paths, shortest, violation, without_named_axes};

/// The number of statements that every policy is checked for.
const BUILT_IN: usize = equivalence::STATEMENTS.len() + INVARIANTS.len() + PAIRS.len();

/// One statement about a policy, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement, in plain words or as the policy has it.
    pub words: String,
    /// Its location in bytes of the policy's text; none for a built-in statement.
    pub span: Option<Range<usize>>,
    /// A case in which it does not hold, if there is one.
    pub violation: Option<Violation>,
}

impl Compiled<Unchecked> {
    /// Proves the built-in invariants and the policy's own `prove` lines over every valuation.
    ///
    /// # Errors
    /// Every statement that does not hold, each with a counterexample. If the automaton is not that of the rules, which
    /// is possible only for one that was loaded from bytes, this is the only violation.
    ///
    /// ```
    /// use policy_dfa::{EXAMPLE_POLICY, Policy};
    ///
    /// let careless = EXAMPLE_POLICY.replace("container covers the fields", "container T0");
    /// let violations = Policy::parse(&careless).unwrap().compile().unwrap().check().unwrap_err();
    /// assert!(violations[0].to_string().contains("container is T0"));
    /// ```
    pub fn check(self) -> Result<Compiled<Checked>, Violations> {
        // A forged table may have more paths than can be followed. So the comparison with the rules, which does not
        // follow paths, comes first.
        if let Some(violation) = equivalence::difference(&self) {
            return Err(Violations(vec![violation]));
        }
        let violations: Vec<_> = self.examine().into_iter().filter_map(|one| one.violation).collect();
        if violations.is_empty() { Ok(self.with_state()) } else { Err(Violations(violations)) }
    }

    /// Every statement, with a counterexample where it does not hold: the built-in ones first, then those
    /// of the policy, in its order.
    pub fn examine(&self) -> Vec<Statement> {
        let built_in = |words: &str, violation| Statement { words: words.to_owned(), span: None, violation };
        // The other statements mean nothing for a table that is incomplete or is not that of the rules.
        let mut found: Vec<Statement> = equivalence::examine(self)
            .into_iter()
            .map(|(words, violation)| built_in(words, violation))
            .collect();
        let roots: Paths = Root::all()
            .filter(|root| self.policy.can_occur(*root))
            .map(|root| (root, self.table.paths(root)))
            .collect();
        found.extend(INVARIANTS.iter().map(|(words, contradicts)| {
            let case = shortest(&roots, |root, cube, outcome| {
                let part = contradicts(self, root, cube, outcome)?;
                Some(violation((*words).to_owned(), root, (cube, &part), outcome))
            });
            built_in(words, case)
        }));
        found.extend(PAIRS.iter().map(|pair| built_in(pair.words, contradicting_pair(pair, &roots))));
        found.extend(self.policy.proofs.iter().enumerate().map(|(index, proof)| {
            let span = self.policy.spans.of(RuleId::Proof(index));
            Statement { words: format!("`{proof}`"), span, violation: self.refute(proof, &roots) }
        }));
        found
    }

    /// A counterexample to a statement of the policy, if there is one.
    fn refute(&self, proof: &Proof, roots: &Paths) -> Option<Violation> {
        if let Proof::NeverGrant { subject, conditions, after: Some(trigger) } = proof {
            return history::refute(self, proof, (*subject, conditions, *trigger), roots);
        }
        shortest(roots, |root, cube, outcome| {
            let part = contradicted(proof, cube, outcome).filter(|_| proof.subject().includes(root))?;
            Some(violation(format!("`{proof}`"), root, (&without_named_axes(*cube, proof), &part), outcome))
        })
    }
}

impl<State> Compiled<State> {
    /// The number of statements to prove: the built-in invariants and those of the policy.
    pub fn statements(&self) -> usize {
        BUILT_IN + self.policy.proofs.len()
    }
}

impl std::fmt::Display for Compiled<Checked> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, version) = (self.policy.name(), self.policy.version());
        let (statements, states) = (self.statements(), self.states());
        write!(f, "{name} version {version}: {statements} statements proved over {states} states")
    }
}

/// The part of a cube that contradicts a statement, if there is one.
fn contradicted(proof: &Proof, cube: &Cube, outcome: Outcome) -> Option<Cube> {
    match (proof, outcome) {
        (Proof::NeverGrant { conditions, .. }, Outcome::Grant(_)) => conditions
            .iter()
            .try_fold(*cube, |cube, condition| cube.narrowed(condition.axis, condition.symbols)),
        (Proof::NeverDeliver { delivery, .. }, Outcome::Grant(Some(granted))) if *delivery == granted => {
            Some(*cube)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
