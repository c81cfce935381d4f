//! Covers: regions as a few cubes that a person can read.
//!
//! The paths through a diagram are disjoint cubes, often many where a few overlapping ones are the same region.
//! Each cube of a cover is as wide as the region allows, so that it names only the signals that matter.

use std::collections::HashSet;

use super::cube::Cube;
use super::diagram::{Diagrams, Edge, Leaf};
use crate::vocabulary::alphabet::Axis;

impl Diagrams {
    /// The region of one cube.
    pub(crate) fn region(&mut self, cube: &Cube) -> Edge {
        let mut region = Diagrams::EVERYTHING;
        for axis in cube.constrained_axes() {
            let here = self.test(axis, cube.mask(axis));
            region = self.and(region, here);
        }
        region
    }

    /// The disjoint cubes of a region, as its diagram has them.
    pub(crate) fn parts(&self, region: Edge) -> Vec<Cube> {
        let inside = self.cubes(region).into_iter().filter(|(_, leaf)| *leaf == Leaf::In);
        inside.map(|(cube, _)| cube).collect()
    }

    /// A few cubes that together contain `region` and lie in `allowed`, which must contain `region`. They may
    /// overlap. None of them is redundant, and none can be widened.
    pub(crate) fn cover(&mut self, region: Edge, allowed: Edge) -> Vec<Cube> {
        let (mut left, mut found) = (region, Vec::new());
        while let Some(seed) = self.parts(left).into_iter().max_by_key(Cube::count) {
            let forth = self.widest(seed, allowed, Axis::ALL.iter());
            let back = self.widest(seed, allowed, Axis::ALL.iter().rev());
            let cube = if forth.count() > back.count() { forth } else { back };
            let taken = self.region(&cube);
            left = self.minus(left, taken);
            found.push(cube);
        }
        let found = self.without_redundant(region, found);
        // The rest of the region may have more parts than the region had.
        let parts = self.parts(region);
        if found.len() <= parts.len() {
            return found;
        }
        let wide = parts.into_iter().map(|part| self.widest(part, allowed, Axis::ALL.iter())).collect();
        self.without_redundant(region, wide)
    }

    /// A cube that contains this one, lies in `allowed`, and cannot be widened there. Whole axes are freed first, so
    /// that the cube constrains few of them.
    fn widest<'a>(&self, cube: Cube, allowed: Edge, axes: impl Iterator<Item = &'a Axis> + Clone) -> Cube {
        let mut wide = cube;
        for axis in axes.clone() {
            let wider = wide.freed(*axis);
            wide = if self.lies_in(&wider, allowed) { wider } else { wide };
        }
        for axis in axes {
            for index in 0..axis.symbols().len() {
                let wider = wide.widened(*axis, 1 << index);
                wide = if self.lies_in(&wider, allowed) { wider } else { wide };
            }
        }
        wide
    }

    /// Whether every valuation of a cube is in a region.
    pub(crate) fn lies_in(&self, cube: &Cube, region: Edge) -> bool {
        let (mut open, mut seen) = (vec![region], HashSet::new());
        while let Some(at) = open.pop() {
            let Some(axis) = self.axis(at) else {
                if self.leaf(at) != Some(Leaf::In) {
                    return false;
                }
                continue;
            };
            if seen.insert(at) {
                let here =
                    (0..axis.symbols().len() as u8).filter(|index| cube.mask(axis) & (1 << index) != 0);
                open.extend(here.map(|index| self.after(at, axis, index)));
            }
        }
        true
    }

    /// The cubes without those whose part of the region is in the others.
    fn without_redundant(&mut self, region: Edge, mut cubes: Vec<Cube>) -> Vec<Cube> {
        let mut index = 0;
        while index < cubes.len() {
            let mut left = region;
            for (_, other) in cubes.iter().enumerate().filter(|(number, _)| *number != index) {
                let taken = self.region(other);
                left = self.minus(left, taken);
            }
            if left == Diagrams::NOTHING {
                cubes.remove(index);
            } else {
                index += 1;
            }
        }
        cubes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vocabulary::alphabet::Mask;

    const AXES: [Axis; 4] = [Axis::Site, Axis::Container, Axis::Sink, Axis::Consent];

    fn region() -> impl Strategy<Value = Vec<[Mask; 4]>> {
        let masks = AXES.map(|axis| 1..=axis.full());
        prop::collection::vec(masks, 0..6)
    }

    fn build(diagrams: &mut Diagrams, cubes: &[[Mask; 4]]) -> Edge {
        cubes.iter().fold(Diagrams::NOTHING, |all, masks| {
            let limit = |cube: Cube, (axis, mask): (&Axis, &Mask)| cube.narrowed(*axis, *mask).unwrap();
            let cube = AXES.iter().zip(masks).fold(Cube::whole(), limit);
            let part = diagrams.region(&cube);
            diagrams.or(all, part)
        })
    }

    proptest! {
        #[test]
        fn a_cover_is_exact_and_minimal(one in region(), free in region()) {
            let mut diagrams = Diagrams::default();
            let region = build(&mut diagrams, &one);
            let other = build(&mut diagrams, &free);
            let allowed = diagrams.or(region, other);
            let cover = diagrams.cover(region, allowed);
            let mut all = Diagrams::NOTHING;
            for cube in &cover {
                let part = diagrams.region(cube);
                prop_assert!(diagrams.lies_in(cube, allowed));
                prop_assert_eq!(diagrams.minus(part, allowed), Diagrams::NOTHING);
                all = diagrams.or(all, part);
                for axis in cube.constrained_axes() {
                    for index in 0..axis.symbols().len() {
                        let wider = cube.widened(axis, 1 << index);
                        prop_assert!(wider == *cube || !diagrams.lies_in(&wider, allowed));
                    }
                }
            }
            prop_assert_eq!(diagrams.minus(region, all), Diagrams::NOTHING);
            prop_assert!(cover.len() <= diagrams.parts(region).len());
            prop_assert_eq!(diagrams.without_redundant(region, cover.clone()), cover);
        }
    }
}
