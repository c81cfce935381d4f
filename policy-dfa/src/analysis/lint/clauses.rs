//! Clauses that change nothing: the policy without them compiles to the same automaton.

use super::warning::Warning;
use crate::automaton::diagram::Diagrams;
use crate::language::clause::{Clause, Test};
use crate::language::policy::Policy;
use crate::language::spans::RuleId;
use crate::vocabulary::event::EventKind;
use crate::vocabulary::outcome::Delivery;

/// The most clauses for which the warning names the clause that makes another one redundant, since that compiles each
/// pair.
const MAX_COMPARED: usize = 32;

impl Policy {
    /// Clauses without which every outcome is the same, and deliveries that are never used.
    pub(super) fn redundant_clauses(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        for event in EventKind::all() {
            let mut rest = self.clone();
            let mut index = rest.clauses(event).len();
            // The search goes from the last to the first and drops each redundant clause at once, so that all of them
            // can be removed together.
            while index > 0 {
                index -= 1;
                let less = rest.without(event, index);
                if !rest.is_equivalent(&less, event) {
                    continue;
                }
                let Some(clause) = rest.clauses(event).get(index).copied() else { continue };
                found.push(self.redundant(event, &clause, rest.covering_clause(event, index)));
                rest = less;
            }
        }
        for (kind, rule) in &self.requests {
            // `ucp` is used wherever it stands: an order at a shop's endpoint is an event of its own.
            let is_used =
                |delivery: &Delivery| Some(*delivery) == rule.in_page() || *delivery == Delivery::Ucp;
            for delivery in rule.deliver.iter().filter(|delivery| !is_used(delivery)) {
                let first = rule.in_page().map_or("", Delivery::as_str);
                let used: Vec<_> =
                    rule.deliver.iter().filter(|way| is_used(way)).map(|way| way.as_str()).collect();
                found.push(Warning {
                    message: format!(
                        "`{}` is never delivered by `{}`: a grant goes by the first way named, `{first}`",
                        kind.as_str(),
                        delivery.as_str()
                    ),
                    help: format!("write: deliver {}", used.join(" or ")),
                    span: self.span_of(RuleId::Request(*kind)),
                });
            }
        }
        found
    }

    fn redundant(&self, event: EventKind, clause: &Clause, other: Option<Clause>) -> Warning {
        let nothing = match event {
            EventKind::Request(kind) => self.requests.get(&kind).is_some_and(|rule| rule.deliver.is_empty()),
            EventKind::Verb(_) => false,
        };
        let no_control = match event {
            EventKind::Request(kind) => {
                let rule = self.requests.get(&kind).filter(|_| clause.test == Test::Visible);
                rule.is_some_and(|rule| rule.in_page().is_none())
            }
            EventKind::Verb(_) => false,
        };
        let why = match other {
            _ if nothing => "nothing of it is delivered".to_owned(),
            _ if no_control => "an order by `ucp` fills no control".to_owned(),
            Some(other) => format!("`{other}` says it already"),
            None => "the rules around it say it already".to_owned(),
        };
        let rule = match event {
            EventKind::Request(kind) => RuleId::RequestClause(kind, *clause),
            EventKind::Verb(verb) => RuleId::VerbClause(verb, *clause),
        };
        Warning {
            message: format!("`{clause}` changes nothing for `{}`: {why}", event.as_str()),
            help: "remove it".to_owned(),
            span: self.span_of(rule),
        }
    }

    fn clauses(&self, event: EventKind) -> &[Clause] {
        match event {
            EventKind::Request(kind) => self.requests.get(&kind).map_or(&[], |rule| &rule.clauses),
            EventKind::Verb(verb) => self.verbs.get(&verb).map_or(&[], Vec::as_slice),
        }
    }

    fn without(&self, event: EventKind, index: usize) -> Policy {
        let mut less = self.clone();
        let clauses = match event {
            EventKind::Request(kind) => less.requests.get_mut(&kind).map(|rule| &mut rule.clauses),
            EventKind::Verb(verb) => less.verbs.get_mut(&verb),
        };
        if let Some(clauses) = clauses.filter(|clauses| index < clauses.len()) {
            clauses.remove(index);
        }
        less
    }

    /// Whether two policies have the same outcomes for an event, reasons included.
    fn is_equivalent(&self, other: &Policy, event: EventKind) -> bool {
        let mut diagrams = Diagrams::default();
        self.roots_of(event)
            .all(|root| self.diagram(&mut diagrams, root) == other.diagram(&mut diagrams, root))
    }

    /// A clause without which the one at `index` would not be redundant.
    fn covering_clause(&self, event: EventKind, index: usize) -> Option<Clause> {
        let clauses = self.clauses(event);
        if clauses.len() > MAX_COMPARED {
            return None;
        }
        let others = (0..clauses.len()).filter(|other| *other != index);
        let implies = |other: &usize| {
            let rest = self.without(event, *other);
            let index = if *other < index { index - 1 } else { index };
            !rest.is_equivalent(&rest.without(event, index), event)
        };
        others.into_iter().find(implies).and_then(|other| clauses.get(other).copied())
    }
}
