//! The paths of the automaton, in which the proofs search for counterexamples.

use super::violation::Violation;
use crate::automaton::cube::Cube;
use crate::language::policy::Proof;
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;

/// The paths from each root to its outcomes.
pub(super) type Paths = Vec<(Root, Vec<(Cube, Outcome)>)>;

/// The counterexample with the fewest signals.
pub(super) fn shortest(
    roots: &Paths,
    contradicts: impl Fn(Root, &Cube, Outcome) -> Option<Violation>,
) -> Option<Violation> {
    let cases = roots.iter().flat_map(|(root, paths)| paths.iter().map(move |(cube, out)| (root, cube, out)));
    let found = cases.filter_map(|(root, cube, outcome)| contradicts(*root, cube, *outcome));
    found.min_by_key(Violation::size)
}

/// The cube without its constraints on the signals that a statement names. A violation lists those signals as the
/// cause.
pub(super) fn without_named_axes(cube: Cube, proof: &Proof) -> Cube {
    match proof {
        Proof::NeverGrant { conditions, .. } => {
            conditions.iter().fold(cube, |cube, named| cube.freed(named.axis))
        }
        Proof::NeverDeliver { .. } => cube,
    }
}
