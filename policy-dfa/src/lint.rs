//! What looks wrong with a policy though it means something: rules that change nothing, and statements that
//! say nothing.

mod clauses;
mod proofs;
mod session;
mod sites;

use std::collections::BTreeSet;
use std::ops::Range;

use sirl::Kind;

use crate::cube::Cube;
use crate::diagram::Diagrams;
use crate::policy::{Policy, Test};
use crate::session::Counted;
use crate::spans::Rule;
use crate::table::{Outcome, Root};
use crate::words::VERBS;
use crate::{Partial, VerbKind, symbol};

/// Something that its author should look at again. The policy can be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What is odd, in one lower-case sentence.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// The place, in bytes of the text; none for a rule whose place is not kept.
    pub span: Option<Range<usize>>,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl Policy {
    /// Rules that change nothing, events that can never be granted though the policy describes them, and
    /// statements that hold whatever it says. All rules named as changing nothing can be removed together.
    ///
    /// It takes some compiling: milliseconds, more for a policy with hundreds of clauses.
    ///
    /// ```
    /// # let text = include_str!("../../policies/default.policy");
    /// use policy_dfa::Policy;
    ///
    /// assert!(Policy::parse(text).unwrap().warnings().is_empty());
    /// let twice = text.replacen("container covers the fields", "container covers the fields container T0", 1);
    /// let warning = &Policy::parse(&twice).unwrap().warnings()[0];
    /// assert_eq!(
    ///     warning.message,
    ///     "`container T0` changes nothing for `address`: `container covers the fields` says it already"
    /// );
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        let facts = Facts::of(self);
        let mut found = Vec::new();
        found.extend(self.unused_thresholds());
        found.extend(self.never_granted(&facts));
        found.extend(self.idle_clauses());
        found.extend(self.idle_sites());
        found.extend(self.idle_limits(&facts));
        found.extend(self.idle_bars(&facts));
        found.extend(self.empty_proofs(&facts));
        found.sort_by_key(|warning| warning.span.as_ref().map(|span| span.start));
        found
    }

    fn unused_thresholds(&self) -> Option<Warning> {
        let used = |rule: &crate::policy::RequestRule| {
            !rule.deliver.is_empty() && rule.clauses.iter().any(|clause| clause.test == Test::Safety)
        };
        (self.thresholds.is_some() && !self.requests.values().any(used)).then(|| Warning {
            message: "the thresholds are never used: no request says `safety reaches the threshold`"
                .to_owned(),
            help: "add that clause where it matters, or remove the thresholds".to_owned(),
            span: None,
        })
    }

    /// What the policy describes and can never grant.
    fn never_granted(&self, facts: &Facts) -> Vec<Warning> {
        let kinds = self.requests.iter().filter(|(_, rule)| !rule.deliver.is_empty());
        let kinds = kinds.map(|(kind, _)| (Counted::Kind(*kind), Rule::Request(*kind)));
        let verbs = self.verbs.keys().map(|verb| (Counted::Verb(*verb), Rule::Verb(*verb)));
        let dead = kinds.chain(verbs).filter(|(event, _)| !facts.granted.contains(event));
        dead.map(|(event, rule)| {
            let why = match self.unmeetable(event) {
                Some(rule) => format!("`{rule}` can never hold for it"),
                None => "its rules can never hold together".to_owned(),
            };
            Warning {
                message: format!("`{}` can never be granted: {why}", event.as_str()),
                help: "change that rule, or say that it is never granted".to_owned(),
                span: self.place(rule),
            }
        })
        .collect()
    }

    /// A rule that refuses an event whatever happens.
    fn unmeetable(&self, event: Counted) -> Option<String> {
        if let Some(only) = self.nowhere(event) {
            return Some(only);
        }
        self.roots_of(event).find_map(|root| {
            let crate::guard::Rules::Chain(guards, _) = self.rules(root) else { return None };
            let cube = self.feasible(root);
            let always = guards.into_iter().find(|guard| {
                guard.when.is_none() && !guard.soft && cube.mask(guard.axis) & guard.pass == 0
            })?;
            Some(self.hurdle(root, &always, &cube.witness()).rule)
        })
    }

    /// The starts of an event that can occur.
    fn roots_of(&self, event: Counted) -> impl Iterator<Item = Root> {
        Root::all().filter(move |root| Counted::of(*root) == event && self.can_occur(*root))
    }

    /// What can hold of an event at all under this policy.
    fn feasible(&self, root: Root) -> Cube {
        let mut cube = Partial::of(root).0;
        let mut never = |axis, symbols| cube = cube.narrowed(axis, symbols).unwrap_or(cube);
        if self.session.uses.get(&Counted::of(root)) == Some(&0) {
            never(crate::Axis::Uses, crate::alphabet::mask(&[symbol::Uses::Spent]));
        }
        if self.session.prompts == Some(0) {
            never(crate::Axis::Prompts, crate::alphabet::mask(&[symbol::Prompts::Spent]));
        }
        cube
    }
}

/// What can happen under a policy.
struct Facts {
    /// What can be granted.
    granted: BTreeSet<Counted>,
    /// The starts that can be granted or asked about.
    opened: Vec<Root>,
    /// Whether anything can be asked about.
    asks: bool,
}

impl Facts {
    fn of(policy: &Policy) -> Facts {
        let mut diagrams = Diagrams::default();
        let mut facts = Facts { granted: BTreeSet::new(), opened: Vec::new(), asks: false };
        for root in Root::all().filter(|root| policy.can_occur(*root)) {
            if policy.nowhere(Counted::of(root)).is_some() {
                continue;
            }
            let walked = policy.diagram(&mut diagrams, root);
            let here = diagrams.region(&policy.feasible(root));
            let mut can = |sort: fn(Outcome) -> bool| {
                let region = diagrams.where_ends(walked, sort);
                diagrams.and(region, here) != Diagrams::NOTHING
            };
            let granted = can(|outcome| matches!(outcome, Outcome::Grant(_)));
            let asked = can(|outcome| matches!(outcome, Outcome::Ask(_)));
            facts.asks |= asked;
            facts.granted.extend(granted.then(|| Counted::of(root)));
            facts.opened.extend((granted || asked).then_some(root));
        }
        facts
    }
}

/// Every event that a policy can name.
fn events() -> impl Iterator<Item = Counted> {
    let verbs = VERBS.into_iter().map(|(verb, _): (VerbKind, _)| Counted::Verb(verb));
    Kind::ALL.into_iter().map(Counted::Kind).chain(verbs)
}
