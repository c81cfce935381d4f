//! The linter: warnings about redundant rules, events that can never be granted, and vacuous statements.

mod clauses;
mod proofs;
mod session;
mod sites;
mod warning;

pub use warning::Warning;

use sirl::Kind;

use crate::automaton::guards::Rules;
use crate::language::clause::Test;
use crate::language::policy::{Policy, RequestRule};
use crate::language::spans::RuleId;
use crate::vocabulary::event::{EventKind, Root};
use crate::vocabulary::outcome::Delivery;
use warning::Facts;

impl Policy {
    /// Warnings about rules that change nothing, events that the policy describes but can never grant, and statements
    /// that hold whatever the policy says. All redundant rules can be removed together.
    ///
    /// It compiles variants of the policy, which takes milliseconds, and more for a policy with hundreds of clauses.
    ///
    /// ```
    /// use policy_dfa::{EXAMPLE_POLICY, Policy};
    ///
    /// assert!(Policy::parse(EXAMPLE_POLICY).unwrap().warnings().is_empty());
    /// let twice = EXAMPLE_POLICY.replacen("container covers the fields", "container covers the fields container T0", 1);
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
        found.extend(self.unused_providers());
        found.extend(self.never_granted(&facts));
        found.extend(self.ways_never_taken(&facts));
        found.extend(self.redundant_clauses());
        found.extend(self.redundant_sites());
        found.extend(self.redundant_limits(&facts));
        found.extend(self.redundant_bars(&facts));
        found.extend(self.vacuous_proofs(&facts));
        found.sort_by_key(|warning| warning.span.as_ref().map(|span| span.start));
        found
    }

    fn unused_thresholds(&self) -> Option<Warning> {
        let used = |rule: &RequestRule| {
            !rule.deliver.is_empty() && rule.clauses.iter().any(|clause| clause.test == Test::Safety)
        };
        (self.thresholds.is_some() && !self.requests.values().any(used)).then(|| Warning {
            message: "the thresholds are never used: no request says `safety reaches the threshold`"
                .to_owned(),
            help: "add that clause where it matters, or remove the thresholds".to_owned(),
            span: None,
        })
    }

    fn unused_providers(&self) -> Option<Warning> {
        let rule = self.requests.get(&Kind::Payment).filter(|rule| !rule.deliver.is_empty());
        let used = rule.is_some_and(|rule| rule.clauses.iter().any(|clause| clause.test.passes_provider()));
        (!self.providers.is_empty() && !used).then(|| Warning {
            message: "no card is filled into a provider's frame: `request payment` lets none in".to_owned(),
            help: "write there: frame top or provider".to_owned(),
            span: self.span_of(RuleId::Provider(0)),
        })
    }

    /// Events that the policy describes but can never grant.
    fn never_granted(&self, facts: &Facts) -> Vec<Warning> {
        let kinds = self.requests.iter().filter(|(_, rule)| !rule.deliver.is_empty());
        let kinds = kinds.map(|(kind, _)| (EventKind::Request(*kind), RuleId::Request(*kind)));
        let verbs = self.verbs.keys().map(|verb| (EventKind::Verb(*verb), RuleId::Verb(*verb)));
        let dead = kinds.chain(verbs).filter(|(event, _)| !facts.granted.contains(event));
        dead.map(|(event, rule)| {
            let why = self.why_never(event, |_| true);
            Warning {
                message: format!("`{}` can never be granted: {why}", event.as_str()),
                help: "change that rule, or say that it is never granted".to_owned(),
                span: self.span_of(rule),
            }
        })
        .collect()
    }

    /// Requests that are granted in a page and never at a shop's endpoint, or the other way round, though the section names both ways.
    fn ways_never_taken(&self, facts: &Facts) -> Vec<Warning> {
        let mut found = Vec::new();
        let granted = |kind: &Kind| facts.granted.contains(&EventKind::Request(*kind));
        for (kind, rule) in self.requests.iter().filter(|(kind, rule)| rule.orders() && granted(kind)) {
            let Some(in_page) = rule.in_page() else { continue };
            for way in [in_page, Delivery::Ucp] {
                let takes = |root: &Root| matches!(root, Root::Checkout(..)) == (way == Delivery::Ucp);
                let event = EventKind::Request(*kind);
                if facts.permitted.iter().any(|root| takes(root) && EventKind::of(*root) == event) {
                    continue;
                }
                let (way, why) = (way.as_str(), self.why_never(event, takes));
                found.push(Warning {
                    message: format!("`{}` can never be granted by `{way}`: {why}", kind.as_str()),
                    help: format!("change that rule, or leave `{way}` out"),
                    span: self.span_of(RuleId::Request(*kind)),
                });
            }
        }
        found
    }

    /// Why some roots of an event can never be granted.
    fn why_never(&self, event: EventKind, of: impl Fn(&Root) -> bool) -> String {
        match self.unsatisfiable_rule(event, of) {
            Some(rule) => format!("`{rule}` can never hold for it"),
            None => "its rules can never hold together".to_owned(),
        }
    }

    /// A rule that refuses some roots of an event whatever the signals are.
    fn unsatisfiable_rule(&self, event: EventKind, of: impl Fn(&Root) -> bool) -> Option<String> {
        if let Some(only) = self.unsatisfiable_only_site(event) {
            return Some(only);
        }
        self.roots_of(event).filter(of).find_map(|root| {
            let Rules::Chain(guards, _) = self.rules(root) else { return None };
            let cube = self.feasible(root);
            let always = guards.into_iter().find(|guard| {
                guard.when.is_none() && !guard.soft && cube.mask(guard.axis) & guard.pass == 0
            })?;
            Some(self.failed_rule(root, &always, &cube.witness()).rule)
        })
    }
}
