//! All rules about a password as one automaton over groups of characters, and the number of passwords that it accepts.
//!
//! Characters of one group have the same effect on every rule, so a state needs no single characters. The numbers of accepted passwords
//! are exact up to the precision of a float: a password is drawn so that each accepted one is as likely as any other, and its entropy is
//! the logarithm of their number.

use std::collections::HashMap;

use browser_signals::password_rules::CharacterSet;
use regex_automata::util::primitives::StateID;

use super::pattern::Part;

/// The most characters of a password.
pub(super) const LONGEST: usize = 64;

/// The most states. Rules that need more are not those of a form for people.
const MOST_STATES: usize = 6_000;

/// The rules for one choice of characters.
pub(super) struct Rules<'r> {
    pub(super) alphabet: CharacterSet,
    pub(super) required: &'r [CharacterSet],
    pub(super) max_consecutive: Option<u32>,
    pub(super) parts: Vec<&'r Part>,
}

/// What a password so far means for the rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    /// The required sets that it has a character of.
    seen: u32,
    parts: Vec<StateID>,
    /// The group of the last character, and how often that follows itself, where that counts.
    last: Option<(usize, u32)>,
}

/// The choice of the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// Any character of the group.
    Any(usize),
    /// The last character once more.
    Again,
    /// Another character of the group of the last one.
    Other(usize),
}

/// A step to another state, and how many characters take it.
pub(super) struct Step {
    pub(super) choice: Choice,
    pub(super) to: usize,
    weight: f64,
}

/// The rules as one automaton.
pub(super) struct Automaton {
    groups: Vec<Vec<u8>>,
    steps: Vec<Vec<Step>>,
    /// For each number of characters and each state: how many texts of that length lead to an end.
    counts: Vec<Vec<f64>>,
}

impl Automaton {
    /// The automaton; none where it has too many states.
    pub(super) fn of(rules: &Rules<'_>) -> Option<Automaton> {
        let seen_by = |byte: u8| {
            let sets = rules.required.iter().enumerate().filter(|(_, set)| set.contains(byte));
            sets.fold(0_u32, |bits, (at, _)| bits | 1 << at)
        };
        let mut by_effect: HashMap<(u32, Vec<u8>), usize> = HashMap::new();
        let mut groups: Vec<Vec<u8>> = Vec::new();
        for byte in rules.alphabet.iter() {
            let effect = (seen_by(byte), rules.parts.iter().map(|part| part.class(byte)).collect());
            let group = *by_effect.entry(effect).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.push(byte),
                None => groups.push(vec![byte]),
            }
        }
        let all = (1_u32 << rules.required.len()) - 1;
        let first =
            State { seen: 0, parts: rules.parts.iter().map(|part| part.start()).collect(), last: None };
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let (mut states, mut steps, mut ends) = (vec![first], Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(state) = states.get(at).cloned() {
            at += 1;
            let is_match = rules.parts.iter().zip(&state.parts).all(|(part, state)| part.accepts(*state));
            ends.push(f64::from(u8::from(is_match && state.seen == all)));
            let mut own = Vec::new();
            for (group, bytes) in groups.iter().enumerate() {
                let Some(byte) = bytes.first().copied() else { continue };
                let parts: Vec<StateID> = rules
                    .parts
                    .iter()
                    .zip(&state.parts)
                    .map(|(part, state)| part.next(*state, byte))
                    .collect();
                if rules.parts.iter().zip(&parts).any(|(part, state)| part.is_lost(*state)) {
                    continue;
                }
                let seen = state.seen | seen_by(byte);
                for (choice, run, weight) in choices(&state, group, bytes.len(), rules.max_consecutive) {
                    let last = rules.max_consecutive.map(|_| (group, run));
                    let next = State { seen, parts: parts.clone(), last };
                    let to = *numbers.entry(next).or_insert_with_key(|next| {
                        states.push(next.clone());
                        states.len() - 1
                    });
                    own.push(Step { choice, to, weight });
                }
            }
            steps.push(own);
            if states.len() > MOST_STATES {
                return None;
            }
        }
        let mut counts = vec![ends];
        for length in 1..=LONGEST {
            let before = counts.get(length - 1)?;
            let of_step = |step: &Step| step.weight * before.get(step.to).copied().unwrap_or_default();
            let now = steps.iter().map(|own| own.iter().map(of_step).sum()).collect();
            counts.push(now);
        }
        Some(Automaton { groups, steps, counts })
    }

    /// How many passwords of this length the rules accept.
    pub(super) fn count(&self, length: usize) -> f64 {
        self.counts.get(length).and_then(|counts| counts.first()).copied().unwrap_or_default()
    }

    /// The steps from a state with `left` characters to come, each with its share.
    pub(super) fn steps(&self, state: usize, left: usize) -> impl Iterator<Item = (&Step, f64)> {
        let after = left.checked_sub(1).and_then(|after| self.counts.get(after));
        let steps = self.steps.get(state).into_iter().flatten();
        steps.map(move |step| {
            let count = after.and_then(|after| after.get(step.to)).copied().unwrap_or_default();
            (step, step.weight * count)
        })
    }

    /// The characters of a group.
    pub(super) fn group(&self, at: usize) -> &[u8] {
        self.groups.get(at).map_or(&[], Vec::as_slice)
    }
}

/// The choices within a group: the character, its run after the choice, and how many characters there are.
fn choices(state: &State, group: usize, size: usize, most: Option<u32>) -> Vec<(Choice, u32, f64)> {
    let weight = |characters: usize| f64::from(u32::try_from(characters).unwrap_or(u32::MAX));
    let (Some(most), Some((last, run))) = (most, state.last.filter(|(last, _)| *last == group)) else {
        return vec![(Choice::Any(group), 1, weight(size))];
    };
    let again = (run < most).then_some((Choice::Again, run + 1, 1.0));
    let other = (size > 1).then(|| (Choice::Other(last), 1, weight(size - 1)));
    again.into_iter().chain(other).collect()
}
