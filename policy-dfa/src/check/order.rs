//! Statements about the automaton as a whole: it has an answer for everything, the answer is that of the
//! rules, in whatever order they are read, and not knowing is never better than knowing.

use super::foreign;
use super::violation::{Violation, answer, violation};
use crate::alphabet::{Axis, Symbol, symbol};
use crate::compile::{Compiled, Unchecked};
use crate::cube::Cube;
use crate::diagram::{Diagrams, Edge, Leaf};
use crate::guard::{End, Guard, Rules};
use crate::table::{Outcome, Root};

pub(super) const STATEMENTS: [&str; 3] = [
    "every combination of signals has exactly one answer",
    "the answer is that of the rules, in whatever order they stand",
    "a signal that is unknown never opens what some value of it would refuse",
];

/// Each statement, with a counterexample where it does not hold.
pub(super) fn examine(policy: &Compiled<Unchecked>) -> [(&'static str, Option<Violation>); 3] {
    let [total, order, unknown] = STATEMENTS;
    [
        (total, Root::all().find_map(|root| hole(policy, root, total))),
        (order, different(policy, order)),
        (unknown, Root::all().find_map(|root| better_unknown(policy, root, unknown))),
    ]
}

/// The ways to the outcomes must fill the space, and walking into each must end where it says.
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

/// The verdicts are compared with those of another reading of the rules, then all that an answer says with the
/// rules' own automaton.
fn different(policy: &Compiled<Unchecked>, words: &str) -> Option<Violation> {
    let verdict = Root::all().find_map(|root| difference(policy, root, words));
    verdict.or_else(|| foreign::examine(policy, words))
}

/// What opens by the automaton, against what opens by the rules as a conjunction, which has no order. Only
/// the reason of a refusal depends on an order, and that is the order of the signals.
fn difference(policy: &Compiled<Unchecked>, root: Root, words: &str) -> Option<Violation> {
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

/// For each signal: what is granted, and what is granted or asked, while it is unknown must be so with every
/// value of it.
fn better_unknown(policy: &Compiled<Unchecked>, root: Root, words: &str) -> Option<Violation> {
    let mut diagrams = Diagrams::default();
    let walked = policy.table.diagram(&mut diagrams, root);
    let granted = diagrams.where_ends(walked, |outcome| matches!(outcome, Outcome::Grant(_)));
    let opened = diagrams.where_ends(walked, |outcome| !matches!(outcome, Outcome::Deny(..)));
    for axis in Axis::ALL.iter().copied().filter(|axis| axis.unknown() != 0) {
        for region in [granted, opened] {
            let unknown = diagrams.restrict(region, axis, axis.unknown());
            for place in 0..axis.symbols().len() as u8 {
                let known = diagrams.restrict(region, axis, 1 << place);
                let more = diagrams.minus(unknown, known);
                let case = diagrams.cubes(more).into_iter().find(|(_, leaf)| *leaf == Leaf::In);
                if let Some((cube, _)) = case {
                    let part = cube.narrowed(axis, axis.unknown()).unwrap_or(cube);
                    let outcome = policy.outcome(root, &part.witness());
                    let mut found = violation(words.to_owned(), root, (&cube, &part), outcome);
                    let mut other = part.witness();
                    other.set(axis, place);
                    let (axis, symbol) = (axis.as_str(), other.name(axis));
                    let answer = answer(policy.outcome(root, &other));
                    found.but = Some(format!("the same is {answer} where {axis} is {symbol}"));
                    return Some(found);
                }
            }
        }
    }
    None
}

/// Where guards grant and where they ask, put together with `and` and `or` alone.
fn conjunction(diagrams: &mut Diagrams, guards: &[Guard], end: End) -> (Edge, Edge) {
    let (mut all, mut asking) = (Diagrams::EVERYTHING, Diagrams::NOTHING);
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
        asking = diagrams.or(asking, soft);
    }
    if end.scope.is_some() {
        asking = Diagrams::EVERYTHING;
    }
    let given = diagrams.is(symbol::Consent::Given);
    let unasked = diagrams.is(symbol::Consent::None);
    let left = diagrams.test(Axis::Prompts, 1 << symbol::Prompts::Under.index());
    let free = diagrams.not(asking);
    let agreed = diagrams.or(free, given);
    let granted = diagrams.and(all, agreed);
    let open = diagrams.and(asking, unasked);
    let open = if end.counted { diagrams.and(open, left) } else { open };
    (granted, diagrams.and(all, open))
}
