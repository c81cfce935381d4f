//! Loops over rows, four at a time.

use super::backend::{Backend, Task};
use super::element::Element;
use super::lanes::{Lanes, WIDTH};
use super::operand::{Narrow, power};
use super::tile::{self, TILE};
use std::ops::Range;

/// The numbers of a matrix, row by row.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a, E> {
    pub(crate) cells: &'a [E],
    pub(crate) columns: usize,
}

impl<'a, E: Copy> Cells<'a, E> {
    /// A row; empty when there is none.
    #[inline]
    pub(crate) fn row(self, row: usize) -> &'a [E] {
        let start = row.saturating_mul(self.columns);
        self.cells.get(start..start.saturating_add(self.columns)).unwrap_or_default()
    }

    /// Four rows to compute with. The place of a row that is not there is taken by the first of the matrix, which
    /// is there if any is; the caller drops what comes of it.
    fn tile(self, rows: [usize; TILE]) -> [&'a [E]; TILE] {
        rows.map(|row| {
            let found = self.row(row);
            if found.is_empty() { self.row(0) } else { found }
        })
    }

    fn has(self, row: usize) -> bool {
        !self.row(row).is_empty()
    }
}

/// The next four items, and what belongs to them; a place that stays empty is taken by a copy of the first.
fn next_tile<K: Copy, T>(items: &mut impl Iterator<Item = (K, T)>) -> Option<([K; TILE], [Option<T>; TILE])> {
    let (first, belongs) = items.next()?;
    let mut keys = [first; TILE];
    let mut rest = [Some(belongs), None, None, None];
    for ((key, place), (next, belongs)) in keys.iter_mut().zip(&mut rest).skip(1).zip(items) {
        *key = next;
        *place = Some(belongs);
    }
    Some((keys, rest))
}

struct Dots<'a, E> {
    rows: [&'a [E]; TILE],
    vector: &'a [[f32; WIDTH]],
}

impl<E: Element> Task for Dots<'_, E> {
    type Output = [f64; TILE];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [f64; TILE] {
        tile::dots(lanes, self.rows, self.vector)
    }
}

/// Calls `each` with every row of `rows` and its product with the vector.
pub(crate) fn dots<E: Element>(
    backend: Backend,
    matrix: Cells<'_, E>,
    rows: Range<usize>,
    vector: &Narrow,
    mut each: impl FnMut(usize, f64),
) {
    let mut rows = rows.map(|row| (row, row));
    while let Some((numbers, wanted)) = next_tile(&mut rows) {
        let products = backend.run(Dots { rows: matrix.tile(numbers), vector: &vector.values });
        for (row, product) in wanted.into_iter().zip(products) {
            if let Some(row) = row {
                each(row, if matrix.has(row) { product * vector.factor } else { 0.0 });
            }
        }
    }
}

/// A row, and which second vector it is multiplied with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) row: usize,
    pub(crate) second: usize,
}

struct Pairs<'a, E> {
    rows: [&'a [E]; TILE],
    first: &'a [[f32; WIDTH]],
    seconds: [&'a [[f32; WIDTH]]; TILE],
}

impl<E: Element> Task for Pairs<'_, E> {
    type Output = [[f64; 2]; TILE];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [[f64; 2]; TILE] {
        tile::pairs(lanes, self.rows, self.first, self.seconds)
    }
}

/// For every row of `rows`, calls `each` with what came with it and its products with the first vector and with its
/// own second one. A row or a second vector that is not there counts as zeros.
pub(crate) fn pairs<'v, E: Element, T>(
    backend: Backend,
    matrix: Cells<'_, E>,
    mut rows: impl Iterator<Item = (Pair, T)>,
    first: &Narrow,
    second: impl Fn(usize) -> Option<&'v Narrow>,
    mut each: impl FnMut(T, [f64; 2]),
) {
    while let Some((tile, wanted)) = next_tile(&mut rows) {
        let seconds = tile.map(|pair| second(pair.second));
        let products = backend.run(Pairs {
            rows: matrix.tile(tile.map(|pair| pair.row)),
            first: &first.values,
            seconds: seconds.map(|second| second.map_or(first.values.as_slice(), |second| &second.values)),
        });
        let factors = seconds.map(|second| second.map_or(0.0, |second| second.factor));
        for (((pair, wanted), second), [a, b]) in tile.iter().zip(wanted).zip(factors).zip(products) {
            if let Some(wanted) = wanted {
                let there = if matrix.has(pair.row) { 1.0 } else { 0.0 };
                each(wanted, [a * first.factor * there, b * second * there]);
            }
        }
    }
}

struct Add<'a, E> {
    rows: [&'a [E]; TILE],
    factors: [f32; TILE],
    sum: &'a mut [[f32; WIDTH]],
}

impl<E: Element> Task for Add<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        tile::add(lanes, self.rows, self.factors, self.sum);
    }
}

/// Tiles that are added up in `f32` before the sum moves to `f64`.
const TILES_A_BLOCK: usize = 64;

/// `out[c] += sum over the terms of factor * matrix[row][c]`.
pub(crate) fn add_rows<E: Element>(
    backend: Backend,
    matrix: Cells<'_, E>,
    terms: &[(usize, f64)],
    out: &mut [f64],
) {
    let largest = terms.iter().fold(0.0_f64, |largest, (_, factor)| largest.max(factor.abs()));
    let power = power(largest);
    let mut sum = vec![[0.0; WIDTH]; matrix.columns.div_ceil(WIDTH)];
    for block in terms.chunks(TILE * TILES_A_BLOCK) {
        let mut terms = block.iter().filter(|(row, factor)| *factor != 0.0 && matrix.has(*row)).copied();
        while let Some((rows, factors)) = next_tile(&mut terms) {
            let factors = factors.map(|factor| factor.map_or(0.0, |factor| (factor / power) as f32));
            backend.run(Add { rows: matrix.tile(rows), factors, sum: &mut sum });
        }
        let flat = sum.as_flattened_mut().iter_mut();
        out.iter_mut().zip(flat).for_each(|(out, sum)| *out += f64::from(std::mem::take(sum)) * power);
    }
}
