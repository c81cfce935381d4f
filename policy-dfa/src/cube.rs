//! Cubes: for each axis the symbols that are allowed.

use crate::alphabet::{Axis, Mask, Valuation};

/// A part of the space of valuations: for each axis a set of symbols.
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

    /// The cube without what it says of `axis`.
    pub(crate) fn freed(mut self, axis: Axis) -> Cube {
        if let Some(slot) = self.masks.get_mut(axis as usize) {
            *slot = axis.full();
        }
        self
    }

    /// The part that two cubes share, if there is one.
    pub(crate) fn meet(self, other: &Cube) -> Option<Cube> {
        Axis::ALL.iter().try_fold(self, |cube, axis| cube.narrowed(*axis, other.mask(*axis)))
    }

    /// How many valuations it holds.
    pub(crate) fn count(&self) -> u128 {
        Axis::ALL.iter().map(|axis| u128::from(self.mask(*axis).count_ones())).product()
    }

    /// The axes on which it says something.
    pub(crate) fn limits(&self) -> impl Iterator<Item = Axis> {
        Axis::ALL.iter().copied().filter(|axis| self.mask(*axis) != axis.full())
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
