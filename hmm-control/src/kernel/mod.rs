//! Products of stored rows with vectors: the inner loops that all the cost of a look-ahead goes into.
//!
//! Every loop is written once, over [`lanes::Lanes`] (eight `f32` at a time) and [`element::Element`] (a number as it
//! is stored), and compiled twice: for what every processor of the target has, and, where the processor turns out to
//! have them, for AVX2, FMA and F16C. The two round differently in the last bits (one multiplies and adds in one
//! rounding); on one machine the same call always gives the same result.

mod backend;
mod block;
mod element;
mod lanes;
mod operand;
mod panel;
mod rows;
mod stored;
mod tile;
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

pub(crate) use backend::Backend;
pub(crate) use block::{Packed, products};
pub(crate) use operand::{Narrow, Operand};
pub(crate) use rows::{Cells, Pair, add_rows, dots, pairs};
pub(crate) use stored::Row;
pub(crate) use wide::{add_row, dot};
