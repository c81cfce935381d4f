//! Products of stored rows with vectors: the inner loops, which are nearly the whole cost of a look-ahead.
//!
//! Every loop is written once, over [`lanes::Lanes`] (eight `f32` at a time) and [`element::Element`] (a stored
//! number), and compiled twice: for the baseline of the target, and for AVX2, FMA and F16C, which are used where the
//! processor has them. The two round differently in the last bits (one multiplies and adds in one rounding); on one
//! machine the same call always gives the same result.

mod backend;
mod block;
mod element;
mod lanes;
mod rows;
mod tile;

#[cfg(test)]
mod tests;

pub(crate) use backend::Backend;
pub(crate) use block::{Packed, products};
pub use element::Storage;
pub(crate) use element::{Narrow, Operand, Row};
pub(crate) use rows::{Cells, Pair, add_row, add_rows, dot, dots, pairs};
