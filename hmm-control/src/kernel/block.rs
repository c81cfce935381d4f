//! Products with many vectors at once: a block of rows is decoded once into the cache and multiplied with all.

use super::backend::Backend;
use super::element::{Element, largest, padded, power};
use super::lanes::{LINE, Lanes, Task, WIDTH};
use std::ops::Range;

use super::rows::Cells;

/// Rows of a register block.
pub(super) const HEIGHT: usize = 12;

/// Columns of a register block: two vectors of lanes.
pub(super) const GROUP: usize = 2 * WIDTH;

/// Rows whose sums fit in sixteen registers of eight numbers.
const HALF: usize = HEIGHT / 2;

/// `sums[r][c] += sum over k of tile[r][start + k] * panel[k][c]`, half of the rows after the other.
#[inline(always)]
pub(super) fn multiply_halves<L: Lanes>(
    lanes: L,
    tile: &Tile,
    start: usize,
    panel: &[Panel],
    sums: &mut [Panel; HEIGHT],
) {
    for (tile, sums) in tile.as_chunks::<HALF>().0.iter().zip(sums.as_chunks_mut::<HALF>().0) {
        let mut totals = [[lanes.splat(0.0); 2]; HALF];
        for (column, panel) in (start..COLUMNS).zip(panel) {
            let (x, y) = (lanes.load(&panel[0]), lanes.load(&panel[1]));
            let add = |row: &[f32; COLUMNS], [p, q]: [L::Vector; 2]| {
                let value = lanes.splat(row.get(column).copied().unwrap_or_default());
                [lanes.multiply_add(value, x, p), lanes.multiply_add(value, y, q)]
            };
            each_row!(totals, tile, add, 0 1 2 3 4 5);
        }
        for (sum, total) in sums.iter_mut().zip(totals) {
            for (sum, total) in sum.iter_mut().zip(total) {
                lanes.store(lanes.add(lanes.load(sum), total), sum);
            }
        }
    }
}

/// Rows decoded at once: a multiple of [`HEIGHT`].
pub(super) const ROWS: usize = 48;

/// Columns decoded at once. With [`ROWS`], 96 KB: a quarter of a usual second-level cache.
pub(super) const COLUMNS: usize = 512;

/// Terms that a register block adds up before its sums go to memory: a panel of so many takes 16 KB, half of a usual
/// first-level cache, and the relative error stays near 1e-7.
pub(super) const DEPTH: usize = 256;

/// The numbers of one column of sixteen vectors.
pub(super) type Panel = [[f32; WIDTH]; 2];

/// The decoded rows of a register block.
pub(super) type Tile = [[f32; COLUMNS]; HEIGHT];

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
    /// Room for `ROWS` decoded rows.
    decoded: &'a mut [[f32; COLUMNS]],
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
            for (row, target) in rows.clone().zip(decoded.iter_mut()) {
                let source = matrix.row(row).get(start..start + width).unwrap_or_default();
                decode(lanes, source, target);
            }
            let next =
                if start + width < matrix.columns { (rows.start, start + width) } else { (rows.end, 0) };
            let groups = vectors.panels.chunks(matrix.columns).zip(sums.chunks_exact_mut(ROWS)).enumerate();
            for (group, (panels, sums)) in groups {
                let panels = panels.get(start..start + width).unwrap_or_default();
                for (depth, panel) in panels.chunks(DEPTH).enumerate() {
                    let first = depth * DEPTH;
                    let tiles = decoded.as_chunks().0.iter().zip(sums.as_chunks_mut().0);
                    for (number, (tile, sums)) in tiles.take(rows.len().div_ceil(HEIGHT)).enumerate() {
                        if group == 0 {
                            prefetch(lanes, matrix, next.0 + number * HEIGHT, next.1 + first);
                        }
                        lanes.multiply_panel(tile, first, panel, sums);
                    }
                }
            }
        }
    }
}

/// Prefetches the numbers that are decoded next: some columns of the rows of a register block.
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
    let mut decoded = vec![[0.0; COLUMNS]; ROWS];
    let mut sums = vec![Panel::default(); ROWS * groups];
    let mut values = vec![0.0; vectors.factors.len()];
    for start in rows.clone().step_by(ROWS) {
        let block = start..rows.end.min(start + ROWS);
        let (decoded, sums) = (&mut decoded, &mut sums);
        backend.run(Multiply { matrix, rows: block.clone(), vectors, decoded, sums });
        tell(sums, (&vectors.factors, 1.0), block, &mut values, &mut each);
    }
}

/// Calls `each` with every row of a block and its products, from the sums of the groups of vectors. The sums of each vector
/// are in units of its factor times `unit`.
pub(super) fn tell(
    sums: &[Panel],
    (factors, unit): (&[f64], f64),
    block: Range<usize>,
    values: &mut [f64],
    each: &mut impl FnMut(usize, &[f64]),
) {
    for (place, row) in block.enumerate() {
        let places = sums.iter().skip(place).step_by(ROWS).flat_map(|panel| panel.as_flattened());
        let scaled = places.zip(factors).map(|(sum, factor)| f64::from(*sum) * unit * factor);
        values.iter_mut().zip(scaled).for_each(|(value, sum)| *value = sum);
        each(row, values);
    }
}
