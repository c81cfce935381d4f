//! Products of stored rows with vectors: the inner loops, which are nearly the whole cost of a look-ahead.
//!
//! Every loop is written once, over [`lanes::Lanes`] (eight `f32` at a time) and [`element::Element`] (a stored
//! number), and compiled three times: for the baseline of the target, for AVX2, FMA and F16C, and for these with
//! AVX-512, whose registers are twice as wide. The widest that the processor has is used; AVX-512 serves the products
//! with many vectors alone, since memory limits the others. The baseline rounds differently in the last bits (it
//! multiplies and adds in two roundings), and the other two alike; on one machine the same call always gives the same
//! result. A batch that asks for it is multiplied in bfloat16 instead, where the processor can.

/// Adds to the sums of each named row of a tile. A loop over the rows would keep the sums in memory.
macro_rules! each_row {
    ($totals:ident, $tile:ident, $add:ident, $($row:literal)*) => {
        $($totals[$row] = $add(&$tile[$row], $totals[$row]);)*
    };
}

mod backend;
mod bf16;
mod block;
mod element;
mod lanes;
mod rows;
mod tile;

#[cfg(test)]
mod tests;

pub(crate) use backend::{Avx512Bf16, Backend};
pub(crate) use bf16::{PackedBf16, products_bf16};
pub(crate) use block::{Packed, products};
pub use element::Storage;
pub(crate) use element::{Narrow, Operand, Row};
pub(crate) use rows::{Cells, Pair, add_row, add_rows, dot, dots, pairs};
