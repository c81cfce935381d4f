//! Statements about the automaton as a whole: it is total, it is equivalent to the rules in whatever order they are
//! read, and an unknown signal never permits more than a known one.

use super::violation::{Violation, outcome_in_words, violation};
use crate::automaton::compile::{Compiled, Unchecked};
use crate::automaton::cube::Cube;
use crate::automaton::diagram::{Diagrams, Edge, Leaf};
use crate::automaton::guards::{End, Guard, Rules};
use crate::vocabulary::alphabet::{Axis, Symbol, symbol};
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;

pub(super) const STATEMENTS: [&str; 3] = [
    "every combination of signals has exactly one answer",
    "the answer is that of the rules, in whatever order they stand",
    "a signal that is unknown never opens what some value of it would refuse",
];

/// Each statement, with a counterexample where it does not hold.
pub(super) fn examine(policy: &Compiled<Unchecked>) -> [(&'static str, Option<Violation>); 3] {
    let [total, equivalent, unknown] = STATEMENTS;
    [
        (total, Root::all().find_map(|root| hole(policy, root, total))),
        (equivalent, verdict_difference(policy, equivalent).or_else(|| difference(policy))),
        (unknown, Root::all().find_map(|root| better_unknown(policy, root, unknown))),
    ]
}

/// A case without an outcome. The paths must fill the space, and a walk along each path must end in its outcome.
fn hole(policy: &Compiled<Unchecked>, root: Root, words: &str) -> Option<Violation> {
    let paths = policy.table.paths(root);
    let whole = Cube::whole();
    let filled: u128 = paths.iter().map(|(cube, _)| cube.count()).sum();
    let astray = paths.iter().find(|(cube, outcome)| policy.outcome(root, &cube.witness()) != *outcome);
    let case = match astray {
        Some((cube, _)) => *cube,
        None if filled != whole.count() || policy.table.is_broken(root) => whole,
        None => return None,
    };
    let outcome = policy.outcome(root, &case.witness());
    Some(violation(words.to_owned(), root, (&whole, &case), outcome))
}

/// A case in which the automaton grants or asks and the rules do not, or the other way round. Here the rules are a
/// conjunction, which has no order. Only the reason of a denial depends on an order, which is that of the signals.
fn verdict_difference(policy: &Compiled<Unchecked>, words: &str) -> Option<Violation> {
    Root::all().find_map(|root| verdict_difference_at(policy, root, words))
}

fn verdict_difference_at(policy: &Compiled<Unchecked>, root: Root, words: &str) -> Option<Violation> {
    let mut diagrams = Diagrams::default();
    let walked = policy.table.diagram(&mut diagrams, root);
    let granted = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Grant(_)));
    let asked = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Ask(_)));
    let (to_grant, to_ask) = match policy.policy.rules(root) {
        Rules::Fixed(Outcome::Grant(_)) => (Diagrams::EVERYTHING, Diagrams::NOTHING),
        Rules::Fixed(_) => (Diagrams::NOTHING, Diagrams::NOTHING),
        Rules::Chain(guards, end) => conjunction(&mut diagrams, &guards, end),
    };
    for (found, expected) in [(granted, to_grant), (asked, to_ask)] {
        let more = diagrams.minus(found, expected);
        let less = diagrams.minus(expected, found);
        let apart = diagrams.or(more, less);
        let case = diagrams.cubes(apart).into_iter().find(|(_, leaf)| *leaf == Leaf::In);
        if let Some((cube, _)) = case {
            let outcome = policy.outcome(root, &cube.witness());
            return Some(violation(words.to_owned(), root, (&Cube::whole(), &cube), outcome));
        }
    }
    None
}

/// A case in which an unknown signal permits more than some value of it: the event is granted, or is granted or asked
/// about, only while the signal is unknown.
fn better_unknown(policy: &Compiled<Unchecked>, root: Root, words: &str) -> Option<Violation> {
    let mut diagrams = Diagrams::default();
    let walked = policy.table.diagram(&mut diagrams, root);
    let granted = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Grant(_)));
    let opened = diagrams.where_ends(walked, |outcome| !matches!(outcome, Outcome::Deny(..)));
    for axis in Axis::ALL.iter().copied().filter(|axis| axis.unknown() != 0) {
        for region in [granted, opened] {
            let unknown = diagrams.restrict(region, axis, axis.unknown());
            for index in 0..axis.symbols().len() as u8 {
                let known = diagrams.restrict(region, axis, 1 << index);
                let more = diagrams.minus(unknown, known);
                let case = diagrams.cubes(more).into_iter().find(|(_, leaf)| *leaf == Leaf::In);
                if let Some((cube, _)) = case {
                    let part = cube.narrowed(axis, axis.unknown()).unwrap_or(cube);
                    let outcome = policy.outcome(root, &part.witness());
                    let mut found = violation(words.to_owned(), root, (&cube, &part), outcome);
                    let mut other = part.witness();
                    other.set(axis, index);
                    let (axis, symbol) = (axis.as_str(), other.name(axis));
                    let answer = outcome_in_words(policy.outcome(root, &other));
                    found.but = Some(format!("the same is {answer} where {axis} is {symbol}"));
                    return Some(found);
                }
            }
        }
    }
    None
}

/// The regions in which a chain of guards grants and asks, composed without an order.
fn conjunction(diagrams: &mut Diagrams, guards: &[Guard], end: End) -> (Edge, Edge) {
    let (mut all, mut prompting) = (Diagrams::EVERYTHING, Diagrams::NOTHING);
    for guard in guards {
        let passes = diagrams.test(guard.axis, guard.pass);
        let unknown = diagrams.test(guard.axis, guard.axis.unknown());
        let (applies, unclear) = match guard.when {
            None => (Diagrams::EVERYTHING, Diagrams::NOTHING),
            Some(when) => {
                (diagrams.test(when.axis, when.symbols), diagrams.test(when.axis, when.axis.unknown()))
            }
        };
        let fails = diagrams.not(passes);
        let known = diagrams.minus(fails, unknown);
        let soft = if guard.soft { diagrams.and(applies, known) } else { Diagrams::NOTHING };
        let skipped = diagrams.not(applies);
        let met = diagrams.or(passes, skipped);
        let met = diagrams.or(met, soft);
        let met = diagrams.minus(met, unclear);
        all = diagrams.and(all, met);
        prompting = diagrams.or(prompting, soft);
    }
    let soft_failed = prompting;
    if end.scope.is_some() {
        prompting = Diagrams::EVERYTHING;
    }
    let given = diagrams.is(symbol::Consent::Given);
    let mandated = diagrams.is(symbol::Consent::Mandated);
    let none = diagrams.is(symbol::Consent::None);
    // A mandate answers where the policy lets it and no soft guard failed, and else it is no answer.
    let withdrawn = if end.mandate { soft_failed } else { Diagrams::EVERYTHING };
    let kept = diagrams.not(withdrawn);
    let covered = diagrams.and(mandated, kept);
    let uncovered = diagrams.and(mandated, withdrawn);
    let given = diagrams.or(given, covered);
    let unanswered = diagrams.or(none, uncovered);
    let left = diagrams.test(Axis::Prompts, 1 << symbol::Prompts::Under.index());
    let free = diagrams.not(prompting);
    let agreed = diagrams.or(free, given);
    let granted = diagrams.and(all, agreed);
    let open = diagrams.and(prompting, unanswered);
    let open = if end.counted { diagrams.and(open, left) } else { open };
    (granted, diagrams.and(all, open))
}

/// A case in which the table has another outcome than the rules: another verdict, reason, scope or delivery. The time
/// is proportional to the size of the table, however many paths it has.
pub(super) fn difference(policy: &Compiled<Unchecked>) -> Option<Violation> {
    let [_, words, _] = STATEMENTS;
    let mut diagrams = Diagrams::default();
    let walked: Vec<_> = policy.table.diagrams(&mut diagrams).collect();
    Root::all().enumerate().find_map(|(index, root)| {
        let ruled = policy.policy.diagram(&mut diagrams, root);
        let walked = walked.get(index).copied().unwrap_or(Diagrams::NOTHING);
        // Two diagrams are equal exactly where they represent the same function.
        (walked != ruled).then(|| case(policy, words, root, (&diagrams, walked, ruled)))
    })
}

/// A case in which two diagrams that are not equal differ.
fn case(
    policy: &Compiled<Unchecked>,
    words: &str,
    root: Root,
    (diagrams, mut walked, mut ruled): (&Diagrams, Edge, Edge),
) -> Violation {
    let mut cube = Cube::whole();
    while let Some(axis) = [walked, ruled].into_iter().filter_map(|edge| diagrams.axis(edge)).min() {
        let differs =
            |index: &u8| diagrams.after(walked, axis, *index) != diagrams.after(ruled, axis, *index);
        let Some(index) = (0..axis.symbols().len() as u8).find(differs) else { break };
        cube = cube.narrowed(axis, 1 << index).unwrap_or(cube);
        (walked, ruled) = (diagrams.after(walked, axis, index), diagrams.after(ruled, axis, index));
    }
    let outcome = policy.outcome(root, &cube.witness());
    let mut found = violation(words.to_owned(), root, (&Cube::whole(), &cube), outcome);
    if let Some(Leaf::Outcome(right)) = diagrams.leaf(ruled) {
        found.but = Some(format!("by the rules it is {}", outcome_in_words(right)));
    }
    found
}
