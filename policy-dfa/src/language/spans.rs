//! The source location of each rule of a policy.

use std::collections::BTreeMap;
use std::ops::Range;

use sirl::Kind;

use super::clause::Clause;
use crate::vocabulary::event::VerbKind;

/// A rule that a message can point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleId {
    Request(Kind),
    RequestClause(Kind, Clause),
    Verb(VerbKind),
    VerbClause(VerbKind, Clause),
    /// The index among the `site` rules.
    Site(usize),
    /// The index among the providers.
    Provider(usize),
    /// The index among the `after` rules.
    Bar(usize),
    /// The index among the statements.
    Proof(usize),
}

/// The source location of each rule, in bytes of the text. Locations are no part of what a policy means, so all
/// values of this type are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSpans(BTreeMap<RuleId, Range<usize>>);

impl RuleSpans {
    pub(crate) fn record(&mut self, rule: RuleId, span: Range<usize>) {
        self.0.insert(rule, span);
    }

    /// The location of a rule; none where the policy was not read from text.
    pub(crate) fn of(&self, rule: RuleId) -> Option<Range<usize>> {
        self.0.get(&rule).cloned().filter(|span| !span.is_empty())
    }

    /// The same rules at other locations: those in the source that the text was generated from.
    pub(crate) fn mapped(&self, to: impl Fn(Range<usize>) -> Range<usize>) -> RuleSpans {
        RuleSpans(self.0.iter().map(|(rule, span)| (*rule, to(span.clone()))).collect())
    }
}

impl PartialEq for RuleSpans {
    fn eq(&self, _: &RuleSpans) -> bool {
        true
    }
}

impl Eq for RuleSpans {}
