//! Which rule a guard stands for, in the policy's own words.

use std::ops::Range;

use super::{Failure, Hurdle, fails};
use crate::Reason;
use crate::alphabet::{Axis, Valuation};
use crate::guard::Guard;
use crate::policy::{Clause, Policy};
use crate::session::Counted;
use crate::spans::Rule;
use crate::table::Root;

/// A rule's text, and its place where that is known.
type Written = (String, Option<Range<usize>>);

impl Policy {
    /// A guard that fails, as a person reads it. A guard on a valuation that it passes gives its own reason.
    pub(crate) fn hurdle(&self, root: Root, guard: &Guard, valuation: &Valuation) -> Hurdle {
        let (axis, reason) = match fails(guard, valuation) {
            Some(Failure::Refuses(axis, reason)) => (axis, reason),
            Some(Failure::Asks) | None => (guard.axis, guard.reason),
        };
        let (rule, span) = match &guard.clause {
            Some(clause) => self.clause(root, clause),
            None => self.outer_rule(root, guard.axis),
        };
        Hurdle { axis, reason, rule, span }
    }

    /// Why an event without rules is refused.
    pub(crate) fn nothing_said(&self, root: Root) -> Hurdle {
        let (reason, rule, span) = match root {
            Root::Verb(verb) => {
                let rule = format!("the policy has no section `verb {}`", verb.as_str());
                (Reason::UnplannedEffect, rule, None)
            }
            Root::Request(kind, _) if self.requests.contains_key(&kind) => {
                (Reason::DeliveryForbidden, "deliver nothing".to_owned(), self.place(Rule::Request(kind)))
            }
            Root::Request(kind, _) => {
                let rule = format!("the policy has no section `request {}`", kind.as_str());
                (Reason::DeliveryForbidden, rule, None)
            }
        };
        Hurdle { axis: Axis::Plan, reason, rule, span }
    }

    /// The line that asks, or that limits the questions.
    pub(super) fn asking_rule(&self, root: Root, axis: Axis) -> Written {
        match (axis, root, self.session.prompts) {
            (Axis::Prompts, _, Some(limit)) => (format!("at most {limit} prompts"), None),
            (_, Root::Request(kind, _), _) => {
                ("the user is asked".to_owned(), self.place(Rule::Request(kind)))
            }
            (_, Root::Verb(verb), _) => ("the user is asked".to_owned(), self.place(Rule::Verb(verb))),
        }
    }

    pub(crate) fn clause(&self, root: Root, clause: &Clause) -> Written {
        let rule = match root {
            Root::Request(kind, _) => Rule::RequestClause(kind, *clause),
            Root::Verb(verb) => Rule::VerbClause(verb, *clause),
        };
        (clause.to_string(), self.place(rule))
    }

    /// A guard that no clause wrote: a rule about sites or the session, or what every request must meet.
    fn outer_rule(&self, root: Root, axis: Axis) -> Written {
        let sites = || {
            let named = self.sites.iter().enumerate().filter(|(_, site)| site.names(root));
            named.map(|(place, site)| (site.to_string(), self.place(Rule::Site(place)))).collect()
        };
        let bars = |taint: bool| {
            let all = self.session.bars.iter().enumerate();
            let these = all.filter(|(_, bar)| bar.is_taint() == taint && bar.concerns(root));
            these.map(|(place, bar)| (bar.to_string(), self.place(Rule::Bar(place)))).collect()
        };
        let always = |words: &str| (format!("every request: {words}"), None);
        match axis {
            Axis::Site => joined(sites()),
            Axis::Taint => joined(bars(true)),
            Axis::Session => joined(bars(false)),
            Axis::Uses => {
                let event = Counted::of(root);
                let limit = self.session.uses.get(&event).copied().unwrap_or(0);
                (format!("at most {limit} {}", event.as_str()), None)
            }
            Axis::Plan => always("the task planned it"),
            Axis::Document => always("the loaded document is known"),
            Axis::Claim => always("the browser confirms what the model claims"),
            Axis::Amount => always("the amount is within the budget"),
            Axis::Placement => always("every field has a control that suits it"),
            other => always(other.as_str()),
        }
    }

    /// Where a rule stands, if the policy was read from text.
    pub(crate) fn place(&self, rule: Rule) -> Option<Range<usize>> {
        Some(self.spans.of(rule)).filter(|span| !span.is_empty())
    }
}

/// Several rules as one text; the place is that of the first.
fn joined(rules: Vec<Written>) -> Written {
    let span = rules.first().and_then(|(_, span)| span.clone());
    let texts: Vec<String> = rules.into_iter().map(|(text, _)| text).collect();
    (texts.join("; "), span)
}
