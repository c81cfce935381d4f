//! Statements about two valuations that differ on one axis.

use sirl::Tier;

use super::paths::Paths;
use super::violation::{Violation, outcome_in_words, violation};
use crate::automaton::cube::Cube;
use crate::vocabulary::alphabet::{Axis, Mask, mask, symbol};
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;

/// A statement about two outcomes whose valuations differ on one axis.
pub(super) struct Pair {
    pub(super) words: &'static str,
    axis: Axis,
    /// Whether two outcomes contradict the statement, given the symbols on the axis.
    contradicts: fn(Root, (u8, Outcome), (u8, Outcome)) -> bool,
}

pub(super) const STATEMENTS: [Pair; 3] = [
    Pair {
        words: "a lower safety never turns a refusal into a question or a grant",
        axis: Axis::Safety,
        contradicts: |_, low, high| worse(low.0, high.0) && rank(low.1) > rank(high.1),
    },
    Pair {
        words: "no safety turns a question into a grant of a T2 field",
        axis: Axis::Safety,
        contradicts: |root, one, other| {
            let t2 = matches!(root, Root::Request(_, Tier::T2));
            t2 && matches!((one.1, other.1), (Outcome::Ask(_), Outcome::Grant(_)))
        },
    },
    Pair {
        words: "nobody is asked about what is refused anyway",
        axis: Axis::Consent,
        contradicts: |_, asked, answered| {
            let yes = 1 << answered.0 == mask(&[symbol::Consent::Given]);
            yes && matches!((asked.1, answered.1), (Outcome::Ask(_), Outcome::Deny(..)))
        },
    },
];

fn rank(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Deny(..) => 0,
        Outcome::Ask(_) => 1,
        Outcome::Grant(_) => 2,
    }
}

/// Whether the first safety band is below the second. An unknown safety is below all.
fn worse(one: u8, other: u8) -> bool {
    let order = |band: u8| if 1 << band == Axis::Safety.unknown() { 0 } else { band + 1 };
    order(one) < order(other)
}

pub(super) fn contradiction(pair: &Pair, roots: &Paths) -> Option<Violation> {
    let found = roots.iter().flat_map(|(root, paths)| {
        let both = paths.iter().flat_map(|one| paths.iter().map(move |other| (one, other)));
        both.into_iter().filter_map(|(one, other)| case(pair, *root, one, other))
    });
    found.min_by_key(Violation::size)
}

fn case(pair: &Pair, root: Root, one: &(Cube, Outcome), other: &(Cube, Outcome)) -> Option<Violation> {
    // In every statement the first case is not denied.
    if !one.1.permits() {
        return None;
    }
    let shared = one.0.freed(pair.axis).intersect(&other.0.freed(pair.axis))?;
    let symbols = |set: Mask| (0..8u8).filter(move |index| set & (1 << index) != 0);
    symbols(one.0.mask(pair.axis)).find_map(|first| {
        let against = |second: &u8| (pair.contradicts)(root, (first, one.1), (*second, other.1));
        let second = symbols(other.0.mask(pair.axis)).find(against)?;
        let part = shared.narrowed(pair.axis, 1 << first)?;
        let mut found = violation(pair.words.to_owned(), root, (&shared, &part), one.1);
        let name = pair.axis.symbols().get(usize::from(second)).copied().unwrap_or("unknown");
        let (axis, answer) = (pair.axis.as_str(), outcome_in_words(other.1));
        found.but = Some(format!("the same is {answer} where {axis} is {name}"));
        Some(found)
    })
}
