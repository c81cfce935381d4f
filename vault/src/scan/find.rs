//! Finding several secret strings in one pass.

use std::ops::Range;

use zeroize::Zeroizing;

use super::fold::fold_value;
use super::view::View;
use crate::memory::Pile;

/// The fewest characters besides separators that a value must have to be looked for.
const FEWEST: usize = 4;

/// The folded forms of values, one after another in locked memory, wiped when dropped.
pub(super) struct Needles {
    folded: Pile,
    spans: Vec<Range<usize>>,
}

impl Needles {
    /// None yet.
    pub(super) fn new() -> Needles {
        Needles { folded: Pile::with_room(4096), spans: Vec::new() }
    }

    /// Adds the needle for a value; `false` where it is too short to look for.
    pub(super) fn add(&mut self, value: &[u8]) -> bool {
        if fold_value(value, |_| ()) < FEWEST {
            return false;
        }
        let start = self.folded.bytes().len();
        fold_value(value, |byte| self.folded.push(byte));
        self.spans.push(start..self.folded.bytes().len());
        true
    }

    /// Every needle, in the order they were added.
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let folded = self.folded.bytes();
        self.spans.iter().map(|span| folded.get(span.clone()).unwrap_or(&[]))
    }
}

/// Needles, and a table that tells for four bytes whether any of them may begin so.
pub(super) struct Finder {
    needles: Needles,
    begins: Zeroizing<Vec<u64>>,
}

/// The place of four bytes in the table: a word and the bit in it.
fn slot(four: [u8; 4]) -> (usize, u32) {
    let mixed = u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> 16;
    ((mixed >> 6) as usize, mixed & 63)
}

impl Finder {
    /// A finder of these needles.
    pub(super) fn new(needles: Needles) -> Finder {
        let mut begins = Zeroizing::new(vec![0u64; 1024]);
        for four in needles.iter().filter_map(|needle| needle.first_chunk::<4>()) {
            let (word, bit) = slot(*four);
            if let Some(word) = begins.get_mut(word) {
                *word |= 1 << bit;
            }
        }
        Finder { needles, begins }
    }

    /// Gives `report` the number of each needle that stands in the view, and where in the text. Of places
    /// of one needle that overlap, the first.
    pub(super) fn find(&self, view: &View, report: &mut impl FnMut(usize, Range<usize>)) {
        let bytes = view.bytes();
        let mut resume = vec![0; self.needles.spans.len()];
        for place in 0..bytes.len() {
            let Some(rest) = bytes.get(place..) else { break };
            let Some(four) = rest.first_chunk::<4>() else { break };
            let (word, bit) = slot(*four);
            if self.begins.get(word).is_none_or(|word| word >> bit & 1 == 0) {
                continue;
            }
            for (number, (needle, resume)) in self.needles.iter().zip(&mut resume).enumerate() {
                if place >= *resume && rest.starts_with(needle) {
                    *resume = place + needle.len();
                    report(number, view.origin(place..*resume));
                }
            }
        }
    }
}
