//! The compiler: from a policy to its automaton.

use std::marker::PhantomData;

use sha2::{Digest, Sha256};

use super::diagram::{Diagrams, Edge};
use super::guards::{End, Guard, Rules};
use super::site_matcher::SiteMatcher;
use super::table::Table;
use crate::language::error::{Fault, PolicyError};
use crate::language::policy::{Policy, Thresholds};
use crate::vocabulary::alphabet::{Axis, Symbol, Valuation, symbol};
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::{ConsentScope, Outcome};
use crate::vocabulary::reason::Reason;

/// The typestate of a policy about which nothing is proved yet. It cannot decide.
#[derive(Debug)]
pub enum Unchecked {}

/// The typestate of a policy whose statements are proved.
#[derive(Debug)]
pub enum Checked {}

/// A compiled policy. Only a `Compiled<Checked>` can decide, and only
/// [`check`](Compiled::check) makes one.
#[derive(Debug)]
pub struct Compiled<State> {
    pub(crate) policy: Policy,
    pub(crate) table: Table,
    pub(crate) sites: SiteMatcher,
    pub(crate) hash: [u8; 32],
    state: PhantomData<State>,
}

impl Policy {
    /// Turns the policy into an automaton over the valuations of the signals.
    ///
    /// # Errors
    /// The automaton has more states than a table can number.
    pub fn compile(&self) -> Result<Compiled<Unchecked>, PolicyError> {
        let mut diagrams = Diagrams::default();
        let roots: Vec<_> = Root::all().map(|root| self.diagram(&mut diagrams, root)).collect();
        let large =
            || PolicyError::new("", vec![Fault::new(0..0, "the policy has too many rules; make it smaller")]);
        let table = Table::flat(&diagrams, &roots).ok_or_else(large)?;
        Ok(Compiled::assemble(self.clone(), table))
    }

    /// The diagram of one event.
    pub(crate) fn diagram(&self, diagrams: &mut Diagrams, root: Root) -> Edge {
        match self.rules(root) {
            Rules::Fixed(outcome) => diagrams.outcome(outcome),
            Rules::Chain(guards, end) => chain(diagrams, &guards, end),
        }
    }
}

impl Compiled<Unchecked> {
    /// A policy with its automaton.
    pub(crate) fn assemble(policy: Policy, table: Table) -> Compiled<Unchecked> {
        let hash = Sha256::digest(policy.to_string().as_bytes()).into();
        Compiled::loaded(policy, table, hash)
    }

    /// A policy and an automaton that were read from bytes, with the hash of its text.
    pub(crate) fn loaded(policy: Policy, table: Table, hash: [u8; 32]) -> Compiled<Unchecked> {
        let sites = SiteMatcher::new(&policy.sites);
        Compiled { policy, table, sites, hash, state: PhantomData }
    }
}

impl<State> Compiled<State> {
    /// The policy it was made from.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The SHA-256 of the policy's canonical text.
    pub fn policy_hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The safety thresholds, where the policy names them.
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.policy.thresholds
    }

    /// The number of states of the automaton.
    pub fn states(&self) -> usize {
        self.table.len()
    }

    /// The outcome of the walk for a valuation.
    pub fn outcome(&self, root: Root, valuation: &Valuation) -> Outcome {
        self.table.walk(root, valuation)
    }

    /// The outcome of the same walk with symbols that are read on demand: `read` returns the index of a symbol on
    /// an axis, and must return the same index for the same axis.
    ///
    /// The outcome depends only on the axes that were read. So a caller that enumerates every answer of `read`
    /// covers every valuation, in far fewer walks than there are valuations. An index that the axis lacks counts as
    /// its last.
    ///
    /// ```
    /// use policy_dfa::{Axis, EXAMPLE_POLICY, Outcome, Policy, Reason, Root, VerbKind};
    ///
    /// let compiled = Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap();
    /// let mut asked = Vec::new();
    /// let outcome = compiled.outcome_by(Root::Verb(VerbKind::Submit), |axis| {
    ///     asked.push(axis);
    ///     1 // another origin than the task's
    /// });
    /// assert_eq!(outcome, Outcome::Deny(Axis::Origin, Reason::OriginMismatch));
    /// assert_eq!(asked, [Axis::Origin]);
    /// ```
    pub fn outcome_by(&self, root: Root, mut read: impl FnMut(Axis) -> u8) -> Outcome {
        self.table.follow(root, |axis| {
            let last = axis.symbols().len().saturating_sub(1);
            read(axis).min(u8::try_from(last).unwrap_or(u8::MAX))
        })
    }

    /// The same policy in another typestate. The caller must have proved what the typestate promises.
    pub(crate) fn with_state<Other>(self) -> Compiled<Other> {
        let Compiled { policy, table, sites, hash, .. } = self;
        Compiled { policy, table, sites, hash, state: PhantomData }
    }
}

/// The diagram of one chain of guards, built from its end. The prompt comes last, so that the user is asked only
/// about events that no guard refuses. A soft guard that failed moves the walk to a second chain, which ends with
/// a prompt each time, whatever the policy says of consent otherwise, and whatever the task's mandate covers.
fn chain(diagrams: &mut Diagrams, guards: &[Guard], end: End) -> Edge {
    let mut prompting = consent(diagrams, ConsentScope::EveryTime, false, end);
    let mut plain = match end.scope {
        Some(scope) => consent(diagrams, scope, end.mandate, end),
        None => diagrams.outcome(end.grant),
    };
    for guard in guards.iter().rev() {
        let fails =
            if guard.soft { prompting } else { diagrams.outcome(Outcome::Deny(guard.axis, guard.reason)) };
        (plain, prompting) = (link(diagrams, guard, plain, fails), link(diagrams, guard, prompting, fails));
    }
    plain
}

/// One guard in front of the diagram `next`, which follows when it passes.
fn link(diagrams: &mut Diagrams, guard: &Guard, next: Edge, fails: Edge) -> Edge {
    let unknown = diagrams.outcome(Outcome::Deny(guard.axis, guard.axis.unknown_reason()));
    let passes = diagrams.test(guard.axis, guard.pass);
    let unclear = diagrams.test(guard.axis, guard.axis.unknown());
    let failed = diagrams.select(unclear, unknown, fails);
    let read = diagrams.select(passes, next, failed);
    let Some(when) = guard.when else { return read };
    let unknown = diagrams.outcome(Outcome::Deny(when.axis, when.axis.unknown_reason()));
    let applies = diagrams.test(when.axis, when.symbols);
    let unclear = diagrams.test(when.axis, when.axis.unknown());
    let skipped = diagrams.select(unclear, unknown, next);
    diagrams.select(applies, read, skipped)
}

fn consent(diagrams: &mut Diagrams, scope: ConsentScope, mandate: bool, end: End) -> Edge {
    let grant = diagrams.outcome(end.grant);
    let refused = diagrams.outcome(Outcome::Deny(Axis::Consent, Reason::ConsentDenied));
    let expired = diagrams.outcome(Outcome::Deny(Axis::Consent, Reason::ConsentExpired));
    let ask = diagrams.outcome(Outcome::Ask(scope));
    let spent = diagrams.outcome(Outcome::Deny(Axis::Prompts, Reason::QuestionsSpent));
    let prompt = if end.counted {
        let under = diagrams.is(symbol::Prompts::Under);
        diagrams.select(under, ask, spent)
    } else {
        ask
    };
    diagrams.state(Axis::Consent, |index| match index {
        index if index == symbol::Consent::None.index() => prompt,
        index if index == symbol::Consent::Given.index() => grant,
        index if index == symbol::Consent::Refused.index() => refused,
        index if index == symbol::Consent::Expired.index() => expired,
        _ if mandate => grant,
        // A mandate that the policy does not let in is no answer.
        _ => prompt,
    })
}
