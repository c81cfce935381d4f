//! Cubes: products of symbol sets, one for each axis.

use crate::vocabulary::alphabet::{Axis, Mask, Valuation};

/// A part of the space of valuations, as a set of symbols for each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Cube {
    masks: [Mask; Axis::COUNT],
}

impl Cube {
    pub(crate) fn whole() -> Cube {
        let mut cube = Cube { masks: [0; Axis::COUNT] };
        for (slot, axis) in cube.masks.iter_mut().zip(Axis::ALL) {
            *slot = axis.full();
        }
        cube
    }

    pub(crate) fn mask(&self, axis: Axis) -> Mask {
        self.masks.get(axis as usize).copied().unwrap_or(0)
    }

    /// The part of the cube where `axis` is in `symbols`, if there is one.
    pub(crate) fn narrowed(mut self, axis: Axis, symbols: Mask) -> Option<Cube> {
        let slot = self.masks.get_mut(axis as usize)?;
        *slot &= symbols;
        (*slot != 0).then_some(self)
    }

    /// The cube with every symbol of `axis`.
    pub(crate) fn freed(mut self, axis: Axis) -> Cube {
        if let Some(slot) = self.masks.get_mut(axis as usize) {
            *slot = axis.full();
        }
        self
    }

    /// The intersection of two cubes, if it is not empty.
    pub(crate) fn intersect(self, other: &Cube) -> Option<Cube> {
        Axis::ALL.iter().try_fold(self, |cube, axis| cube.narrowed(*axis, other.mask(*axis)))
    }

    /// The number of its valuations.
    pub(crate) fn count(&self) -> u128 {
        Axis::ALL.iter().map(|axis| u128::from(self.mask(*axis).count_ones())).product()
    }

    /// The axes on which it lacks some symbol.
    pub(crate) fn constrained_axes(&self) -> impl Iterator<Item = Axis> {
        Axis::ALL.iter().copied().filter(|axis| self.mask(*axis) != axis.full())
    }

    pub(crate) fn contains(&self, valuation: &Valuation) -> bool {
        Axis::ALL.iter().all(|axis| self.mask(*axis) & (1 << valuation.get(*axis)) != 0)
    }

    /// The cube with more symbols on one axis.
    pub(crate) fn widened(self, axis: Axis, symbols: Mask) -> Cube {
        let wider = self.mask(axis) | symbols;
        self.freed(axis).narrowed(axis, wider).unwrap_or(self)
    }

    /// One valuation of the cube: the first symbol of each axis.
    pub(crate) fn witness(&self) -> Valuation {
        let mut valuation = Valuation::FIRST;
        for axis in Axis::ALL {
            valuation.set(*axis, self.mask(*axis).trailing_zeros() as u8);
        }
        valuation
    }
}
