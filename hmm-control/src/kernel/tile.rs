//! Four rows at a time, so that a vector is loaded once for four rows and enough independent sums keep the arithmetic
//! units busy.

use super::element::{Element, padded};
use super::lanes::{LINE, Lanes, WIDTH};

/// Rows in a tile.
pub(super) const TILE: usize = 4;

/// Vectors of lanes in a strip. Between two strips the same part of the next tile is prefetched, so that memory is read
/// while the processor computes; the hardware prefetcher does not follow four rows at once.
const STRIP: usize = 16;

/// Strips that are summed up in `f32` before the sum moves to `f64`: 256 additions a lane keep the relative error of
/// a sum of non-negative numbers near 1e-7, however long the row.
const STRIPS_A_BLOCK: usize = 16;

type Chunks<'a, E> = &'a [[E; WIDTH]];

/// Four rows, and the four that will come next (empty for none).
#[derive(Clone, Copy)]
pub(super) struct Tile<'a, E> {
    pub(super) rows: [&'a [E]; TILE],
    pub(super) ahead: [&'a [E]; TILE],
}

/// Four rows in whole chunks; the last of each is padded with zeros.
struct Whole<'a, E> {
    chunks: [Chunks<'a, E>; TILE],
    ends: [[E; WIDTH]; TILE],
    /// Strips, with one for the ends.
    strips: usize,
    ahead: [&'a [E]; TILE],
}

impl<'a, E: Element> Tile<'a, E> {
    #[inline(always)]
    fn whole(self) -> Whole<'a, E> {
        let chunks = self.rows.map(|row| row.as_chunks::<WIDTH>().0);
        let mut whole = Whole { chunks, ends: [[E::zeroed(); WIDTH]; TILE], strips: 0, ahead: self.ahead };
        whole.strips = chunks[0].len().div_ceil(STRIP);
        if !self.rows[0].len().is_multiple_of(WIDTH) {
            whole.strips += 1;
            whole.ends = self.rows.map(|row| padded(row.as_chunks::<WIDTH>().1));
        }
        whole
    }
}

impl<E: Element> Whole<'_, E> {
    /// The same strip of all four rows, and the index of its first chunk. Prefetches the same strip of the rows ahead.
    #[inline(always)]
    fn strip<L: Lanes>(&self, lanes: L, number: usize) -> (usize, [Chunks<'_, E>; TILE]) {
        let length = self.chunks[0].len();
        let start = number * STRIP;
        if start >= length {
            return (length, self.ends.each_ref().map(std::slice::from_ref));
        }
        for row in self.ahead {
            if let Some(first) = row.get(start * WIDTH) {
                for line in 0..STRIP * WIDTH * size_of::<E>() / LINE {
                    lanes.prefetch(first, line * LINE);
                }
            }
        }
        (start, self.chunks.map(|row| row.get(start..length.min(start + STRIP)).unwrap_or_default()))
    }
}

/// The part of a vector that belongs to a strip.
#[inline(always)]
fn part(vector: Chunks<'_, f32>, start: usize) -> Chunks<'_, f32> {
    vector.get(start..vector.len().min(start + STRIP)).unwrap_or_default()
}

/// Moves sums to the totals.
#[inline(always)]
fn flush<L: Lanes>(lanes: L, sums: &mut [L::Vector], totals: &mut [f64]) {
    for (total, sum) in totals.iter_mut().zip(sums) {
        *total += f64::from(lanes.sum(*sum));
        *sum = lanes.splat(0.0);
    }
}

/// True if the sums move to the totals after this strip.
#[inline(always)]
fn ends_block(strip: usize) -> bool {
    strip % STRIPS_A_BLOCK == STRIPS_A_BLOCK - 1
}

/// The products of four rows with `first`, and of each row with its own second vector.
#[inline(always)]
pub(super) fn pairs<L: Lanes, E: Element>(
    lanes: L,
    tile: Tile<'_, E>,
    first: Chunks<'_, f32>,
    seconds: [Chunks<'_, f32>; TILE],
) -> [[f64; 2]; TILE] {
    let mut totals = [[0.0; 2]; TILE];
    let mut sums = [[lanes.splat(0.0); 2]; TILE];
    let whole = tile.whole();
    for number in 0..whole.strips {
        let (start, rows) = whole.strip(lanes, number);
        let [p, q, r, s] = seconds;
        let seconds = [part(p, start), part(q, start), part(r, start), part(s, start)];
        pair_strip(lanes, rows, part(first, start), seconds, &mut sums);
        if ends_block(number) {
            flush(lanes, sums.as_flattened_mut(), totals.as_flattened_mut());
        }
    }
    flush(lanes, sums.as_flattened_mut(), totals.as_flattened_mut());
    totals
}

#[inline(always)]
fn pair_strip<L: Lanes, E: Element>(
    lanes: L,
    [a, b, c, d]: [Chunks<'_, E>; TILE],
    first: Chunks<'_, f32>,
    [p, q, r, s]: [Chunks<'_, f32>; TILE],
    sums: &mut [[L::Vector; 2]; TILE],
) {
    let streams = a.iter().zip(b).zip(c).zip(d).zip(first).zip(p).zip(q).zip(r).zip(s);
    for ((((((((a, b), c), d), x), p), q), r), s) in streams {
        let x = lanes.load(x);
        let (a, b) = (E::decode(lanes, a), E::decode(lanes, b));
        sums[0][0] = lanes.multiply_add(a, x, sums[0][0]);
        sums[0][1] = lanes.multiply_add(a, lanes.load(p), sums[0][1]);
        sums[1][0] = lanes.multiply_add(b, x, sums[1][0]);
        sums[1][1] = lanes.multiply_add(b, lanes.load(q), sums[1][1]);
        let (c, d) = (E::decode(lanes, c), E::decode(lanes, d));
        sums[2][0] = lanes.multiply_add(c, x, sums[2][0]);
        sums[2][1] = lanes.multiply_add(c, lanes.load(r), sums[2][1]);
        sums[3][0] = lanes.multiply_add(d, x, sums[3][0]);
        sums[3][1] = lanes.multiply_add(d, lanes.load(s), sums[3][1]);
    }
}

/// The products of four rows with one vector.
#[inline(always)]
pub(super) fn dots<L: Lanes, E: Element>(
    lanes: L,
    tile: Tile<'_, E>,
    vector: Chunks<'_, f32>,
) -> [f64; TILE] {
    let mut totals = [0.0; TILE];
    let mut sums = [lanes.splat(0.0); TILE];
    let whole = tile.whole();
    for number in 0..whole.strips {
        let (start, [a, b, c, d]) = whole.strip(lanes, number);
        for ((((a, b), c), d), x) in a.iter().zip(b).zip(c).zip(d).zip(part(vector, start)) {
            let x = lanes.load(x);
            sums[0] = lanes.multiply_add(E::decode(lanes, a), x, sums[0]);
            sums[1] = lanes.multiply_add(E::decode(lanes, b), x, sums[1]);
            sums[2] = lanes.multiply_add(E::decode(lanes, c), x, sums[2]);
            sums[3] = lanes.multiply_add(E::decode(lanes, d), x, sums[3]);
        }
        if ends_block(number) {
            flush(lanes, &mut sums, &mut totals);
        }
    }
    flush(lanes, &mut sums, &mut totals);
    totals
}

/// Adds four rows, each times its factor, to a sum.
#[inline(always)]
pub(super) fn add<L: Lanes, E: Element>(
    lanes: L,
    tile: Tile<'_, E>,
    factors: [f32; TILE],
    sum: &mut [[f32; WIDTH]],
) {
    let [p, q, r, s] = factors;
    let [p, q, r, s] = [lanes.splat(p), lanes.splat(q), lanes.splat(r), lanes.splat(s)];
    let whole = tile.whole();
    for number in 0..whole.strips {
        let (start, [a, b, c, d]) = whole.strip(lanes, number);
        let sum = sum.get_mut(start..).unwrap_or_default();
        for ((((sum, a), b), c), d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let mut total = lanes.load(sum);
            total = lanes.multiply_add(E::decode(lanes, a), p, total);
            total = lanes.multiply_add(E::decode(lanes, b), q, total);
            total = lanes.multiply_add(E::decode(lanes, c), r, total);
            total = lanes.multiply_add(E::decode(lanes, d), s, total);
            lanes.store(total, sum);
        }
    }
}
