//! Warnings, and the facts about a policy that they are based on.

use std::collections::BTreeSet;
use std::ops::Range;

use sirl::{Field, Tier};

use crate::automaton::cube::Cube;
use crate::automaton::diagram::Diagrams;
use crate::decision::partial::Partial;
use crate::language::policy::Policy;
use crate::language::session::Trigger;
use crate::language::spans::RuleId;
use crate::vocabulary::alphabet::{Axis, mask, symbol};
use crate::vocabulary::event::{EventKind, Root, Subject};
use crate::vocabulary::outcome::Outcome;

/// A warning about a policy. The policy can be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The problem, in one lower-case sentence.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// The location in bytes of the text; none for a rule whose location is not stored.
    pub span: Option<Range<usize>>,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

/// The outcomes that are possible under a policy.
pub(super) struct Facts {
    /// The events that can be granted.
    pub(super) granted: BTreeSet<EventKind>,
    /// The roots that can be granted or asked about.
    pub(super) permitted: Vec<Root>,
    /// Whether any event can be asked about.
    pub(super) asks: bool,
}

impl Facts {
    pub(super) fn of(policy: &Policy) -> Facts {
        let mut diagrams = Diagrams::default();
        let mut facts = Facts { granted: BTreeSet::new(), permitted: Vec::new(), asks: false };
        for root in Root::all().filter(|root| policy.can_occur(*root)) {
            if policy.unsatisfiable_only_site(EventKind::of(root)).is_some() {
                continue;
            }
            let walked = policy.diagram(&mut diagrams, root);
            let here = diagrams.region(&policy.feasible(root));
            let mut can = |matches: fn(Outcome) -> bool| {
                let region = diagrams.where_ends(walked, matches);
                diagrams.and(region, here) != Diagrams::NOTHING
            };
            let granted = can(|outcome| matches!(outcome, Outcome::Grant(_)));
            let asked = can(|outcome| matches!(outcome, Outcome::Ask(_)));
            facts.asks |= asked;
            facts.granted.extend(granted.then(|| EventKind::of(root)));
            facts.permitted.extend((granted || asked).then_some(root));
        }
        facts
    }

    /// Whether a trigger can happen.
    pub(super) fn can_begin(&self, trigger: Trigger) -> bool {
        match trigger {
            Trigger::SuspectedInjection => true,
            Trigger::Refusal => self.asks,
            Trigger::Kind(kind) => self.granted.contains(&EventKind::Request(kind)),
            Trigger::Verb(verb) => self.granted.contains(&EventKind::Verb(verb)),
        }
    }
}

impl Policy {
    /// The roots of an event that can occur.
    pub(super) fn roots_of(&self, event: EventKind) -> impl Iterator<Item = Root> {
        Root::all().filter(move |root| EventKind::of(*root) == event && self.can_occur(*root))
    }

    /// The valuations that are possible for an event under this policy.
    pub(super) fn feasible(&self, root: Root) -> Cube {
        let mut cube = Partial::of(root).0;
        let mut never = |axis, symbols| cube = cube.narrowed(axis, symbols).unwrap_or(cube);
        if self.session.uses.get(&EventKind::of(root)) == Some(&0) {
            never(Axis::Uses, mask(&[symbol::Uses::Spent]));
        }
        if self.session.prompts == Some(0) {
            never(Axis::Prompts, mask(&[symbol::Prompts::Spent]));
        }
        cube
    }

    /// A warning where a rule names a tier that no field has.
    pub(super) fn empty_tier_warning(&self, subject: Subject, rule: &str, at: RuleId) -> Option<Warning> {
        let Subject::Tier(tier) = subject else { return None };
        let has = Field::ALL.into_iter().any(|field| self.tier(field) == tier);
        // T0 as a subject means every release, so it need not be the tier of a field.
        (!has && tier > Tier::T0).then(|| Warning {
            message: format!(
                "no field is {tier}, so {rule} is about higher tiers alone",
                tier = tier.as_str()
            ),
            help: "name the tier that is meant, or put a field into this one".to_owned(),
            span: self.span_of(at),
        })
    }
}
