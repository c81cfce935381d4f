//! Numbers as they are stored.

use super::lanes::{Lanes, WIDTH};
use half::{bf16, f16};

/// A stored number that is computed with in `f32`, but for its row's scale.
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

/// 8 bits: the number is the square.
impl Element for u8 {
    #[inline(always)]
    fn decode<L: Lanes>(lanes: L, values: &[u8; WIDTH]) -> L::Vector {
        lanes.decode_squares(values)
    }
}

/// A 16-bit float in 32 bits, without a branch, so that a loop of it becomes vectors.
#[inline(always)]
pub(super) fn widen(value: f16) -> f32 {
    let bits = u32::from(value.to_bits());
    let sign = (bits & 0x8000) << 16;
    let rest = (bits & 0x7fff) << 13;
    // The exponents differ by 112. A multiplication, and not an addition to the exponent, also gets the numbers
    // below the smallest normal one right, and is exact.
    let finite = (f32::from_bits(rest) * f32::from_bits((127 + 112) << 23)).to_bits();
    // Infinities and what is no number keep the largest exponent.
    let special = rest | 0x7f80_0000;
    f32::from_bits(sign | if rest >= 0x1f << 23 { special } else { finite })
}

/// The last numbers of a row, filled up with zeros.
#[inline(always)]
pub(super) fn padded<E: Element>(tail: &[E]) -> [E; WIDTH] {
    let mut whole = [E::zeroed(); WIDTH];
    whole.iter_mut().zip(tail).for_each(|(whole, value)| *whole = *value);
    whole
}
