//! Products with many vectors in bfloat16, by the instruction that multiplies pairs of them. It halves the arithmetic, and
//! rounds the vectors to 8 bits of precision.

use super::backend::Avx512Bf16;
use super::block::{COLUMNS, DEPTH, GROUP, HEIGHT, Panel, ROWS, tell};
use super::element::{largest, power};
use super::lanes::LINE;
use super::rows::Cells;
use half::bf16;
use std::ops::Range;

/// Pairs of columns that are copied at once.
pub(super) const PAIRS: usize = COLUMNS / 2;

/// The numbers of two columns of sixteen vectors. The first column is in the low halves.
pub(super) type PairPanel = [u32; GROUP];

/// The rows of a register block, in pairs of columns.
pub(super) type PairTile = [[u32; PAIRS]; HEIGHT];

/// Pairs that a register block adds up before its sums go to memory.
const DEEP: usize = DEPTH / 2;

/// The vectors are multiplied by 2 to this power, since the instruction takes what is below 2^-126 for zero. Sums of
/// probabilities stay far below the largest number.
const RAISED: i32 = 96;

/// Vectors in bfloat16, laid out for the register blocks: in groups of sixteen, the numbers of two columns together.
pub(crate) struct PackedBf16 {
    lanes: Avx512Bf16,
    /// One group after the other, a panel for every two columns.
    panels: Vec<PairPanel>,
    /// The power of two that each vector was divided by.
    factors: Vec<f64>,
}

fn pair(low: bf16, high: bf16) -> u32 {
    u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16
}

impl PackedBf16 {
    /// Rounds the vectors to bfloat16.
    pub(crate) fn new(lanes: Avx512Bf16, vectors: &[&[f64]], columns: usize) -> PackedBf16 {
        let pairs = columns.div_ceil(2);
        let mut panels = vec![PairPanel::default(); pairs * vectors.len().div_ceil(GROUP)];
        let factors: Vec<f64> = vectors.iter().map(|vector| power(largest(vector))).collect();
        let raised = 2.0_f64.powi(RAISED);
        let groups = vectors.chunks(GROUP).zip(factors.chunks(GROUP));
        for (panels, (vectors, factors)) in panels.chunks_exact_mut(pairs.max(1)).zip(groups) {
            for (place, (vector, factor)) in vectors.iter().zip(factors).enumerate() {
                let round =
                    |value: Option<&f64>| bf16::from_f64(value.map_or(0.0, |value| value / factor * raised));
                for (panel, both) in panels.iter_mut().zip(vector.chunks(2)) {
                    if let Some(lane) = panel.get_mut(place) {
                        *lane = pair(round(both.first()), round(both.get(1)));
                    }
                }
            }
        }
        PackedBf16 { lanes, panels, factors }
    }
}

/// Calls `each` with every row of `rows` and its products with all the vectors.
pub(crate) fn products_bf16(
    matrix: Cells<'_, bf16>,
    rows: Range<usize>,
    vectors: &PackedBf16,
    mut each: impl FnMut(usize, &[f64]),
) {
    let groups = vectors.factors.len().div_ceil(GROUP);
    let mut copied = vec![[0; PAIRS]; ROWS];
    let mut sums = vec![Panel::default(); ROWS * groups];
    let mut values = vec![0.0; vectors.factors.len()];
    for start in rows.clone().step_by(ROWS) {
        let block = start..rows.end.min(start + ROWS);
        multiply(matrix, block.clone(), vectors, &mut copied, &mut sums);
        tell(&sums, (&vectors.factors, 2.0_f64.powi(-RAISED)), block, &mut values, &mut each);
    }
}

fn multiply(
    matrix: Cells<'_, bf16>,
    rows: Range<usize>,
    vectors: &PackedBf16,
    copied: &mut [[u32; PAIRS]],
    sums: &mut [Panel],
) {
    sums.fill(Panel::default());
    let pairs = matrix.columns.div_ceil(2);
    for start in (0..pairs).step_by(PAIRS) {
        let width = PAIRS.min(pairs - start);
        for (row, target) in rows.clone().zip(copied.iter_mut()) {
            let source = matrix.row(row).get(2 * start..).unwrap_or_default();
            let (both, last) = source.as_chunks::<2>();
            target.iter_mut().zip(both).for_each(|(target, [low, high])| *target = pair(*low, *high));
            if let (Some(target), Some(last)) = (target.get_mut(both.len()), last.first()) {
                *target = pair(*last, bf16::ZERO);
            }
        }
        let next = if start + width < pairs { (rows.start, start + width) } else { (rows.end, 0) };
        let groups = vectors.panels.chunks(pairs).zip(sums.chunks_exact_mut(ROWS)).enumerate();
        for (group, (panels, sums)) in groups {
            let panels = panels.get(start..start + width).unwrap_or_default();
            for (depth, panel) in panels.chunks(DEEP).enumerate() {
                let first = depth * DEEP;
                let tiles = copied.as_chunks().0.iter().zip(sums.as_chunks_mut().0);
                for (number, (tile, sums)) in tiles.take(rows.len().div_ceil(HEIGHT)).enumerate() {
                    if group == 0 {
                        prefetch(vectors.lanes, matrix, next.0 + number * HEIGHT, 2 * (next.1 + first));
                    }
                    vectors.lanes.multiply_pairs(tile, first, panel, sums);
                }
            }
        }
    }
}

/// Prefetches the numbers that are copied next: some columns of the rows of a register block.
fn prefetch(lanes: Avx512Bf16, matrix: Cells<'_, bf16>, row: usize, column: usize) {
    for row in row..row + HEIGHT {
        if let Some(first) = matrix.row(row).get(column) {
            for line in 0..DEPTH * size_of::<bf16>() / LINE {
                lanes.prefetch(first, line * LINE);
            }
        }
    }
}
