//! Limits and bars that change nothing.

use std::collections::{HashSet, VecDeque};

use super::{Facts, Warning};
use crate::policy::{Policy, Subject};
use crate::session::{Bar, Counted, Happened, History, SessionRule, Trigger};
use crate::spans::Rule;
use crate::table::Root;

/// More histories than this are not followed: the bar counts as one that changes something.
const MAX_STATES: usize = 1 << 14;

impl Policy {
    /// Limits of what never happens.
    pub(super) fn idle_limits(&self, facts: &Facts) -> Vec<Warning> {
        let idle = |rule: String, why: String| Warning {
            message: format!("`at most {rule}` changes nothing: {why}"),
            help: "remove the limit".to_owned(),
            span: None,
        };
        let dead = self.session.uses.iter().filter(|(event, most)| {
            // A limit of none is why it is never granted, and what a section describes has its own warning.
            !facts.granted.contains(event) && **most > 0 && !self.describes(**event)
        });
        let mut found: Vec<Warning> = dead
            .map(|(event, most)| {
                idle(format!("{most} {}", event.as_str()), format!("`{}` is never granted", event.as_str()))
            })
            .collect();
        if let Some(most) = self.session.prompts.filter(|most| !facts.asks && *most > 0) {
            found.push(idle(format!("{most} prompts"), "nothing is asked about".to_owned()));
        }
        let buys = facts.granted.contains(&Counted::Kind(sirl::Kind::Purchase));
        if let Some(most) = self.session.money.filter(|_| !buys) {
            found.push(idle(most.to_string(), "`purchase` is never granted".to_owned()));
        }
        found
    }

    /// Whether the policy says under which rules something may be granted.
    fn describes(&self, event: Counted) -> bool {
        match event {
            Counted::Kind(kind) => self.requests.get(&kind).is_some_and(|rule| !rule.deliver.is_empty()),
            Counted::Verb(verb) => self.verbs.contains_key(&verb),
        }
    }

    /// Bars without which every history bars the same, and tiers in them that no field has.
    pub(super) fn idle_bars(&self, facts: &Facts) -> Vec<Warning> {
        let mut kept: Vec<usize> = (0..self.session.bars.len()).collect();
        let mut found = Vec::new();
        for number in (0..self.session.bars.len()).rev() {
            let Some(bar) = self.session.bars.get(number) else { continue };
            let others: Vec<&Bar> = kept
                .iter()
                .filter(|other| **other != number)
                .filter_map(|other| self.session.bars.get(*other))
                .filter(|other| other.is_taint() == bar.is_taint())
                .collect();
            let why =
                if !facts.can_begin(bar.after) {
                    format!("`{}` never happens", bar.after)
                } else if !facts.opened.iter().any(|root| bar.concerns(*root)) {
                    "what it bars is never granted".to_owned()
                } else if facts.useless(bar, &others) {
                    "the others bar it already".to_owned()
                } else {
                    found.extend(bar.never.iter().filter_map(|subject| {
                        self.fieldless(*subject, &format!("`{bar}`"), Rule::Bar(number))
                    }));
                    continue;
                };
            kept.retain(|other| *other != number);
            found.push(Warning {
                message: format!("`{bar}` changes nothing: {why}"),
                help: "remove it".to_owned(),
                span: self.place(Rule::Bar(number)),
            });
        }
        found
    }

    /// A warning where a rule names a tier that no field has.
    pub(super) fn fieldless(&self, subject: Subject, rule: &str, at: Rule) -> Option<Warning> {
        let Subject::Tier(tier) = subject else { return None };
        let has = sirl::Field::ALL.into_iter().any(|field| self.tier(field) == tier);
        // T0 stands for whatever is released at all.
        (!has && tier > sirl::Tier::T0).then(|| Warning {
            message: format!(
                "no field is {tier}, so {rule} is about higher tiers alone",
                tier = tier.as_str()
            ),
            help: "name the tier that is meant, or put a field into this one".to_owned(),
            span: self.place(at),
        })
    }
}

impl Facts {
    /// Whether something that an `after` names can happen.
    pub(super) fn can_begin(&self, trigger: Trigger) -> bool {
        match trigger {
            Trigger::SuspectedInjection => true,
            Trigger::Refusal => self.asks,
            Trigger::Kind(kind) => self.granted.contains(&Counted::Kind(kind)),
            Trigger::Verb(verb) => self.granted.contains(&Counted::Verb(verb)),
        }
    }

    /// Whether a bar adds nothing to others, in every history that there can be.
    fn useless(&self, bar: &Bar, others: &[&Bar]) -> bool {
        let concerned: Vec<Root> = self.opened.iter().copied().filter(|root| bar.concerns(*root)).collect();
        let near = others.iter().filter(|other| concerned.iter().any(|root| other.concerns(*root)));
        let silent = Bar { never: Vec::new(), ..bar.clone() };
        let rest: Vec<Bar> = near.map(|other| (*other).clone()).collect();
        let with = SessionRule {
            bars: [std::slice::from_ref(bar), rest.as_slice()].concat(),
            ..SessionRule::default()
        };
        let without = SessionRule { bars: [&[silent], rest.as_slice()].concat(), ..SessionRule::default() };
        let triggers = with.bars.iter().flat_map(|bar| [Some(bar.after), bar.until]).flatten();
        let mut events: Vec<Happened> =
            triggers.filter(|trigger| self.can_begin(*trigger)).map(Trigger::event).collect();
        events.push(Happened::NewTask);
        let mut open = VecDeque::from([History::default()]);
        let mut seen: HashSet<History> = open.iter().copied().collect();
        let bars =
            |rules: &SessionRule, history: &History, root: &Root| rules.bars(history, *root, bar.is_taint());
        while let Some(history) = open.pop_front() {
            if concerned.iter().any(|root| bars(&with, &history, root) != bars(&without, &history, root)) {
                return false;
            }
            for happened in &events {
                // Both remember the same; they differ in what they bar.
                let next = with.reduced(with.step(history, *happened));
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
