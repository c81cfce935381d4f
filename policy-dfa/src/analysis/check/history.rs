//! Statements about a session, proved by a breadth-first search over its histories.
//!
//! A decision depends on a history only through the latches and counts that the policy reads, so the search space is
//! finite. The search lets any event happen at any time, granted or not. So a proof covers more sessions than are
//! possible.

use std::collections::{HashSet, VecDeque};

use sirl::{Currency, Kind, Money};

use super::violation::{Paths, Violation, violation, without_named_axes};
use crate::automaton::compile::{Compiled, Unchecked};
use crate::automaton::cube::Cube;
use crate::decision::history::{History, SessionEvent};
use crate::language::clause::Condition;
use crate::language::policy::Proof;
use crate::language::session::Trigger;
use crate::vocabulary::alphabet::{Symbol, symbol};
use crate::vocabulary::event::{EventKind, Root, Subject, VerbKind};
use crate::vocabulary::outcome::Outcome;

/// The most states that are searched. Beyond them the statement counts as not proved.
const MAX_STATES: usize = 200_000;

/// A state of the search: the history, whether the trigger happened, and the events that led there.
struct Reached {
    history: History,
    triggered: bool,
    events: Vec<SessionEvent>,
}

/// A session in which `subject` is granted after `trigger`, where the conditions hold.
pub(super) fn refute(
    policy: &Compiled<Unchecked>,
    proof: &Proof,
    (subject, conditions, trigger): (Subject, &[Condition], Trigger),
    roots: &Paths,
) -> Option<Violation> {
    let session = &policy.policy.session;
    let events = events(policy, subject, trigger);
    let start = Reached { history: History::default(), triggered: false, events: Vec::new() };
    let mut open = VecDeque::from([start]);
    let mut seen = HashSet::from([(History::default(), false)]);
    while let Some(state) = open.pop_front() {
        if state.triggered {
            let found = granted(policy, proof, (subject, conditions), &state, roots);
            if found.is_some() {
                return found;
            }
        }
        for event in &events {
            let history = session.reduced(session.step(state.history, *event));
            // The statement is about the time until the next task.
            let triggered = *event != SessionEvent::NewTask && (state.triggered || trigger.matches(*event));
            if seen.len() < MAX_STATES && seen.insert((history, triggered)) {
                let mut events = state.events.clone();
                events.push(*event);
                open.push_back(Reached { history, triggered, events });
            }
        }
    }
    (seen.len() >= MAX_STATES).then(|| {
        let root = Root::Verb(VerbKind::Read);
        let statement = format!("`{proof}` has too many histories to follow and counts as not proved");
        violation(statement, root, (&Cube::whole(), &Cube::whole()), Outcome::Grant(None))
    })
}

/// The events that can change the outcomes of the subject, and the trigger.
fn events(policy: &Compiled<Unchecked>, subject: Subject, trigger: Trigger) -> Vec<SessionEvent> {
    let session = &policy.policy.session;
    let mut events = vec![trigger.session_event(), SessionEvent::NewTask];
    let triggers = session.bars.iter().flat_map(|bar| [Some(bar.after), bar.until]);
    events.extend(triggers.flatten().map(Trigger::session_event));
    let counted = EventKind::all().filter(|event| session.uses.contains_key(event));
    let concerned =
        |event: &EventKind| Root::all().any(|root| subject.includes(root) && EventKind::of(root) == *event);
    events.extend(counted.filter(concerned).map(EventKind::session_event));
    // A paid purchase is a release of its kind.
    if events.contains(&SessionEvent::Released(Kind::Purchase))
        && let Some(currency) = Currency::new("EUR")
    {
        let paid = SessionEvent::Paid(Money { minor: 0, currency });
        events.retain(|event| *event != SessionEvent::Released(Kind::Purchase));
        events.push(paid);
    }
    // A release of card data may not count.
    if events.contains(&SessionEvent::Released(Kind::Payment)) {
        events.push(SessionEvent::Uncounted(Kind::Payment));
    }
    let mut unique: Vec<SessionEvent> = Vec::new();
    for event in events {
        if !unique.contains(&event) {
            unique.push(event);
        }
    }
    unique
}

/// A grant of the subject in one state of the session.
fn granted(
    policy: &Compiled<Unchecked>,
    proof: &Proof,
    (subject, conditions): (Subject, &[Condition]),
    state: &Reached,
    roots: &Paths,
) -> Option<Violation> {
    let session = &policy.policy.session;
    let concerned = roots.iter().filter(|(root, _)| subject.includes(*root));
    let cases = concerned.flat_map(|(root, paths)| paths.iter().map(move |(cube, out)| (*root, cube, *out)));
    let found = cases.filter_map(|(root, cube, outcome)| {
        if !matches!(outcome, Outcome::Grant(_)) {
            return None;
        }
        let now = |cube: Cube, on: bool, off: u8, set: u8, axis| {
            cube.narrowed(axis, 1 << if on { set } else { off })
        };
        use symbol::{Session, Taint, Uses};
        let tainted = session.bars(&state.history, root, true);
        let barred = session.bars(&state.history, root, false);
        let spent = session.is_spent(&state.history, EventKind::of(root));
        let here = now(*cube, tainted, Taint::Clean.index(), Taint::Tainted.index(), Taint::AXIS)?;
        let here = now(here, barred, Session::Free.index(), Session::Barred.index(), Session::AXIS)?;
        let here = now(here, spent, Uses::Under.index(), Uses::Spent.index(), Uses::AXIS)?;
        let part = conditions.iter().try_fold(here, |cube, is| cube.narrowed(is.axis, is.symbols))?;
        let shown = [Taint::AXIS, Session::AXIS, Uses::AXIS].into_iter().fold(part, Cube::freed);
        let mut case =
            violation(format!("`{proof}`"), root, (&without_named_axes(*cube, proof), &shown), outcome);
        case.valuation = part.witness();
        case.history.clone_from(&state.events);
        Some(case)
    });
    found.min_by_key(Violation::size)
}
