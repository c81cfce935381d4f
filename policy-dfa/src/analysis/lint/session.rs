//! Limits and `after` rules that change nothing.

use std::collections::{HashSet, VecDeque};

use super::warning::{Facts, Warning};
use crate::decision::history::{History, SessionEvent};
use crate::language::policy::Policy;
use crate::language::session::{Bar, SessionRule, Trigger};
use crate::language::spans::RuleId;
use crate::vocabulary::event::{EventKind, Root};

/// The most histories that are searched. Beyond them the rule counts as one that changes something.
const MAX_STATES: usize = 1 << 14;

impl Policy {
    /// Limits on events that never happen.
    pub(super) fn redundant_limits(&self, facts: &Facts) -> Vec<Warning> {
        let redundant = |rule: String, why: String| Warning {
            message: format!("`at most {rule}` changes nothing: {why}"),
            help: "remove the limit".to_owned(),
            span: None,
        };
        let dead = self.session.uses.iter().filter(|(event, most)| {
            // With a limit of zero, the limit itself is why the event is never granted. An event that a section
            // describes has its own warning.
            !facts.granted.contains(event) && **most > 0 && !self.describes(**event)
        });
        let mut found: Vec<Warning> = dead
            .map(|(event, most)| {
                redundant(
                    format!("{most} {}", event.as_str()),
                    format!("`{}` is never granted", event.as_str()),
                )
            })
            .collect();
        if let Some(most) = self.session.prompts.filter(|most| !facts.asks && *most > 0) {
            found.push(redundant(format!("{most} prompts"), "nothing is asked about".to_owned()));
        }
        let buys = facts.granted.contains(&EventKind::Request(sirl::Kind::Purchase));
        if let Some(most) = self.session.money.filter(|_| !buys) {
            found.push(redundant(most.to_string(), "`purchase` is never granted".to_owned()));
        }
        found
    }

    /// Whether the policy has a section by which an event may be granted.
    fn describes(&self, event: EventKind) -> bool {
        match event {
            EventKind::Request(kind) => self.requests.get(&kind).is_some_and(|rule| !rule.deliver.is_empty()),
            EventKind::Verb(verb) => self.verbs.contains_key(&verb),
        }
    }

    /// `after` rules without which every history bars the same events, and tiers in them that no field has.
    pub(super) fn redundant_bars(&self, facts: &Facts) -> Vec<Warning> {
        let mut remaining: Vec<usize> = (0..self.session.bars.len()).collect();
        let mut found = Vec::new();
        for number in (0..self.session.bars.len()).rev() {
            let Some(bar) = self.session.bars.get(number) else { continue };
            let others: Vec<&Bar> = remaining
                .iter()
                .filter(|other| **other != number)
                .filter_map(|other| self.session.bars.get(*other))
                .filter(|other| other.is_taint() == bar.is_taint())
                .collect();
            let why = if !facts.can_begin(bar.after) {
                format!("`{}` never happens", bar.after)
            } else if !facts.permitted.iter().any(|root| bar.concerns(*root)) {
                "what it bars is never granted".to_owned()
            } else if facts.is_redundant(bar, &others) {
                "the others bar it already".to_owned()
            } else {
                found.extend(bar.never.iter().filter_map(|subject| {
                    self.empty_tier_warning(*subject, &format!("`{bar}`"), RuleId::Bar(number))
                }));
                continue;
            };
            remaining.retain(|other| *other != number);
            found.push(Warning {
                message: format!("`{bar}` changes nothing: {why}"),
                help: "remove it".to_owned(),
                span: self.span_of(RuleId::Bar(number)),
            });
        }
        found
    }
}

impl Facts {
    /// Whether an `after` rule bars no event that the others do not bar, in every possible history.
    fn is_redundant(&self, bar: &Bar, others: &[&Bar]) -> bool {
        let concerned: Vec<Root> =
            self.permitted.iter().copied().filter(|root| bar.concerns(*root)).collect();
        let near = others.iter().filter(|other| concerned.iter().any(|root| other.concerns(*root)));
        let silent = Bar { never: Vec::new(), ..bar.clone() };
        let rest: Vec<Bar> = near.map(|other| (*other).clone()).collect();
        let with = SessionRule {
            bars: [std::slice::from_ref(bar), rest.as_slice()].concat(),
            ..SessionRule::default()
        };
        let without = SessionRule { bars: [&[silent], rest.as_slice()].concat(), ..SessionRule::default() };
        let triggers = with.bars.iter().flat_map(|bar| [Some(bar.after), bar.until]).flatten();
        let mut events: Vec<SessionEvent> =
            triggers.filter(|trigger| self.can_begin(*trigger)).map(Trigger::session_event).collect();
        events.push(SessionEvent::NewTask);
        let mut open = VecDeque::from([History::default()]);
        let mut seen: HashSet<History> = open.iter().copied().collect();
        let bars =
            |rules: &SessionRule, history: &History, root: &Root| rules.bars(history, *root, bar.is_taint());
        while let Some(history) = open.pop_front() {
            if concerned.iter().any(|root| bars(&with, &history, root) != bars(&without, &history, root)) {
                return false;
            }
            for event in &events {
                // Both rules step to the same history; they differ only in the events that they bar.
                let next = with.reduced(with.step(history, *event));
                if seen.insert(next) {
                    open.push_back(next);
                }
            }
            if seen.len() > MAX_STATES {
                return false;
            }
        }
        true
    }
}
