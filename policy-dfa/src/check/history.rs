//! Statements about a session: every history is followed, breadth first.
//!
//! A history matters to a decision only by the latches and the counts that the policy reads, which are
//! finite. Any event may happen at any time here, granted or not, so that what is proved holds of more
//! sessions than there can be.

use std::collections::{HashSet, VecDeque};

use sirl::{Currency, Kind, Money};

use super::violation::{Violation, violation};
use super::{Paths, forgot};
use crate::alphabet::{Symbol, symbol};
use crate::compile::{Compiled, Unchecked};
use crate::cube::Cube;
use crate::policy::{Condition, Proof, Subject};
use crate::session::{Counted, Happened, History, Trigger};
use crate::table::{Outcome, Root};
use crate::words::VERBS;

/// More states than this are not followed: the statement counts as not proved.
const MAX_STATES: usize = 200_000;

/// A state of the search: the history, whether the trigger happened, and how it came about.
struct Reached {
    history: History,
    since: bool,
    way: Vec<Happened>,
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
    let start = Reached { history: History::default(), since: false, way: Vec::new() };
    let mut open = VecDeque::from([start]);
    let mut seen = HashSet::from([(History::default(), false)]);
    while let Some(state) = open.pop_front() {
        if state.since {
            let found = granted(policy, proof, (subject, conditions), &state, roots);
            if found.is_some() {
                return found;
            }
        }
        for happened in &events {
            let history = session.reduced(session.step(state.history, *happened));
            // A new task ends what the statement is about.
            let since = *happened != Happened::NewTask && (state.since || trigger.is(*happened));
            if seen.len() < MAX_STATES && seen.insert((history, since)) {
                let mut way = state.way.clone();
                way.push(*happened);
                open.push_back(Reached { history, since, way });
            }
        }
    }
    (seen.len() >= MAX_STATES).then(|| {
        let root = Root::Verb(crate::VerbKind::Read);
        let statement = format!("`{proof}` has too many histories to follow and counts as not proved");
        violation(statement, root, (&Cube::whole(), &Cube::whole()), Outcome::Grant(None))
    })
}

/// The events that can change what the subject is granted, and the trigger.
fn events(policy: &Compiled<Unchecked>, subject: Subject, trigger: Trigger) -> Vec<Happened> {
    let session = &policy.policy.session;
    let mut events = vec![trigger.event(), Happened::NewTask];
    let triggers = session.bars.iter().flat_map(|bar| [Some(bar.after), bar.until]);
    events.extend(triggers.flatten().map(Trigger::event));
    let kinds = Kind::ALL.into_iter().map(Counted::Kind);
    let verbs = VERBS.into_iter().map(|(verb, _)| Counted::Verb(verb));
    let counted = kinds.chain(verbs).filter(|event| session.uses.contains_key(event));
    let concerned =
        |event: &Counted| Root::all().any(|root| subject.includes(root) && Counted::of(root) == *event);
    events.extend(counted.filter(concerned).map(Counted::event));
    // A paid purchase is a release of its kind.
    if events.contains(&Happened::Released(Kind::Purchase))
        && let Some(currency) = Currency::new("EUR")
    {
        let paid = Happened::Paid(Money { minor: 0, currency });
        events.retain(|event| *event != Happened::Released(Kind::Purchase));
        events.push(paid);
    }
    let mut unique: Vec<Happened> = Vec::new();
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
        let spent = session.is_spent(&state.history, Counted::of(root));
        let here = now(*cube, tainted, Taint::Clean.index(), Taint::Tainted.index(), Taint::AXIS)?;
        let here = now(here, barred, Session::Free.index(), Session::Barred.index(), Session::AXIS)?;
        let here = now(here, spent, Uses::Under.index(), Uses::Spent.index(), Uses::AXIS)?;
        let part = conditions.iter().try_fold(here, |cube, is| cube.narrowed(is.axis, is.symbols))?;
        let told = [Taint::AXIS, Session::AXIS, Uses::AXIS].into_iter().fold(part, Cube::freed);
        let mut case = violation(format!("`{proof}`"), root, (&forgot(*cube, proof), &told), outcome);
        case.valuation = part.witness();
        case.history.clone_from(&state.way);
        Some(case)
    });
    found.min_by_key(Violation::size)
}
