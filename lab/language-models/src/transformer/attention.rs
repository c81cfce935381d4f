//! Causal self-attention over a cache of keys and values.

use super::config::Config;
use super::kernel::{multiply_add, multiply_transposed, softmax};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};
use std::sync::Arc;

/// Softmax attention of the last tokens of a text over all of it: the queries of `queries.nrows()` tokens after `past`
/// others, whose keys and values are all in the cache. Each token attends to itself and to the tokens before it.
pub fn attend(
    config: &Config,
    layer: usize,
    cache: &Cache,
    past: usize,
    queries: ArrayView2<'_, f32>,
    mut attended: ArrayViewMut2<'_, f32>,
) {
    let (count, width) = (queries.nrows(), config.head_width);
    let group = config.heads / config.key_value_heads;
    let room = cache.length().div_ceil(PAGE) * PAGE;
    let scale = 1.0 / (width as f32).sqrt();
    for shared in 0..config.key_value_heads {
        let slot = slot(config, layer, shared);
        // All query heads that share these keys, stacked.
        let mut stacked = Array2::zeros((group * count, width));
        for (head, mut rows) in stacked.axis_chunks_iter_mut(Axis(0), count).enumerate() {
            rows.assign(&queries.slice_axis(Axis(1), columns(shared * group + head, width)));
        }
        stacked *= scale;
        let mut scores = Array2::zeros((group * count, room));
        for (page, (keys, _)) in cache.pages(slot).enumerate() {
            multiply_transposed(stacked.view(), keys, scores.slice_axis_mut(Axis(1), columns(page, PAGE)));
        }
        for (row, mut scores) in scores.rows_mut().into_iter().enumerate() {
            softmax(scores.as_slice_mut().unwrap_or_default(), past + row % count + 1);
        }
        let mut sums = Array2::zeros((group * count, width));
        for (page, (_, values)) in cache.pages(slot).enumerate() {
            multiply_add(scores.slice_axis(Axis(1), columns(page, PAGE)), values, sums.view_mut());
        }
        for (head, rows) in sums.axis_chunks_iter(Axis(0), count).enumerate() {
            attended.slice_axis_mut(Axis(1), columns(shared * group + head, width)).assign(&rows);
        }
    }
}

/// The columns of one of several parts of equal width.
fn columns(part: usize, width: usize) -> Slice {
    Slice::from(part * width..(part + 1) * width)
}

/// Tokens in a page.
pub const PAGE: usize = 32;

/// The keys and values of one text. A clone shares all pages; a shared page is copied when it is next written.
#[derive(Clone, Default)]
pub struct Cache {
    pages: Vec<Arc<Page>>,
    length: usize,
}

/// `PAGE` tokens: for each layer and key-value head the keys, a row for each token, and the values.
#[derive(Clone)]
struct Page {
    keys: Vec<Array2<f32>>,
    values: Vec<Array2<f32>>,
}

impl Page {
    fn new(config: &Config) -> Page {
        let heads = config.layers * config.key_value_heads;
        let empty = || vec![Array2::zeros((PAGE, config.head_width)); heads];
        Page { keys: empty(), values: empty() }
    }
}

/// The index of a layer's head in a page.
pub fn slot(config: &Config, layer: usize, head: usize) -> usize {
    layer * config.key_value_heads + head
}

impl Cache {
    /// How many tokens are cached.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Makes room for `more` tokens and counts them as read.
    pub fn extend(&mut self, config: &Config, more: usize) {
        self.length += more;
        while self.pages.len() * PAGE < self.length {
            self.pages.push(Arc::new(Page::new(config)));
        }
    }

    /// Writes a layer's keys and values of the token at `position`, one head after the other.
    pub fn write(&mut self, config: &Config, layer: usize, position: usize, keys: &[f32], values: &[f32]) {
        let Some(page) = self.pages.get_mut(position / PAGE) else { return };
        let page = Arc::make_mut(page);
        let first = slot(config, layer, 0);
        put(page.keys.get_mut(first..).unwrap_or_default(), position % PAGE, config.head_width, keys);
        put(page.values.get_mut(first..).unwrap_or_default(), position % PAGE, config.head_width, values);
    }

    /// The keys and the values of one head, page by page; the last page may have rows that were not written.
    pub fn pages(&self, slot: usize) -> impl Iterator<Item = (ArrayView2<'_, f32>, ArrayView2<'_, f32>)> {
        self.pages
            .iter()
            .filter_map(move |page| Some((page.keys.get(slot)?.view(), page.values.get(slot)?.view())))
    }
}

fn put(heads: &mut [Array2<f32>], row: usize, head_width: usize, numbers: &[f32]) {
    for (head, numbers) in heads.iter_mut().zip(numbers.chunks_exact(head_width)) {
        if let Some(row) = head.as_slice_mut().and_then(|all| all.chunks_exact_mut(head_width).nth(row)) {
            row.copy_from_slice(numbers);
        }
    }
}
