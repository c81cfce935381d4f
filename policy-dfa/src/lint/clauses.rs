//! Clauses that change nothing, shown by compiling without them.

use super::Warning;
use crate::diagram::Diagrams;
use crate::policy::{Clause, Policy};
use crate::session::Counted;
use crate::spans::Rule;

/// With more clauses than this, it is not looked for which of them says what another says: each pair would
/// be compiled.
const MANY: usize = 32;

impl Policy {
    /// Clauses without which every answer is the same, and ways that nothing is delivered by.
    pub(super) fn idle_clauses(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        for event in super::events() {
            let mut rest = self.clone();
            let mut place = rest.clauses(event).len();
            // From the last to the first, each without those named before, so that all can be removed.
            while place > 0 {
                place -= 1;
                let less = rest.without(event, place);
                if !rest.same(&less, event) {
                    continue;
                }
                let Some(clause) = rest.clauses(event).get(place).copied() else { continue };
                found.push(self.idle(event, &clause, rest.says_it_too(event, place)));
                rest = less;
            }
        }
        for (kind, rule) in &self.requests {
            for way in rule.deliver.iter().skip(1) {
                let first = rule.deliver.first().map_or("", |way| way.as_str());
                found.push(Warning {
                    message: format!(
                        "`{}` is never delivered by `{}`: a grant goes by the first way named, `{first}`",
                        kind.as_str(),
                        way.as_str()
                    ),
                    help: format!("write: deliver {first}"),
                    span: self.place(Rule::Request(*kind)),
                });
            }
        }
        found
    }

    fn idle(&self, event: Counted, clause: &Clause, other: Option<Clause>) -> Warning {
        let nothing = match event {
            Counted::Kind(kind) => self.requests.get(&kind).is_some_and(|rule| rule.deliver.is_empty()),
            Counted::Verb(_) => false,
        };
        let why = match other {
            _ if nothing => "nothing of it is delivered".to_owned(),
            Some(other) => format!("`{other}` says it already"),
            None => "the rules around it say it already".to_owned(),
        };
        let rule = match event {
            Counted::Kind(kind) => Rule::RequestClause(kind, *clause),
            Counted::Verb(verb) => Rule::VerbClause(verb, *clause),
        };
        Warning {
            message: format!("`{clause}` changes nothing for `{}`: {why}", event.as_str()),
            help: "remove it".to_owned(),
            span: self.place(rule),
        }
    }

    fn clauses(&self, event: Counted) -> &[Clause] {
        match event {
            Counted::Kind(kind) => self.requests.get(&kind).map_or(&[], |rule| &rule.clauses),
            Counted::Verb(verb) => self.verbs.get(&verb).map_or(&[], Vec::as_slice),
        }
    }

    fn without(&self, event: Counted, place: usize) -> Policy {
        let mut less = self.clone();
        let clauses = match event {
            Counted::Kind(kind) => less.requests.get_mut(&kind).map(|rule| &mut rule.clauses),
            Counted::Verb(verb) => less.verbs.get_mut(&verb),
        };
        if let Some(clauses) = clauses.filter(|clauses| place < clauses.len()) {
            clauses.remove(place);
        }
        less
    }

    /// Whether two policies answer the same for an event, reasons included.
    fn same(&self, other: &Policy, event: Counted) -> bool {
        let mut diagrams = Diagrams::default();
        self.roots_of(event)
            .all(|root| self.diagram(&mut diagrams, root) == other.diagram(&mut diagrams, root))
    }

    /// A clause without which the one at `place` would matter.
    fn says_it_too(&self, event: Counted, place: usize) -> Option<Clause> {
        let clauses = self.clauses(event);
        if clauses.len() > MANY {
            return None;
        }
        let others = (0..clauses.len()).filter(|other| *other != place);
        let implies = |other: &usize| {
            let rest = self.without(event, *other);
            let place = if *other < place { place - 1 } else { place };
            !rest.same(&rest.without(event, place), event)
        };
        others.into_iter().find(implies).and_then(|other| clauses.get(other).copied())
    }
}
