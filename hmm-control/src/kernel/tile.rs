//! Four rows at a time, so that a vector is loaded once for four, and so that there are enough sums under way to
//! keep the arithmetic busy while each waits for its own.

use super::element::{Element, padded};
use super::lanes::{Lanes, WIDTH};

/// Rows in a tile.
pub(super) const TILE: usize = 4;

/// Lanes that are summed up in `f32` before the sum moves to `f64`: 256 additions a lane keep the relative error of
/// a sum of non-negative numbers near 1e-7, however long the row.
const BLOCK: usize = 256;

type Chunks<'a, E> = &'a [[E; WIDTH]];

/// The products of four rows with `first`, and of each row with its own second vector.
#[inline(always)]
pub(super) fn pairs<L: Lanes, E: Element>(
    lanes: L,
    rows: [&[E]; TILE],
    first: Chunks<'_, f32>,
    seconds: [Chunks<'_, f32>; TILE],
) -> [[f64; 2]; TILE] {
    let mut totals = [[0.0; 2]; TILE];
    let [(a, end_a), (b, end_b), (c, end_c), (d, end_d)] = rows.map(<[E]>::as_chunks::<WIDTH>);
    let [p, q, r, s] = seconds;
    let whole = a.len();
    let blocks = a
        .chunks(BLOCK)
        .zip(b.chunks(BLOCK))
        .zip(c.chunks(BLOCK))
        .zip(d.chunks(BLOCK))
        .zip(first.chunks(BLOCK))
        .zip(p.chunks(BLOCK))
        .zip(q.chunks(BLOCK))
        .zip(r.chunks(BLOCK))
        .zip(s.chunks(BLOCK));
    for ((((((((a, b), c), d), x), p), q), r), s) in blocks {
        pair_block(lanes, [a, b, c, d], x, [p, q, r, s], &mut totals);
    }
    if !end_a.is_empty() {
        let ends = [end_a, end_b, end_c, end_d].map(padded);
        let [a, b, c, d] = ends.each_ref().map(std::slice::from_ref);
        let last = |vector: Chunks<'_, f32>| vector.get(whole).copied().unwrap_or_default();
        let (x, [p, q, r, s]) = (last(first), [last(p), last(q), last(r), last(s)]);
        pair_block(lanes, [a, b, c, d], &[x], [&[p], &[q], &[r], &[s]], &mut totals);
    }
    totals
}

#[inline(always)]
fn pair_block<L: Lanes, E: Element>(
    lanes: L,
    [a, b, c, d]: [Chunks<'_, E>; TILE],
    first: Chunks<'_, f32>,
    [p, q, r, s]: [Chunks<'_, f32>; TILE],
    totals: &mut [[f64; 2]; TILE],
) {
    let mut sums = [[lanes.splat(0.0); 2]; TILE];
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
    for (total, sum) in totals.iter_mut().zip(sums) {
        total[0] += f64::from(lanes.sum(sum[0]));
        total[1] += f64::from(lanes.sum(sum[1]));
    }
}

/// The products of four rows with one vector.
#[inline(always)]
pub(super) fn dots<L: Lanes, E: Element>(
    lanes: L,
    rows: [&[E]; TILE],
    vector: Chunks<'_, f32>,
) -> [f64; TILE] {
    let mut totals = [0.0; TILE];
    let [(a, end_a), (b, end_b), (c, end_c), (d, end_d)] = rows.map(<[E]>::as_chunks::<WIDTH>);
    let blocks = a
        .chunks(BLOCK)
        .zip(b.chunks(BLOCK))
        .zip(c.chunks(BLOCK))
        .zip(d.chunks(BLOCK))
        .zip(vector.chunks(BLOCK));
    for ((((a, b), c), d), x) in blocks {
        dot_block(lanes, [a, b, c, d], x, &mut totals);
    }
    if !end_a.is_empty() {
        let ends = [end_a, end_b, end_c, end_d].map(padded);
        let [a, b, c, d] = ends.each_ref().map(std::slice::from_ref);
        let x = vector.get(rows[0].len() / WIDTH).copied().unwrap_or_default();
        dot_block(lanes, [a, b, c, d], &[x], &mut totals);
    }
    totals
}

#[inline(always)]
fn dot_block<L: Lanes, E: Element>(
    lanes: L,
    [a, b, c, d]: [Chunks<'_, E>; TILE],
    vector: Chunks<'_, f32>,
    totals: &mut [f64; TILE],
) {
    let mut sums = [lanes.splat(0.0); TILE];
    for ((((a, b), c), d), x) in a.iter().zip(b).zip(c).zip(d).zip(vector) {
        let x = lanes.load(x);
        sums[0] = lanes.multiply_add(E::decode(lanes, a), x, sums[0]);
        sums[1] = lanes.multiply_add(E::decode(lanes, b), x, sums[1]);
        sums[2] = lanes.multiply_add(E::decode(lanes, c), x, sums[2]);
        sums[3] = lanes.multiply_add(E::decode(lanes, d), x, sums[3]);
    }
    for (total, sum) in totals.iter_mut().zip(sums) {
        *total += f64::from(lanes.sum(sum));
    }
}

/// Adds four rows, each times its factor, to a sum.
#[inline(always)]
pub(super) fn add<L: Lanes, E: Element>(
    lanes: L,
    rows: [&[E]; TILE],
    factors: [f32; TILE],
    sum: &mut [[f32; WIDTH]],
) {
    let [(a, end_a), (b, end_b), (c, end_c), (d, end_d)] = rows.map(<[E]>::as_chunks::<WIDTH>);
    let whole = a.len();
    add_block(lanes, [a, b, c, d], factors, sum);
    if let (false, Some(last)) = (end_a.is_empty(), sum.get_mut(whole)) {
        let ends = [end_a, end_b, end_c, end_d].map(padded);
        let [a, b, c, d] = ends.each_ref().map(std::slice::from_ref);
        add_block(lanes, [a, b, c, d], factors, std::slice::from_mut(last));
    }
}

#[inline(always)]
fn add_block<L: Lanes, E: Element>(
    lanes: L,
    [a, b, c, d]: [Chunks<'_, E>; TILE],
    factors: [f32; TILE],
    sum: &mut [[f32; WIDTH]],
) {
    let [p, q, r, s] = factors.map(|factor| lanes.splat(factor));
    for ((((sum, a), b), c), d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        let mut total = lanes.load(sum);
        total = lanes.multiply_add(E::decode(lanes, a), p, total);
        total = lanes.multiply_add(E::decode(lanes, b), q, total);
        total = lanes.multiply_add(E::decode(lanes, c), r, total);
        total = lanes.multiply_add(E::decode(lanes, d), s, total);
        lanes.store(total, sum);
    }
}
