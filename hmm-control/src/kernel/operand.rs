//! Vectors to multiply rows with.

use super::lanes::WIDTH;
use crate::Storage;

/// A vector made ready to be multiplied with rows of one storage.
pub(crate) enum Operand {
    /// For rows of `f64`.
    Wide(Vec<f64>),
    /// For all others.
    Narrow(Narrow),
}

/// A vector in `f32`, its length filled up with zeros to whole lanes, and a power of two apart.
///
/// The power takes the largest entry near 1: a vector of numbers far below the range of `f32` (a backward vector of
/// a long text, say) loses nothing.
pub(crate) struct Narrow {
    pub(super) values: Vec<[f32; WIDTH]>,
    /// What products with the values are to be multiplied by.
    pub(super) factor: f64,
}

/// The power of two that is not above a number; 1 where there is none.
pub(super) fn power(largest: f64) -> f64 {
    // Only the exponent; below the smallest normal number there is none, and dividing by less would overflow.
    let power = f64::from_bits(largest.to_bits() & (0x7ff << 52));
    if power > 0.0 && power.is_finite() { power } else { 1.0 }
}

/// The largest of a vector, without its sign.
pub(super) fn largest(vector: &[f64]) -> f64 {
    vector.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

impl Operand {
    pub(crate) fn new(storage: Storage, vector: &[f64]) -> Operand {
        if storage == Storage::F64 {
            return Operand::Wide(vector.to_vec());
        }
        let factor = power(largest(vector));
        let mut values = vec![[0.0; WIDTH]; vector.len().div_ceil(WIDTH)];
        let flat = values.as_flattened_mut().iter_mut();
        flat.zip(vector).for_each(|(value, given)| *value = (given / factor) as f32);
        Operand::Narrow(Narrow { values, factor })
    }
}
