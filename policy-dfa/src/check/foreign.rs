//! Whether a table is the policy's own. One that was made of the rules is, but for a fault in the making; one
//! that was read from bytes may be anything.

use super::violation::{Violation, answer, violation};
use crate::alphabet::Axis;
use crate::compile::{Compiled, Unchecked};
use crate::cube::Cube;
use crate::diagram::{Diagrams, Edge, Leaf};
use crate::table::Root;

/// A case that the table answers otherwise than the rules: another verdict, reason, scope or way. Takes time
/// in proportion to the table, however many ways lead through it.
pub(super) fn examine(policy: &Compiled<Unchecked>, words: &str) -> Option<Violation> {
    let mut diagrams = Diagrams::default();
    let walked: Vec<_> = policy.table.diagrams(&mut diagrams).collect();
    Root::all().enumerate().find_map(|(place, root)| {
        let ruled = policy.policy.diagram(&mut diagrams, root);
        let walked = walked.get(place).copied().unwrap_or(Diagrams::NOTHING);
        // Diagrams are equal exactly where they say the same.
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
        let apart = |place: &u8| diagrams.after(walked, axis, *place) != diagrams.after(ruled, axis, *place);
        let Some(place) = symbols(axis).find(apart) else { break };
        cube = cube.narrowed(axis, 1 << place).unwrap_or(cube);
        (walked, ruled) = (diagrams.after(walked, axis, place), diagrams.after(ruled, axis, place));
    }
    let outcome = policy.outcome(root, &cube.witness());
    let mut found = violation(words.to_owned(), root, (&Cube::whole(), &cube), outcome);
    if let Some(Leaf::Outcome(right)) = diagrams.leaf(ruled) {
        found.but = Some(format!("by the rules it is {}", answer(right)));
    }
    found
}

fn symbols(axis: Axis) -> impl Iterator<Item = u8> {
    0..axis.symbols().len() as u8
}
