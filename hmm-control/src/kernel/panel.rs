//! A matrix product in registers: six rows times sixteen columns, as many sums as the registers hold, so that every
//! number loaded is used six or sixteen times.

use super::lanes::{Lanes, WIDTH};

/// Rows of a register block.
pub(super) const HEIGHT: usize = 6;

/// Columns of a register block: two vectors of lanes.
pub(super) const GROUP: usize = 2 * WIDTH;

/// `sums[r][c] += sum over k of rows[r][k] * panel[k][c]`.
#[inline(always)]
pub(super) fn multiply<L: Lanes>(
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
