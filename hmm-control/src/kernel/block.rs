//! Products with many vectors at once: a block of rows is decoded once into the cache and multiplied with all.

use super::backend::Backend;
use super::element::{Element, largest, padded, power};
use super::lanes::{LINE, Lanes, Task, WIDTH};
use std::ops::Range;

use super::rows::Cells;

/// Rows of a register block.
const HEIGHT: usize = 6;

/// Columns of a register block: two vectors of lanes.
const GROUP: usize = 2 * WIDTH;

/// `sums[r][c] += sum over k of rows[r][k] * panel[k][c]`.
#[inline(always)]
fn multiply_panel<L: Lanes>(
    lanes: L,
    [a, b, c, d, e, f]: [&[f32]; HEIGHT],
    panel: &[[[f32; WIDTH]; 2]],
    sums: &mut [[[f32; WIDTH]; 2]; HEIGHT],
) {
    let mut totals = [[lanes.splat(0.0); 2]; HEIGHT];
    for ((((((panel, a), b), c), d), e), f) in panel.iter().zip(a).zip(b).zip(c).zip(d).zip(e).zip(f) {
        let (x, y) = (lanes.load(&panel[0]), lanes.load(&panel[1]));
        for (total, value) in totals.iter_mut().zip([a, b, c, d, e, f]) {
            let value = lanes.splat(*value);
            total[0] = lanes.multiply_add(value, x, total[0]);
            total[1] = lanes.multiply_add(value, y, total[1]);
        }
    }
    for (sum, total) in sums.iter_mut().zip(totals) {
        for (sum, total) in sum.iter_mut().zip(total) {
            lanes.store(lanes.add(lanes.load(sum), total), sum);
        }
    }
}

/// Rows decoded at once: a multiple of [`HEIGHT`].
const ROWS: usize = 48;

/// Columns decoded at once. With [`ROWS`], 96 KB: a quarter of a usual second-level cache.
const COLUMNS: usize = 512;

/// Terms that a register block adds up before its sums go to memory: a panel of so many takes 16 KB, half of a usual
/// first-level cache, and the relative error stays near 1e-7.
const DEPTH: usize = 256;

type Panel = [[f32; WIDTH]; 2];

/// Vectors laid out for the register blocks: in groups of sixteen, the sixteen numbers of a column together.
pub(crate) struct Packed {
    /// One group after the other, a panel for each column.
    panels: Vec<Panel>,
    /// The power of two that each vector was divided by.
    factors: Vec<f64>,
}

impl Packed {
    pub(crate) fn new(vectors: &[&[f64]], columns: usize) -> Packed {
        let mut panels = vec![Panel::default(); columns * vectors.len().div_ceil(GROUP)];
        let factors: Vec<f64> = vectors.iter().map(|vector| power(largest(vector))).collect();
        let groups = vectors.chunks(GROUP).zip(factors.chunks(GROUP));
        for (panels, (vectors, factors)) in panels.chunks_exact_mut(columns.max(1)).zip(groups) {
            for (place, (vector, factor)) in vectors.iter().zip(factors).enumerate() {
                for (panel, value) in panels.iter_mut().zip(*vector) {
                    if let Some(lane) = panel.as_flattened_mut().get_mut(place) {
                        *lane = (value / factor) as f32;
                    }
                }
            }
        }
        Packed { panels, factors }
    }
}

struct Multiply<'a, E> {
    matrix: Cells<'a, E>,
    rows: Range<usize>,
    vectors: &'a Packed,
    /// Room for `ROWS * COLUMNS` decoded numbers.
    decoded: &'a mut [f32],
    /// `ROWS` for each group.
    sums: &'a mut [Panel],
}

impl<E: Element> Task for Multiply<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Multiply { matrix, rows, vectors, decoded, sums } = self;
        sums.fill(Panel::default());
        for start in (0..matrix.columns).step_by(COLUMNS) {
            let width = COLUMNS.min(matrix.columns - start);
            for (row, target) in rows.clone().zip(decoded.chunks_exact_mut(COLUMNS)) {
                let source = matrix.row(row).get(start..start + width).unwrap_or_default();
                decode(lanes, source, target);
            }
            let next =
                if start + width < matrix.columns { (rows.start, start + width) } else { (rows.end, 0) };
            let groups = vectors.panels.chunks(matrix.columns).zip(sums.chunks_exact_mut(ROWS)).enumerate();
            for (group, (panels, sums)) in groups {
                let panels = panels.get(start..start + width).unwrap_or_default();
                for (depth, panel) in panels.chunks(DEPTH).enumerate() {
                    let columns = depth * DEPTH..depth * DEPTH + panel.len();
                    let tiles = decoded.chunks_exact(HEIGHT * COLUMNS).zip(sums.as_chunks_mut().0);
                    for (number, (tile, sums)) in tiles.take(rows.len().div_ceil(HEIGHT)).enumerate() {
                        if group == 0 {
                            prefetch(lanes, matrix, next.0 + number * HEIGHT, next.1 + columns.start);
                        }
                        multiply_panel(lanes, strips(tile, &columns), panel, sums);
                    }
                }
            }
        }
    }
}

/// Prefetches the numbers that are decoded next: some columns of six rows.
#[inline(always)]
fn prefetch<L: Lanes, E: Element>(lanes: L, matrix: Cells<'_, E>, row: usize, column: usize) {
    for row in row..row + HEIGHT {
        if let Some(first) = matrix.row(row).get(column) {
            for line in 0..DEPTH * size_of::<E>() / LINE {
                lanes.prefetch(first, line * LINE);
            }
        }
    }
}

/// The same columns of six decoded rows.
#[inline(always)]
fn strips<'a>(tile: &'a [f32], columns: &Range<usize>) -> [&'a [f32]; HEIGHT] {
    std::array::from_fn(|row| {
        tile.get(row * COLUMNS + columns.start..row * COLUMNS + columns.end).unwrap_or_default()
    })
}

#[inline(always)]
fn decode<L: Lanes, E: Element>(lanes: L, source: &[E], target: &mut [f32]) {
    let (source, end) = source.as_chunks::<WIDTH>();
    let (target, _) = target.as_chunks_mut::<WIDTH>();
    for (source, target) in source.iter().zip(target.iter_mut()) {
        lanes.store(E::decode(lanes, source), target);
    }
    if let (false, Some(target)) = (end.is_empty(), target.get_mut(source.len())) {
        lanes.store(E::decode(lanes, &padded(end)), target);
    }
}

/// Calls `each` with every row of `rows` and its products with all the vectors, without the row's scale.
pub(crate) fn products<E: Element>(
    backend: Backend,
    matrix: Cells<'_, E>,
    rows: Range<usize>,
    vectors: &Packed,
    mut each: impl FnMut(usize, &[f64]),
) {
    let groups = vectors.factors.len().div_ceil(GROUP);
    let mut decoded = vec![0.0; ROWS * COLUMNS];
    let mut sums = vec![Panel::default(); ROWS * groups];
    let mut values = vec![0.0; vectors.factors.len()];
    for start in rows.clone().step_by(ROWS) {
        let block = start..rows.end.min(start + ROWS);
        let (decoded, sums) = (&mut decoded, &mut sums);
        backend.run(Multiply { matrix, rows: block.clone(), vectors, decoded, sums });
        for (place, row) in block.enumerate() {
            let places = sums.iter().skip(place).step_by(ROWS).flat_map(|panel| panel.as_flattened());
            let scaled = places.zip(&vectors.factors).map(|(sum, factor)| f64::from(*sum) * factor);
            values.iter_mut().zip(scaled).for_each(|(value, sum)| *value = sum);
            each(row, &values);
        }
    }
}
