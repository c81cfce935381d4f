//! What remains possible of an event with what is known of it.

use super::Partial;
use crate::Reason;
use crate::alphabet::{Symbol, symbol};
use crate::compile::Compiled;
use crate::diagram::{Diagrams, Edge};
use crate::explanation::Hurdle;
use crate::guard::Rules;
use crate::policy::Condition;
use crate::table::{Outcome, Root};

/// The best that can become of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prospect {
    /// It is refused, whatever the open signals turn out to be.
    Never,
    /// It may be granted, but only after the user was asked.
    Asking,
    /// It may be granted without a question.
    Granted,
}

/// What remains possible of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Possible {
    /// The best that can become of it.
    pub prospect: Prospect,
    /// What the open signals must be for that; several parts are several ways, and may overlap. What is known
    /// already is not said again. Empty where it is never granted.
    pub conditions: Vec<Partial>,
    /// Where it is never granted: the rules that fail whatever the open signals turn out to be. Empty if each
    /// of them could be met, but not all together.
    pub hurdles: Vec<Hurdle>,
    /// Where it is never granted: every reason that the answer can have.
    pub reasons: Vec<Reason>,
}

impl<State> Compiled<State> {
    /// What remains possible of an event, with what is known of it.
    ///
    /// Where the user may not have answered yet, a yes counts as a question to come; an answer that is known
    /// does not.
    ///
    /// ```
    /// # let text = include_str!("../../../policies/default.policy");
    /// use policy_dfa::{Partial, Policy, Prospect, Root, symbol};
    /// use sirl::{Kind, Tier};
    ///
    /// let policy = Policy::parse(text).unwrap().compile().unwrap().check().unwrap();
    /// let low = Partial::anything().among(&[symbol::Container::T0]).unwrap();
    /// let address = policy.possible(Root::Request(Kind::Address, Tier::T2), &low);
    /// assert_eq!(address.prospect, Prospect::Never);
    /// assert_eq!(address.hurdles[0].rule, "container covers the fields");
    /// ```
    pub fn possible(&self, root: Root, known: &Partial) -> Possible {
        let mut diagrams = Diagrams::default();
        let walked = self.table.diagram(&mut diagrams, root);
        let here = diagrams.region(&known.0);
        // Where the user may not have answered yet, a question lies before every yes.
        let none = diagrams.is(symbol::Consent::None);
        let unanswered = diagrams.and(here, none);
        let unasked = if unanswered == Diagrams::NOTHING { here } else { unanswered };
        let granted = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Grant(_)));
        let asked = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Ask(_)));
        let at_once = diagrams.and(granted, unasked);
        if at_once != Diagrams::NOTHING {
            return opened(&mut diagrams, Prospect::Granted, at_once, granted, here);
        }
        let open = diagrams.or(granted, asked);
        let open_here = diagrams.and(open, here);
        if open_here != Diagrams::NOTHING {
            // What the user will say is not a condition that anything known can meet.
            let answered = diagrams.project(open_here, symbol::Consent::AXIS);
            let known = diagrams.project(here, symbol::Consent::AXIS);
            return opened(&mut diagrams, Prospect::Asking, answered, answered, known);
        }
        let mut reasons = Vec::new();
        for (cube, outcome) in self.table.paths(root) {
            if let (Outcome::Deny(_, reason), Some(_)) = (outcome, cube.meet(&known.0))
                && !reasons.contains(&reason)
            {
                reasons.push(reason);
            }
        }
        let hurdles = self.hurdles(root, known);
        Possible { prospect: Prospect::Never, conditions: Vec::new(), hurdles, reasons }
    }

    /// The rules that fail for every valuation of a part.
    fn hurdles(&self, root: Root, known: &Partial) -> Vec<Hurdle> {
        let Rules::Chain(guards, _) = self.policy.rules(root) else {
            return vec![self.policy.nothing_said(root)];
        };
        let certain = guards.into_iter().filter(|guard| {
            let symbols = |axis| known.0.mask(axis);
            // A condition on an unknown refuses as well.
            let applies = |when: &Condition| symbols(when.axis) & !(when.symbols | when.axis.unknown()) == 0;
            let asks = guard.soft && symbols(guard.axis) & !guard.axis.unknown() != 0;
            guard.when.as_ref().is_none_or(applies) && !asks && symbols(guard.axis) & guard.pass == 0
        });
        certain.map(|guard| self.policy.hurdle(root, &guard, &known.0.witness())).collect()
    }
}

/// What must hold of the open signals for `region`; beyond what is known anything may be said, and nothing
/// is said of the signals that no answer here depends on.
fn opened(diagrams: &mut Diagrams, prospect: Prospect, region: Edge, allowed: Edge, known: Edge) -> Possible {
    let elsewhere = diagrams.not(known);
    let allowed = diagrams.or(allowed, elsewhere);
    let conditions = diagrams.cover(region, allowed).into_iter().map(Partial).collect();
    Possible { prospect, conditions, hurdles: Vec::new(), reasons: Vec::new() }
}

impl std::fmt::Display for Possible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.prospect {
            Prospect::Never => "never",
            Prospect::Asking => "only after asking",
            Prospect::Granted => "may be granted without asking",
        })?;
        let unconditional = self.conditions.iter().any(|part| *part == Partial::anything());
        for (place, part) in self.conditions.iter().enumerate().filter(|_| !unconditional) {
            write!(f, "{}{part}", if place == 0 { ", where " } else { "; or where " })?;
        }
        for hurdle in &self.hurdles {
            write!(f, "\n  {hurdle}")?;
        }
        if self.hurdles.is_empty() && !self.reasons.is_empty() {
            let codes: Vec<String> = self.reasons.iter().map(|reason| reason.code()).collect();
            write!(f, ": {}", codes.join(", "))?;
        }
        Ok(())
    }
}
