//! Eight numbers at a time.

use super::block::{HEIGHT, Panel, Tile, multiply_halves};
use half::{bf16, f16};

/// Numbers in a vector.
pub(crate) const WIDTH: usize = 8;

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;

/// Eight `f32` and the operations that the loops need. A value of an implementing type is the permission to use its
/// instructions.
pub(crate) trait Lanes: Copy {
    /// Eight numbers in registers.
    type Vector: Copy;

    fn splat(self, value: f32) -> Self::Vector;
    fn load(self, values: &[f32; WIDTH]) -> Self::Vector;
    fn store(self, vector: Self::Vector, values: &mut [f32; WIDTH]);
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + sum`.
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, sum: Self::Vector) -> Self::Vector;
    fn decode_f16(self, values: &[f16; WIDTH]) -> Self::Vector;
    fn decode_bf16(self, values: &[bf16; WIDTH]) -> Self::Vector;
    /// The squares of the numbers.
    fn decode_squares(self, values: &[u8; WIDTH]) -> Self::Vector;
    /// Prefetches the memory `bytes` after a reference. It is only a hint.
    fn prefetch<T>(self, place: &T, bytes: usize);

    /// `sums[r][c] += sum over k of tile[r][start + k] * panel[k][c]`.
    #[inline(always)]
    fn multiply_panel(self, tile: &Tile, start: usize, panel: &[Panel], sums: &mut [Panel; HEIGHT]) {
        multiply_halves(self, tile, start, panel, sums);
    }

    /// The sum of the eight, as a tree.
    #[inline(always)]
    fn sum(self, vector: Self::Vector) -> f32 {
        let mut values = [0.0; WIDTH];
        self.store(vector, &mut values);
        let [a, b, c, d, e, f, g, h] = values;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

/// Arrays, which the compiler turns into the target's vectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable;

impl Lanes for Portable {
    type Vector = [f32; WIDTH];

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        [value; WIDTH]
    }

    #[inline(always)]
    fn load(self, values: &[f32; WIDTH]) -> Self::Vector {
        *values
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector, values: &mut [f32; WIDTH]) {
        *values = vector;
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, mut b: Self::Vector) -> Self::Vector {
        b.iter_mut().zip(a).for_each(|(b, a)| *b += a);
        b
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, mut sum: Self::Vector) -> Self::Vector {
        // Not `mul_add`: without an instruction for it, that is a function call for each number.
        sum.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
        sum
    }

    #[inline(always)]
    fn decode_f16(self, values: &[f16; WIDTH]) -> Self::Vector {
        values.map(widen)
    }

    #[inline(always)]
    fn decode_bf16(self, values: &[bf16; WIDTH]) -> Self::Vector {
        values.map(|value| f32::from_bits(u32::from(value.to_bits()) << 16))
    }

    #[inline(always)]
    fn decode_squares(self, values: &[u8; WIDTH]) -> Self::Vector {
        values.map(|value| {
            let value = f32::from(value);
            value * value
        })
    }

    #[inline(always)]
    fn prefetch<T>(self, _place: &T, _bytes: usize) {}
}

/// Widens a 16-bit float without a branch, so that a loop of it is vectorised.
#[inline(always)]
fn widen(value: f16) -> f32 {
    let bits = u32::from(value.to_bits());
    let sign = (bits & 0x8000) << 16;
    let rest = (bits & 0x7fff) << 13;
    // The exponents differ by 112. A multiplication, and not an addition to the exponent, also gets the numbers
    // below the smallest normal one right, and is exact.
    let finite = (f32::from_bits(rest) * f32::from_bits((127 + 112) << 23)).to_bits();
    // Infinities and NaNs keep the largest exponent.
    let special = rest | 0x7f80_0000;
    f32::from_bits(sign | if rest >= 0x1f << 23 { special } else { finite })
}

/// Work that is written for any lanes. `run` and everything that it calls is `#[inline(always)]`, so that it is
/// compiled for the instructions of the function that it is inlined into.
pub(super) trait Task {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}
