//! What a row takes from the rows before it.

use crate::cache::{Cache, PAGE, slot};
use crate::config::Config;
use crate::kernel::{add_times, softmax, times_turned};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

/// Softmax attention of the last rows of a text over all of it: the queries of `queries.nrows()` tokens behind `past`
/// others, whose keys and values are all in the cache. Each token sees itself and what stands before it.
pub fn attend(
    config: &Config,
    layer: usize,
    cache: &Cache,
    past: usize,
    queries: ArrayView2<'_, f32>,
    mut taken: ArrayViewMut2<'_, f32>,
) {
    let (count, width) = (queries.nrows(), config.head_width);
    let group = config.heads / config.key_value_heads;
    let room = cache.length().div_ceil(PAGE) * PAGE;
    let scale = 1.0 / (width as f32).sqrt();
    for shared in 0..config.key_value_heads {
        let slot = slot(config, layer, shared);
        // All heads that share these keys, one under the other.
        let mut stacked = Array2::zeros((group * count, width));
        for (head, mut rows) in stacked.axis_chunks_iter_mut(Axis(0), count).enumerate() {
            rows.assign(&queries.slice_axis(Axis(1), columns(shared * group + head, width)));
        }
        stacked *= scale;
        let mut scores = Array2::zeros((group * count, room));
        for (page, (keys, _)) in cache.pages(slot).enumerate() {
            times_turned(stacked.view(), keys, scores.slice_axis_mut(Axis(1), columns(page, PAGE)));
        }
        for (row, mut scores) in scores.rows_mut().into_iter().enumerate() {
            softmax(scores.as_slice_mut().unwrap_or_default(), past + row % count + 1);
        }
        let mut sums = Array2::zeros((group * count, width));
        for (page, (_, values)) in cache.pages(slot).enumerate() {
            add_times(scores.slice_axis(Axis(1), columns(page, PAGE)), values, sums.view_mut());
        }
        for (head, rows) in sums.axis_chunks_iter(Axis(0), count).enumerate() {
            taken.slice_axis_mut(Axis(1), columns(shared * group + head, width)).assign(&rows);
        }
    }
}

/// The columns of one of several parts that are equally wide.
fn columns(part: usize, width: usize) -> Slice {
    Slice::from(part * width..(part + 1) * width)
}
