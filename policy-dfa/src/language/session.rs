//! The `session` section: limits on how often events happen, and rules that bar events after others.

use std::collections::BTreeMap;

use sirl::{Kind, Money};

use crate::vocabulary::event::{EventKind, Root, Subject, VerbKind};

/// The most `after` rules of a policy. A session stores one bit for each.
pub(crate) const MAX_BARS: usize = 32;

/// The content of a `session` section.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SessionRule {
    /// `at most n` of an event.
    pub(crate) uses: BTreeMap<EventKind, u32>,
    /// `at most n prompts`.
    pub(crate) prompts: Option<u32>,
    /// `at most` this much money.
    pub(crate) money: Option<Money>,
    /// `values keep to their path`.
    pub(crate) own_path: bool,
    /// At most [`MAX_BARS`].
    pub(crate) bars: Vec<Bar>,
}

impl SessionRule {
    pub(crate) fn is_empty(&self) -> bool {
        *self == SessionRule::default()
    }

    /// Whether an `after` rule can bar an event: one about taint, or another one.
    pub(crate) fn can_bar(&self, root: Root, by_taint: bool) -> bool {
        self.bars.iter().any(|bar| bar.is_taint() == by_taint && bar.concerns(root))
    }
}

/// A rule `after X never Y until Z`: from the event X on it bars the events Y, until the event Z.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) after: Trigger,
    pub(crate) never: Vec<Subject>,
    /// The event that ends the bar; with none, only a new task ends it.
    pub(crate) until: Option<Trigger>,
}

impl Bar {
    pub(crate) fn concerns(&self, root: Root) -> bool {
        self.never.iter().any(|subject| subject.includes(root))
    }

    /// Whether the rule sets the axis `taint`; the others set `session`.
    pub(crate) fn is_taint(&self) -> bool {
        self.after == Trigger::SuspectedInjection
    }

    /// The name of the event that ends the bar.
    pub(crate) fn until_name(&self) -> &'static str {
        self.until.map_or(NEW_TASK, Trigger::as_str)
    }
}

/// The name of the event that ends every bar.
pub(crate) const NEW_TASK: &str = "new_task";

/// An event that an `after` rule or a statement can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Trigger {
    SuspectedInjection,
    Refusal,
    Kind(Kind),
    Verb(VerbKind),
}

impl Trigger {
    /// The trigger with this name, if there is one.
    pub(crate) fn from_name(name: &str) -> Option<Trigger> {
        match name {
            "suspected_injection" => Some(Trigger::SuspectedInjection),
            "refusal" => Some(Trigger::Refusal),
            _ => EventKind::from_name(name).map(|event| match event {
                EventKind::Request(kind) => Trigger::Kind(kind),
                EventKind::Verb(verb) => Trigger::Verb(verb),
            }),
        }
    }

    /// The names of every trigger.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        ["suspected_injection", "refusal"].into_iter().chain(EventKind::names())
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Trigger::SuspectedInjection => "suspected_injection",
            Trigger::Refusal => "refusal",
            Trigger::Kind(kind) => kind.as_str(),
            Trigger::Verb(verb) => verb.as_str(),
        }
    }
}
