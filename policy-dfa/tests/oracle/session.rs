//! The oracle's own evaluation of session rules, and of the statements about them by a breadth-first search over every
//! history.

use std::collections::{BTreeMap, HashSet, VecDeque};

use policy_dfa::{Axis, SessionEvent};

use crate::enumerate::{Asker, some};
use crate::evaluator::Answer;
use crate::model::{Event, Model, Proof};
use crate::statements::Answers;

/// The history of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Past {
    /// The indexes of the `after` rules that apply.
    latched: Vec<usize>,
    /// The counts of the events that have a limit, capped at the limit.
    counts: BTreeMap<String, u64>,
    prompts: u64,
}

/// The beginning of the name of a release that does not count.
const UNCOUNTED: &str = "uncounted ";

/// The name of an event.
pub fn name(event: SessionEvent) -> String {
    match event {
        SessionEvent::Prompted => "prompt".to_owned(),
        SessionEvent::Refused => "refusal".to_owned(),
        SessionEvent::Suspected => "suspected_injection".to_owned(),
        SessionEvent::Released(kind) => kind.as_str().to_owned(),
        SessionEvent::Uncounted(kind) => format!("{UNCOUNTED}{}", kind.as_str()),
        SessionEvent::Paid(_) => "purchase".to_owned(),
        SessionEvent::Charged(_) => "payment".to_owned(),
        SessionEvent::Done(verb) => verb.as_str().to_owned(),
        SessionEvent::NewTask => "new_task".to_owned(),
    }
}

impl Model {
    pub fn then(&self, past: &Past, event: &str) -> Past {
        if event == "new_task" {
            return Past::default();
        }
        let mut next = past.clone();
        let (event, counts) = event.strip_prefix(UNCOUNTED).map_or((event, true), |kind| (kind, false));
        for (index, bar) in self.bars.iter().enumerate() {
            let begins = bar.event == event;
            if begins || bar.until == event {
                next.latched.retain(|other| *other != index);
            }
            if begins {
                next.latched.push(index);
            }
        }
        next.latched.sort_unstable();
        if let Some((_, limit)) = self.limits.iter().find(|(limited, _)| counts && limited == event) {
            let count = next.counts.entry(event.to_owned()).or_default();
            *count = (*count + 1).min(*limit);
        }
        if event == "prompt" && self.prompts.is_some_and(|limit| next.prompts < limit) {
            next.prompts += 1;
        }
        next
    }

    /// The symbols of the signals that depend on the history.
    pub fn history_symbols(&self, past: &Past, event: Event) -> [(Axis, &'static str); 3] {
        let barred = |by_suspicion| {
            let mut latched = past.latched.iter().map(|index| &self.bars[*index]);
            latched.any(|bar| bar.is_suspicion() == by_suspicion && bar.concerns(event))
        };
        let count = past.counts.get(event.name()).copied().unwrap_or(0);
        let spent = self.limit(event).is_some_and(|limit| count >= limit);
        [
            (Axis::Taint, if barred(true) { "tainted" } else { "clean" }),
            (Axis::Session, if barred(false) { "barred" } else { "free" }),
            (Axis::Uses, if spent { "spent" } else { "under" }),
        ]
    }

    pub fn prompts_symbol(&self, past: &Past) -> &'static str {
        if self.prompts.is_some_and(|limit| past.prompts >= limit) { "spent" } else { "under" }
    }

    /// Whether a case contradicts a statement of the policy.
    pub fn refutes(&self, proof: &Proof, all: &[Answers<'_>]) -> bool {
        let concerned: Vec<_> = all.iter().filter(|answers| answers.event.is_in(&proof.subject)).collect();
        if let Some(delivery) = &proof.to {
            let mut leaves = concerned.iter().flat_map(|answers| &answers.leaves);
            return leaves.any(|(_, answer)| matches!(answer, Answer::Grant(by) if by == delivery));
        }
        let Some(trigger) = &proof.after else {
            return concerned.iter().any(|answers| granted(answers, proof, &[]));
        };
        // Only the trigger and the events that a rule names matter.
        let named = self.bars.iter().flat_map(|bar| [&bar.event, &bar.until]);
        let counted = self.limits.iter().map(|(event, _)| event);
        let events: HashSet<&str> = named.chain(counted).chain([trigger]).map(String::as_str).collect();
        let mut known = vec![BTreeMap::new(); concerned.len()];
        let mut seen = HashSet::from([(Past::default(), false)]);
        let mut open = VecDeque::from([(Past::default(), false)]);
        while let Some((past, since)) = open.pop_front() {
            for (answers, known) in concerned.iter().zip(&mut known).filter(|_| since) {
                let now = self.history_symbols(&past, answers.event);
                let key = now.map(|(_, symbol)| symbol);
                if *known.entry(key).or_insert_with(|| granted(answers, proof, &now)) {
                    return true;
                }
            }
            let uncounted = events.contains("payment").then_some("uncounted payment");
            for event in events.iter().copied().chain(["new_task"]).chain(uncounted) {
                let is_trigger = event.strip_prefix(UNCOUNTED).unwrap_or(event) == trigger;
                let since = event != "new_task" && (since || is_trigger);
                let next = (self.then(&past, event), since);
                if seen.insert(next.clone()) {
                    open.push_back(next);
                }
            }
        }
        false
    }
}

/// Whether an event is granted in some case with these conditions and these symbols of the history.
fn granted(answers: &Answers<'_>, proof: &Proof, now: &[(Axis, &'static str)]) -> bool {
    let holds = |ask: &mut Asker<'_>| {
        now.iter().all(|(axis, symbol)| ask.name(*axis) == *symbol)
            && proof.conditions.iter().all(|(signal, symbols)| {
                let symbol = ask.name(Axis::from_name(signal).unwrap());
                symbols.iter().any(|named| named == symbol)
            })
    };
    answers.leaves.iter().filter(|(_, answer)| answer.grants()).any(|(cube, _)| some(cube, holds))
}
