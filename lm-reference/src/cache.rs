//! Keys and values of what was read, in pages that forks share.

use crate::config::Config;
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// Tokens in a page.
pub const PAGE: usize = 32;

/// What one text has read. A clone shares all pages; the one that is written on next is copied then, and no other.
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

/// The place of a layer's head in a page.
pub fn slot(config: &Config, layer: usize, head: usize) -> usize {
    layer * config.key_value_heads + head
}

impl Cache {
    /// Tokens read.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Makes room for `more` tokens, which count as read from now on.
    pub fn extend(&mut self, config: &Config, more: usize) {
        self.length += more;
        while self.pages.len() * PAGE < self.length {
            self.pages.push(Arc::new(Page::new(config)));
        }
    }

    /// Writes what a layer makes of the token at `position`: its keys and its values, one head after the other.
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
