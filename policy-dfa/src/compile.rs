//! From a policy to its automaton.

use std::marker::PhantomData;

use sha2::{Digest, Sha256};

use crate::alphabet::{Axis, Symbol, Valuation, symbol};
use crate::diagram::{Diagrams, Edge};
use crate::error::{Fault, PolicyError};
use crate::guard::{End, Guard, Rules};
use crate::places::Places;
use crate::policy::{Policy, Thresholds};
use crate::session::{Happened, History};
use crate::table::{Outcome, Root, Table};
use crate::{ConsentScope, Reason, check};

/// The mark of a policy about which nothing is proved yet. It cannot decide.
#[derive(Debug)]
pub enum Unchecked {}

/// The mark of a policy whose statements were proved.
#[derive(Debug)]
pub enum Checked {}

/// A compiled policy. Only a `Compiled<Checked>` can decide, and only
/// [`check`](Compiled::check) makes one.
#[derive(Debug)]
pub struct Compiled<State> {
    pub(crate) policy: Policy,
    pub(crate) table: Table,
    pub(crate) places: Places,
    pub(crate) hash: [u8; 32],
    state: PhantomData<State>,
}

impl Policy {
    /// Turns the policy into an automaton over the valuations of the signals.
    ///
    /// # Errors
    /// Where the automaton would have more states than its table can number.
    pub fn compile(&self) -> Result<Compiled<Unchecked>, PolicyError> {
        let mut diagrams = Diagrams::default();
        let roots: Vec<_> = Root::all().map(|root| self.diagram(&mut diagrams, root)).collect();
        let large =
            || PolicyError::new("", vec![Fault::new(0..0, "the policy has too many rules; make it smaller")]);
        let table = Table::flat(&diagrams, &roots).ok_or_else(large)?;
        Compiled::assemble(self.clone(), table).ok_or_else(large)
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
    /// Puts a policy and an automaton together; nothing where its sites are too many.
    pub(crate) fn assemble(policy: Policy, table: Table) -> Option<Compiled<Unchecked>> {
        let places = Places::new(policy.sites.clone())?;
        let hash = Sha256::digest(policy.to_string().as_bytes()).into();
        Some(Compiled { policy, table, places, hash, state: PhantomData })
    }

    /// A policy and an automaton that were read from bytes. The patterns of its sites are not made into an
    /// automaton before it is checked.
    pub(crate) fn loaded(policy: Policy, table: Table, hash: [u8; 32]) -> Compiled<Unchecked> {
        let places = Places::one_by_one(policy.sites.clone());
        Compiled { policy, table, places, hash, state: PhantomData }
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

    /// How many statements there are to prove: the built-in invariants, and those of the policy.
    pub fn statements(&self) -> usize {
        check::BUILT_IN + self.policy.proofs.len()
    }

    /// How many states the automaton has.
    pub fn states(&self) -> usize {
        self.table.len()
    }

    /// The outcome of one walk.
    pub fn outcome(&self, root: Root, valuation: &Valuation) -> Outcome {
        self.table.walk(root, valuation)
    }

    /// The outcome of the same walk, for symbols that are asked for only where it needs them: `read` gives
    /// the place of a symbol on an axis, and must give the same for the same axis.
    ///
    /// What was asked for is what the outcome depends on. So whoever gives every answer in turn goes through
    /// every valuation there is, in far fewer walks than there are valuations. A place that the axis lacks
    /// counts as its last.
    ///
    /// ```
    /// # let text = include_str!("../../policies/default.policy");
    /// use policy_dfa::{Axis, Outcome, Policy, Reason, Root, VerbKind};
    ///
    /// let compiled = Policy::parse(text).unwrap().compile().unwrap();
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

    /// The history after something happened.
    pub fn after(&self, history: History, happened: Happened) -> History {
        self.policy.session.step(history, happened)
    }

    pub(crate) fn marked<Other>(self) -> Compiled<Other> {
        let Compiled { policy, table, places, hash, .. } = self;
        Compiled { policy, table, places: places.ready(), hash, state: PhantomData }
    }
}

impl std::fmt::Display for Compiled<Checked> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, version) = (self.policy.name(), self.policy.version());
        let (statements, states) = (self.statements(), self.states());
        write!(f, "{name} version {version}: {statements} statements proved over {states} states")
    }
}

/// The diagram of one chain of guards, made from its end. Asking comes last, so that nobody is asked about
/// what would be refused anyway; a soft guard that failed only moves the walk to the chain that asks.
fn chain(diagrams: &mut Diagrams, guards: &[Guard], end: End) -> Edge {
    let mut asking = consent(diagrams, end.scope.unwrap_or(ConsentScope::EveryTime), end);
    let mut plain = match end.scope {
        Some(_) => asking,
        None => diagrams.outcome(end.grant),
    };
    for guard in guards.iter().rev() {
        let fails =
            if guard.soft { asking } else { diagrams.outcome(Outcome::Deny(guard.axis, guard.reason)) };
        (plain, asking) = (link(diagrams, guard, plain, fails), link(diagrams, guard, asking, fails));
    }
    plain
}

/// One guard before what follows when it passes.
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

fn consent(diagrams: &mut Diagrams, scope: ConsentScope, end: End) -> Edge {
    let grant = diagrams.outcome(end.grant);
    let refused = diagrams.outcome(Outcome::Deny(Axis::Consent, Reason::ConsentDenied));
    let expired = diagrams.outcome(Outcome::Deny(Axis::Consent, Reason::ConsentExpired));
    let ask = diagrams.outcome(Outcome::Ask(scope));
    let spent = diagrams.outcome(Outcome::Deny(Axis::Prompts, Reason::BudgetSpent));
    let prompt = if end.counted {
        let under = diagrams.is(symbol::Prompts::Under);
        diagrams.select(under, ask, spent)
    } else {
        ask
    };
    diagrams.state(Axis::Consent, |place| match place {
        place if place == symbol::Consent::None.index() => prompt,
        place if place == symbol::Consent::Given.index() => grant,
        place if place == symbol::Consent::Refused.index() => refused,
        _ => expired,
    })
}
