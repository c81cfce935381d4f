//! The history of a session: the automaton that counts events and remembers which `after` rules apply.
//!
//! A decision reads one valuation. Earlier events reach it through three axes (`taint`, `session`, `uses`) and the
//! count of prompts. [`History`] is the state of a small automaton whose input is [`SessionEvent`]: a latch for each
//! `after` rule, a count for each event, and the money spent.

use sirl::{Kind, Money};

use crate::automaton::compile::Compiled;
use crate::language::session::{MAX_BARS, NEW_TASK, SessionRule, Trigger};
use crate::vocabulary::event::{EventKind, Root, VerbKind};

/// The number of events that are counted: each kind of request and each verb.
const EVENTS: usize = Kind::ALL.len() + VerbKind::ALL.len();

/// An event of a session, which [`DecisionPoint::after`](crate::DecisionPoint::after) adds to the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionEvent {
    /// A prompt was shown.
    Prompted,
    /// The user refused.
    Refused,
    /// An injection is suspected.
    Suspected,
    /// Values for a request of this kind were released.
    Released(Kind),
    /// Values for a request of this kind were released, and the release does not count: a card's fill without its number and code,
    /// or one that repeats an earlier fill.
    Uncounted(Kind),
    /// A purchase of this amount was paid. It is a release of the kind `purchase` as well.
    Paid(Money),
    /// A card was filled into a form whose page names this total. It is a release of the kind `payment` as well.
    Charged(Money),
    /// A verb was carried out.
    Done(VerbKind),
    /// The user began a new task.
    NewTask,
}

impl std::fmt::Display for SessionEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SessionEvent::Prompted => f.write_str("a prompt"),
            SessionEvent::Refused => f.write_str(Trigger::Refusal.as_str()),
            SessionEvent::Suspected => f.write_str(Trigger::SuspectedInjection.as_str()),
            SessionEvent::Released(kind) => f.write_str(kind.as_str()),
            SessionEvent::Uncounted(kind) => write!(f, "{}, which does not count", kind.as_str()),
            SessionEvent::Paid(amount) => write!(f, "purchase of {amount}"),
            SessionEvent::Charged(amount) => write!(f, "payment of {amount}"),
            SessionEvent::Done(verb) => f.write_str(verb.as_str()),
            SessionEvent::NewTask => f.write_str(NEW_TASK),
        }
    }
}

/// The past events of a session, as far as a policy can depend on them.
///
/// The default is the beginning of a session. Every other history comes from a step of a policy, so that a history
/// always fits the policy that decides by it.
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

    /// The number of prompts that were shown.
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

    /// The same history with no prompt shown. Decided with it, an event that needs a
    /// prompt asks for it whatever the limit of prompts is.
    #[must_use]
    pub fn without_prompts(self) -> History {
        History { prompts: 0, ..self }
    }

    /// The same history without one payment of this amount by a card in a form. A fill that repeats an earlier one is decided with it,
    /// so that it counts once.
    #[must_use]
    pub fn without_payment(mut self, amount: Money) -> History {
        if let Some(slot) = self.uses.get_mut(Kind::Payment as usize) {
            *slot = slot.saturating_sub(1);
        }
        self.spent_minor = self.spent_minor.saturating_sub(amount.minor);
        self
    }

    /// How often an event happened. It is the maximum where the event is not counted, so that a limit denies.
    fn uses(&self, event: EventKind) -> u16 {
        self.uses.get(event.index()).copied().unwrap_or(u16::MAX)
    }

    fn count(&mut self, event: EventKind) {
        if let Some(slot) = self.uses.get_mut(event.index()) {
            *slot = slot.saturating_add(1);
        }
    }
}

impl EventKind {
    /// The session event that is counted.
    pub(crate) fn session_event(self) -> SessionEvent {
        match self {
            EventKind::Request(kind) => SessionEvent::Released(kind),
            EventKind::Verb(verb) => SessionEvent::Done(verb),
        }
    }
}

impl Trigger {
    pub(crate) fn matches(self, event: SessionEvent) -> bool {
        match (self, event) {
            (Trigger::SuspectedInjection, SessionEvent::Suspected)
            | (Trigger::Refusal, SessionEvent::Refused) => true,
            (Trigger::Kind(kind), SessionEvent::Released(released) | SessionEvent::Uncounted(released)) => {
                kind == released
            }
            (Trigger::Kind(kind), SessionEvent::Paid(_)) => kind == Kind::Purchase,
            (Trigger::Kind(kind), SessionEvent::Charged(_)) => kind == Kind::Payment,
            (Trigger::Verb(verb), SessionEvent::Done(done)) => verb == done,
            _ => false,
        }
    }

    /// The session event that this trigger matches.
    pub(crate) fn session_event(self) -> SessionEvent {
        match self {
            Trigger::SuspectedInjection => SessionEvent::Suspected,
            Trigger::Refusal => SessionEvent::Refused,
            Trigger::Kind(kind) => SessionEvent::Released(kind),
            Trigger::Verb(verb) => SessionEvent::Done(verb),
        }
    }
}

impl SessionRule {
    /// The history after an event.
    pub(crate) fn step(&self, before: History, event: SessionEvent) -> History {
        let mut next = before;
        match event {
            SessionEvent::NewTask => return History::default(),
            SessionEvent::Prompted => next.prompts = next.prompts.saturating_add(1),
            SessionEvent::Refused | SessionEvent::Uncounted(_) => {}
            SessionEvent::Suspected => next.suspected = true,
            SessionEvent::Released(kind) => next.count(EventKind::Request(kind)),
            SessionEvent::Paid(amount) => {
                next.count(EventKind::Request(Kind::Purchase));
                next.spent_minor = next.spent_minor.saturating_add(amount.minor);
            }
            SessionEvent::Charged(amount) => {
                next.count(EventKind::Request(Kind::Payment));
                next.spent_minor = next.spent_minor.saturating_add(amount.minor);
            }
            SessionEvent::Done(verb) => next.count(EventKind::Verb(verb)),
        }
        for (index, bar) in self.bars.iter().enumerate().take(MAX_BARS) {
            // An event that both begins and ends a bar begins it.
            if bar.after.matches(event) {
                next.latched |= 1 << index;
            } else if bar.until.is_some_and(|until| until.matches(event)) {
                next.latched &= !(1 << index);
            }
        }
        next
    }

    /// Whether a latched rule bars an event: one about taint, or another one.
    pub(crate) fn bars(&self, history: &History, root: Root, by_taint: bool) -> bool {
        if history.latched == 0 {
            return false;
        }
        let latched = self.bars.iter().enumerate().filter(|(index, _)| history.latched & (1 << index) != 0);
        latched.into_iter().any(|(_, bar)| bar.is_taint() == by_taint && bar.concerns(root))
    }

    /// Whether the limit of an event is reached.
    pub(crate) fn is_spent(&self, history: &History, event: EventKind) -> bool {
        self.uses.get(&event).is_some_and(|limit| u32::from(history.uses(event)) >= *limit)
    }

    /// Whether the limit of prompts is reached.
    pub(crate) fn is_out_of_prompts(&self, history: &History) -> bool {
        self.prompts.is_some_and(|limit| history.prompts() >= limit)
    }

    /// The part of a history that the rules read, with counts capped at their limits. Histories with the same
    /// reduced form are decided alike, and there are finitely many of them.
    pub(crate) fn reduced(&self, history: History) -> History {
        let mut state = History { latched: history.latched, ..History::default() };
        for (event, limit) in &self.uses {
            if let Some(slot) = state.uses.get_mut(event.index()) {
                *slot = history.uses(*event).min(u16::try_from(*limit).unwrap_or(u16::MAX));
            }
        }
        state
    }
}

impl<State> Compiled<State> {
    /// The history after an event.
    pub fn after(&self, history: History, event: SessionEvent) -> History {
        self.policy.session.step(history, event)
    }
}
