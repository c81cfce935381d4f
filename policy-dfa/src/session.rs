//! The session's history: what counts, what bars what, and the automaton that remembers it.
//!
//! A decision looks at one valuation; what happened before comes in through three axes (`taint`, `session`,
//! `uses`) and the prompt count. [`History`] is the state of a small automaton whose input is
//! [`Happened`]: a latch for each `after` rule, a count for each event that is limited, and the money spent.

use std::collections::BTreeMap;

use sirl::{Kind, Money};

use crate::VerbKind;
use crate::policy::Subject;
use crate::table::Root;

/// The most `after` rules of a policy: one bit each.
pub(crate) const MAX_BARS: usize = 32;
/// How many events are counted: one for each kind of request and each verb.
const EVENTS: usize = Kind::ALL.len() + 8;

/// Something that happened in a session, told to [`DecisionPoint::after`](crate::DecisionPoint::after).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Happened {
    /// A prompt was shown.
    Prompted,
    /// The user said no.
    Refused,
    /// An injection is suspected.
    Suspected,
    /// Values for a request of this kind were released.
    Released(Kind),
    /// A purchase was paid, with this amount. It is a release of the kind `purchase` as well.
    Paid(Money),
    /// A verb was carried out.
    Done(VerbKind),
    /// The user began a new task.
    NewTask,
}

impl std::fmt::Display for Happened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Happened::Prompted => f.write_str("a prompt"),
            Happened::Refused => f.write_str("refusal"),
            Happened::Suspected => f.write_str("suspected_injection"),
            Happened::Released(kind) => f.write_str(kind.as_str()),
            Happened::Paid(amount) => write!(f, "purchase of {amount}"),
            Happened::Done(verb) => f.write_str(verb.as_str()),
            Happened::NewTask => f.write_str("new_task"),
        }
    }
}

/// What has happened in this session so far, as far as a policy can remember it.
///
/// The default is the beginning. Only a policy's own step makes another, so that a history always fits the
/// policy that decides by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct History {
    latched: u32,
    uses: [u16; EVENTS],
    prompts: u32,
    spent_minor: u64,
    suspected: bool,
}

impl History {
    /// Whether an injection is suspected since the task began.
    pub fn is_suspected(&self) -> bool {
        self.suspected
    }

    /// How many prompts were shown.
    pub fn prompts(&self) -> u32 {
        self.prompts
    }

    /// How often values for requests of this kind were released.
    pub fn released(&self, kind: Kind) -> u32 {
        u32::from(self.uses.get(kind as usize).copied().unwrap_or(u16::MAX))
    }

    /// Money spent, in minor units of the task's currency.
    pub fn spent_minor(&self) -> u64 {
        self.spent_minor
    }

    /// The same with no prompt shown: to learn how a question must be asked, apart from how many are left.
    #[must_use]
    pub fn without_prompts(self) -> History {
        History { prompts: 0, ..self }
    }

    fn count(&mut self, event: usize) {
        if let Some(slot) = self.uses.get_mut(event) {
            *slot = slot.saturating_add(1);
        }
    }
}

/// What an `after` rule or a statement can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Trigger {
    SuspectedInjection,
    Refusal,
    Kind(Kind),
    Verb(VerbKind),
}

impl Trigger {
    pub(crate) fn is(self, happened: Happened) -> bool {
        match (self, happened) {
            (Trigger::SuspectedInjection, Happened::Suspected) | (Trigger::Refusal, Happened::Refused) => {
                true
            }
            (Trigger::Kind(kind), Happened::Released(released)) => kind == released,
            (Trigger::Kind(kind), Happened::Paid(_)) => kind == Kind::Purchase,
            (Trigger::Verb(verb), Happened::Done(done)) => verb == done,
            _ => false,
        }
    }

    /// The event that is this trigger.
    pub(crate) fn event(self) -> Happened {
        match self {
            Trigger::SuspectedInjection => Happened::Suspected,
            Trigger::Refusal => Happened::Refused,
            Trigger::Kind(kind) => Happened::Released(kind),
            Trigger::Verb(verb) => Happened::Done(verb),
        }
    }
}

impl std::fmt::Display for Trigger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.event().fmt(f)
    }
}

/// `after X never Y until Z`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) after: Trigger,
    pub(crate) never: Vec<Subject>,
    /// What ends it; with none, a new task.
    pub(crate) until: Option<Trigger>,
}

impl Bar {
    pub(crate) fn concerns(&self, root: Root) -> bool {
        self.never.iter().any(|subject| subject.includes(root))
    }

    /// Whether it is read on the axis `taint`; the others are read on `session`.
    pub(crate) fn is_taint(&self) -> bool {
        self.after == Trigger::SuspectedInjection
    }
}

/// What is counted: a kind of request, or a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Counted {
    Kind(Kind),
    Verb(VerbKind),
}

impl Counted {
    pub(crate) fn of(root: Root) -> Counted {
        match root {
            Root::Request(kind, _) => Counted::Kind(kind),
            Root::Verb(verb) => Counted::Verb(verb),
        }
    }

    fn index(self) -> usize {
        match self {
            Counted::Kind(kind) => kind as usize,
            Counted::Verb(verb) => Kind::ALL.len() + verb as usize,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Counted::Kind(kind) => kind.as_str(),
            Counted::Verb(verb) => verb.as_str(),
        }
    }

    /// The event that is counted.
    pub(crate) fn event(self) -> Happened {
        match self {
            Counted::Kind(kind) => Happened::Released(kind),
            Counted::Verb(verb) => Happened::Done(verb),
        }
    }
}

/// What a `session` section says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SessionRule {
    /// `at most n` of an event.
    pub(crate) uses: BTreeMap<Counted, u32>,
    /// `at most n prompts`.
    pub(crate) prompts: Option<u32>,
    /// `at most` this much money.
    pub(crate) money: Option<Money>,
    /// At most [`MAX_BARS`].
    pub(crate) bars: Vec<Bar>,
}

impl SessionRule {
    /// The history after something happened.
    pub(crate) fn step(&self, before: History, happened: Happened) -> History {
        let mut next = before;
        match happened {
            Happened::NewTask => return History::default(),
            Happened::Prompted => next.prompts = next.prompts.saturating_add(1),
            Happened::Refused => {}
            Happened::Suspected => next.suspected = true,
            Happened::Released(kind) => next.count(Counted::Kind(kind).index()),
            Happened::Paid(amount) => {
                next.count(Counted::Kind(Kind::Purchase).index());
                next.spent_minor = next.spent_minor.saturating_add(amount.minor);
            }
            Happened::Done(verb) => next.count(Counted::Verb(verb).index()),
        }
        for (place, bar) in self.bars.iter().enumerate().take(MAX_BARS) {
            // What begins a bar and ends it at once begins it.
            if bar.after.is(happened) {
                next.latched |= 1 << place;
            } else if bar.until.is_some_and(|until| until.is(happened)) {
                next.latched &= !(1 << place);
            }
        }
        next
    }

    /// Whether a latched rule bars an event: by taint, or otherwise.
    pub(crate) fn bars(&self, history: &History, root: Root, by_taint: bool) -> bool {
        let latched = self.bars.iter().enumerate().filter(|(place, _)| history.latched & (1 << place) != 0);
        latched.into_iter().any(|(_, bar)| bar.is_taint() == by_taint && bar.concerns(root))
    }

    /// Whether the limit of an event is reached.
    pub(crate) fn is_spent(&self, history: &History, event: Counted) -> bool {
        let done = history.uses.get(event.index()).copied().unwrap_or(u16::MAX);
        self.uses.get(&event).is_some_and(|limit| u32::from(done) >= *limit)
    }

    /// What is left of a history when counts above their limits, and whatever no rule reads, are the same.
    pub(crate) fn reduced(&self, history: History) -> History {
        let mut state = History { latched: history.latched, ..History::default() };
        for (event, limit) in &self.uses {
            let done = history.uses.get(event.index()).copied().unwrap_or(u16::MAX);
            if let Some(slot) = state.uses.get_mut(event.index()) {
                *slot = done.min(u16::try_from(*limit).unwrap_or(u16::MAX));
            }
        }
        state
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == SessionRule::default()
    }
}
