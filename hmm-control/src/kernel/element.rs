//! Numbers as they are stored, and the vectors that stored rows are multiplied with.

use super::lanes::{Lanes, WIDTH};
use half::{bf16, f16};
use std::fmt;

/// A stored number that is computed in `f32`, without its row's scale.
pub(crate) trait Element: bytemuck::Pod {
    fn decode<L: Lanes>(lanes: L, values: &[Self; WIDTH]) -> L::Vector;
}

impl Element for f32 {
    #[inline(always)]
    fn decode<L: Lanes>(lanes: L, values: &[f32; WIDTH]) -> L::Vector {
        lanes.load(values)
    }
}

impl Element for f16 {
    #[inline(always)]
    fn decode<L: Lanes>(lanes: L, values: &[f16; WIDTH]) -> L::Vector {
        lanes.decode_f16(values)
    }
}

impl Element for bf16 {
    #[inline(always)]
    fn decode<L: Lanes>(lanes: L, values: &[bf16; WIDTH]) -> L::Vector {
        lanes.decode_bf16(values)
    }
}

/// 8 bits: the number is the square of the stored one.
impl Element for u8 {
    #[inline(always)]
    fn decode<L: Lanes>(lanes: L, values: &[u8; WIDTH]) -> L::Vector {
        lanes.decode_squares(values)
    }
}

/// The last numbers of a row, padded with zeros.
#[inline(always)]
pub(super) fn padded<E: Element>(tail: &[E]) -> [E; WIDTH] {
    let mut whole = [E::zeroed(); WIDTH];
    whole.iter_mut().zip(tail).for_each(|(whole, value)| *whole = *value);
    whole
}

/// How the numbers of a [`crate::Matrix`] are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Storage {
    /// 64-bit floats, computed in 64 bits: for checks of the mathematics.
    F64,
    /// 32-bit floats.
    F32,
    /// 16-bit floats (11 bits of precision), each row scaled by its largest entry.
    F16,
    /// bfloat16 (8 bits of precision, the range of `f32`).
    Bf16,
    /// 8 bits: `scale * q * q` with `q` in 0..=255 and a scale per row, so that small probabilities keep more of their
    /// precision than under a linear code (the smallest is 1/65025 of the row's largest).
    Bits8,
}

impl Storage {
    /// Bytes per number.
    pub const fn bytes(self) -> usize {
        match self {
            Storage::F64 => 8,
            Storage::F32 => 4,
            Storage::F16 | Storage::Bf16 => 2,
            Storage::Bits8 => 1,
        }
    }

    /// True if each row has a scale.
    pub const fn is_scaled(self) -> bool {
        matches!(self, Storage::F16 | Storage::Bits8)
    }

    /// How far from 1 the sum of a stored distribution may be.
    pub const fn tolerance(self) -> f64 {
        match self {
            Storage::F64 => 1e-6,
            Storage::F32 => 1e-4,
            Storage::F16 => 1e-2,
            Storage::Bf16 => 2e-2,
            Storage::Bits8 => 0.2,
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Storage::F64 => "f64",
            Storage::F32 => "f32",
            Storage::F16 => "f16",
            Storage::Bf16 => "bf16",
            Storage::Bits8 => "8 bits",
        })
    }
}

/// One stored row, without its scale.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    Bits8(&'a [u8]),
}

impl<'a> Row<'a> {
    /// A row over bytes that `Matrix` has checked: a wrong length or alignment reads as an empty row.
    pub(crate) fn new(storage: Storage, bytes: &'a [u8]) -> Row<'a> {
        match storage {
            Storage::F64 => Row::F64(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::F32 => Row::F32(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::F16 => Row::F16(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::Bf16 => Row::Bf16(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            Storage::Bits8 => Row::Bits8(bytes),
        }
    }

    /// Writes `scale * row`.
    pub(crate) fn read(self, scale: f64, out: &mut [f64]) {
        let out = out.iter_mut();
        match self {
            Row::F64(row) => out.zip(row).for_each(|(out, value)| *out = *value),
            Row::F32(row) => out.zip(row).for_each(|(out, value)| *out = f64::from(*value)),
            Row::F16(row) => out.zip(row).for_each(|(out, value)| *out = scale * value.to_f64()),
            Row::Bf16(row) => out.zip(row).for_each(|(out, value)| *out = value.to_f64()),
            Row::Bits8(row) => out.zip(row).for_each(|(out, value)| {
                let root = f64::from(*value);
                *out = scale * root * root;
            }),
        }
    }
}

/// A vector prepared for products with rows of one storage.
pub(crate) enum Operand {
    /// For rows of `f64`.
    Wide(Vec<f64>),
    /// For all others.
    Narrow(Narrow),
}

/// A vector in `f32`, padded with zeros to whole lanes, and a separate power of two.
///
/// The power brings the largest entry near 1, so that a vector of numbers far below the range of `f32` (a backward
/// vector of a long text, say) loses no precision.
pub(crate) struct Narrow {
    pub(super) values: Vec<[f32; WIDTH]>,
    /// The factor of the products with the values.
    pub(super) factor: f64,
}

/// The largest power of two that is at most a number; 1 where there is none.
pub(super) fn power(largest: f64) -> f64 {
    // Only the exponent. A subnormal number has none, and dividing by less would overflow.
    let power = f64::from_bits(largest.to_bits() & (0x7ff << 52));
    if power > 0.0 && power.is_finite() { power } else { 1.0 }
}

/// The largest absolute value of a vector.
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
