//! Where the rules of a policy stand in its text.

use std::collections::BTreeMap;
use std::ops::Range;

use sirl::Kind;

use crate::VerbKind;
use crate::policy::Clause;

/// A rule that a message can point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    Request(Kind),
    RequestClause(Kind, Clause),
    Verb(VerbKind),
    VerbClause(VerbKind, Clause),
    /// By its place among the sites.
    Site(usize),
    /// By its place among the `after` rules.
    Bar(usize),
    /// By its place among the statements.
    Proof(usize),
}

/// The places of the rules. They are no part of what a policy means: all are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spans(BTreeMap<Rule, Range<usize>>);

impl Spans {
    pub(crate) fn note(&mut self, rule: Rule, span: Range<usize>) {
        self.0.insert(rule, span);
    }

    /// The place of a rule; the beginning of the text where it is not known.
    pub(crate) fn of(&self, rule: Rule) -> Range<usize> {
        self.0.get(&rule).cloned().unwrap_or(0..0)
    }

    /// The same rules at other places: those of the form that the text was made from.
    pub(crate) fn moved(&self, to: impl Fn(Range<usize>) -> Range<usize>) -> Spans {
        Spans(self.0.iter().map(|(rule, span)| (*rule, to(span.clone()))).collect())
    }
}

impl PartialEq for Spans {
    fn eq(&self, _: &Spans) -> bool {
        true
    }
}

impl Eq for Spans {}
