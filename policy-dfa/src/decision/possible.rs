//! Partial evaluation: the outcomes that an event can still have.

use super::failed_rule::FailedRule;
use super::partial::Partial;
use crate::automaton::compile::Compiled;
use crate::automaton::diagram::{Diagrams, Edge};
use crate::automaton::guards::Rules;
use crate::language::clause::Condition;
use crate::vocabulary::alphabet::{Symbol, symbol};
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;
use crate::vocabulary::reason::Reason;

/// The best outcome that an event can still have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prospect {
    /// It is refused, whatever the open signals turn out to be.
    Never,
    /// It may be granted, but only with the user's consent.
    NeedsConsent,
    /// It may be granted without a prompt.
    Granted,
}

/// The outcomes that an event can still have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Possible {
    /// The best of them.
    pub prospect: Prospect,
    /// The conditions on the open signals for that outcome. Each part is sufficient, and parts may overlap. Known
    /// signals are left out. Empty where the event is never granted.
    pub conditions: Vec<Partial>,
    /// Where the event is never granted, the rules that fail whatever the open signals turn out to be. Empty if each
    /// rule could be met, but not all together.
    pub failed_rules: Vec<FailedRule>,
    /// Where the event is never granted, every reason that the denial can have.
    pub reasons: Vec<Reason>,
}

impl<State> Compiled<State> {
    /// The outcomes that an event can still have, with this knowledge.
    ///
    /// While the user's answer is open, a grant that depends on it needs consent. A known answer counts as it is.
    ///
    /// ```
    /// use policy_dfa::{EXAMPLE_POLICY, Partial, Policy, Prospect, Root, symbol};
    /// use sirl::{Kind, Tier};
    ///
    /// let policy = Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap().check().unwrap();
    /// let low = Partial::anything().among(&[symbol::Container::T0]).unwrap();
    /// let address = policy.possible(Root::Request(Kind::Address, Tier::T2), &low);
    /// assert_eq!(address.prospect, Prospect::Never);
    /// assert_eq!(address.failed_rules[0].rule, "container covers the fields");
    /// ```
    pub fn possible(&self, root: Root, known: &Partial) -> Possible {
        let mut diagrams = Diagrams::default();
        let walked = self.table.diagram(&mut diagrams, root);
        let here = diagrams.region(&known.0);
        // While the answer of the user is open, assume that no answer is there yet.
        let none = diagrams.is(symbol::Consent::None);
        let unanswered = diagrams.and(here, none);
        let before_prompt = if unanswered == Diagrams::NOTHING { here } else { unanswered };
        let granted = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Grant(_)));
        let asked = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Ask(_)));
        let at_once = diagrams.and(granted, before_prompt);
        if at_once != Diagrams::NOTHING {
            return conditions(&mut diagrams, Prospect::Granted, at_once, granted, here);
        }
        let open = diagrams.or(granted, asked);
        let open_here = diagrams.and(open, here);
        if open_here != Diagrams::NOTHING {
            // The answer of the user is no condition on the open signals.
            let answered = diagrams.project(open_here, symbol::Consent::AXIS);
            let known = diagrams.project(here, symbol::Consent::AXIS);
            return conditions(&mut diagrams, Prospect::NeedsConsent, answered, answered, known);
        }
        let mut reasons = Vec::new();
        for (cube, outcome) in self.table.paths(root) {
            if let (Outcome::Deny(_, reason), Some(_)) = (outcome, cube.intersect(&known.0))
                && !reasons.contains(&reason)
            {
                reasons.push(reason);
            }
        }
        let failed_rules = self.certain_failures(root, known);
        Possible { prospect: Prospect::Never, conditions: Vec::new(), failed_rules, reasons }
    }

    /// The rules that fail for every valuation of a partial one.
    fn certain_failures(&self, root: Root, known: &Partial) -> Vec<FailedRule> {
        let Rules::Chain(guards, _) = self.policy.rules(root) else {
            return vec![self.policy.missing_rules(root)];
        };
        let certain = guards.into_iter().filter(|guard| {
            let symbols = |axis| known.0.mask(axis);
            // A guard whose condition is unknown refuses as well.
            let applies = |when: &Condition| symbols(when.axis) & !(when.symbols | when.axis.unknown()) == 0;
            let asks = guard.soft && symbols(guard.axis) & !guard.axis.unknown() != 0;
            guard.when.as_ref().is_none_or(applies) && !asks && symbols(guard.axis) & guard.pass == 0
        });
        certain.map(|guard| self.policy.failed_rule(root, &guard, &known.0.witness())).collect()
    }
}

/// The conditions on the open signals for `region`. Valuations outside of `known` cannot occur, so a condition may
/// include them, which keeps it short.
fn conditions(
    diagrams: &mut Diagrams,
    prospect: Prospect,
    region: Edge,
    allowed: Edge,
    known: Edge,
) -> Possible {
    let elsewhere = diagrams.not(known);
    let allowed = diagrams.or(allowed, elsewhere);
    let conditions = diagrams.cover(region, allowed).into_iter().map(Partial).collect();
    Possible { prospect, conditions, failed_rules: Vec::new(), reasons: Vec::new() }
}

impl std::fmt::Display for Possible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.prospect {
            Prospect::Never => "never",
            Prospect::NeedsConsent => "only after asking",
            Prospect::Granted => "may be granted without asking",
        })?;
        let unconditional = self.conditions.iter().any(|part| *part == Partial::anything());
        for (index, part) in self.conditions.iter().enumerate().filter(|_| !unconditional) {
            write!(f, "{}{part}", if index == 0 { ", where " } else { "; or where " })?;
        }
        for rule in &self.failed_rules {
            write!(f, "\n  {rule}")?;
        }
        if self.failed_rules.is_empty() && !self.reasons.is_empty() {
            let codes: Vec<String> = self.reasons.iter().map(|reason| reason.code()).collect();
            write!(f, ": {}", codes.join(", "))?;
        }
        Ok(())
    }
}
