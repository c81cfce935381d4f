//! Products of rows with one or two vectors, four rows at a time, and plain loops for rows of `f64`.

use super::backend::Backend;
use super::element::{Element, Narrow, power};
use super::lanes::{Lanes, Task, WIDTH};
use std::ops::Range;

use super::tile;
use super::tile::{TILE, Tile};

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

    /// Four rows to compute with, and the four after them. The first row of the matrix replaces a missing row; the
    /// caller drops the result.
    fn tile(self, rows: [usize; TILE], ahead: Option<[usize; TILE]>) -> Tile<'a, E> {
        let rows = rows.map(|row| if self.has(row) { self.row(row) } else { self.row(0) });
        Tile { rows, ahead: ahead.map_or([&[]; TILE], |rows| rows.map(|row| self.row(row))) }
    }

    fn has(self, row: usize) -> bool {
        !self.row(row).is_empty()
    }
}

/// The keys of the next four rows with their companion values; an empty slot has a copy of the first key.
type Numbers<K, T> = ([K; TILE], [Option<T>; TILE]);

/// Calls `each` with every tile of items and the keys of the next tile.
fn each_tile<K: Copy, T>(
    mut items: impl Iterator<Item = (K, T)>,
    mut each: impl FnMut(Numbers<K, T>, Option<[K; TILE]>),
) {
    let mut next = next_tile(&mut items);
    while let Some(tile) = next {
        next = next_tile(&mut items);
        each(tile, next.as_ref().map(|(numbers, _)| *numbers));
    }
}

/// The next four items with their companion values; an empty slot gets a copy of the first key.
fn next_tile<K: Copy, T>(items: &mut impl Iterator<Item = (K, T)>) -> Option<Numbers<K, T>> {
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
    tile: Tile<'a, E>,
    vector: &'a [[f32; WIDTH]],
}

impl<E: Element> Task for Dots<'_, E> {
    type Output = [f64; TILE];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [f64; TILE] {
        tile::dots(lanes, self.tile, self.vector)
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
    each_tile(rows.map(|row| (row, row)), |(numbers, wanted), ahead| {
        let products = backend.run(Dots { tile: matrix.tile(numbers, ahead), vector: &vector.values });
        for (row, product) in wanted.into_iter().zip(products) {
            if let Some(row) = row {
                each(row, if matrix.has(row) { product * vector.factor } else { 0.0 });
            }
        }
    });
}

/// A row and the number of its second vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) row: usize,
    pub(crate) second: usize,
}

struct Pairs<'a, E> {
    tile: Tile<'a, E>,
    first: &'a [[f32; WIDTH]],
    seconds: [&'a [[f32; WIDTH]]; TILE],
}

impl<E: Element> Task for Pairs<'_, E> {
    type Output = [[f64; 2]; TILE];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [[f64; 2]; TILE] {
        tile::pairs(lanes, self.tile, self.first, self.seconds)
    }
}

/// For every row of `rows`, calls `each` with its companion value and its products with the first vector and with its
/// own second one. A missing row or second vector counts as zeros.
pub(crate) fn pairs<'v, E: Element, T>(
    backend: Backend,
    matrix: Cells<'_, E>,
    rows: impl Iterator<Item = (Pair, T)>,
    first: &Narrow,
    second: impl Fn(usize) -> Option<&'v Narrow>,
    mut each: impl FnMut(T, [f64; 2]),
) {
    each_tile(rows, |(tile, wanted), ahead| {
        let seconds = tile.map(|pair| second(pair.second));
        let products = backend.run(Pairs {
            tile: matrix.tile(tile.map(|pair| pair.row), ahead.map(|ahead| ahead.map(|pair| pair.row))),
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
    });
}

struct Add<'a, E> {
    tile: Tile<'a, E>,
    factors: [f32; TILE],
    sum: &'a mut [[f32; WIDTH]],
}

impl<E: Element> Task for Add<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        tile::add(lanes, self.tile, self.factors, self.sum);
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
        let terms = block.iter().filter(|(row, factor)| *factor != 0.0 && matrix.has(*row)).copied();
        each_tile(terms, |(rows, factors), ahead| {
            let factors = factors.map(|factor| factor.map_or(0.0, |factor| (factor / power) as f32));
            backend.run(Add { tile: matrix.tile(rows, ahead), factors, sum: &mut sum });
        });
        let flat = sum.as_flattened_mut().iter_mut();
        out.iter_mut().zip(flat).for_each(|(out, sum)| *out += f64::from(std::mem::take(sum)) * power);
    }
}

/// The product of a row with a vector, in eight sums.
pub(crate) fn dot(row: &[f64], vector: &[f64]) -> f64 {
    let length = row.len().min(vector.len());
    let (row, row_end) = row.get(..length).unwrap_or_default().as_chunks::<8>();
    let (vector, vector_end) = vector.get(..length).unwrap_or_default().as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (row, vector) in row.iter().zip(vector) {
        sums.iter_mut().zip(row).zip(vector).for_each(|((sum, a), b)| *sum += a * b);
    }
    let end: f64 = row_end.iter().zip(vector_end).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + end
}

/// `out += factor * row`.
pub(crate) fn add_row(row: &[f64], factor: f64, out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, value)| *out += factor * value);
}
