//! Loops over rows, four at a time.

use super::backend::{Backend, Task};
use super::element::Element;
use super::lanes::{Lanes, WIDTH};
use super::operand::{Narrow, power};
use super::tile::{self, TILE, Tile};
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

    /// Four rows to compute with, and those that come after them. The place of a row that is not there is taken by
    /// the first of the matrix, which is there if any is; the caller drops what comes of it.
    fn tile(self, rows: [usize; TILE], ahead: Option<[usize; TILE]>) -> Tile<'a, E> {
        let rows = rows.map(|row| if self.has(row) { self.row(row) } else { self.row(0) });
        Tile { rows, ahead: ahead.map_or([&[]; TILE], |rows| rows.map(|row| self.row(row))) }
    }

    fn has(self, row: usize) -> bool {
        !self.row(row).is_empty()
    }
}

/// The numbers of the next four rows, and what belongs to each; an empty place has a copy of the first.
type Numbers<K, T> = ([K; TILE], [Option<T>; TILE]);

/// Goes over items in tiles, each with the one after it.
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

/// The next four items, and what belongs to them; a place that stays empty is taken by a copy of the first.
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

/// A row, and which second vector it is multiplied with.
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

/// For every row of `rows`, calls `each` with what came with it and its products with the first vector and with its
/// own second one. A row or a second vector that is not there counts as zeros.
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
