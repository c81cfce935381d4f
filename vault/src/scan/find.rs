//! Finding several secret strings in one pass.

use std::ops::Range;

use zeroize::Zeroizing;

use super::fold::folded_value;
use super::view::View;

/// The fewest characters besides separators that a value must have to be looked for.
const FEWEST: usize = 4;

/// A value's folded form, wiped when dropped.
pub(super) struct Needle {
    folded: Zeroizing<Vec<u8>>,
}

impl Needle {
    /// The needle for a value, if it is long enough to look for.
    pub(super) fn of(value: &[u8]) -> Option<Needle> {
        let (folded, characters) = folded_value(value);
        (characters >= FEWEST).then_some(Needle { folded })
    }
}

/// Needles, and a table that tells for four bytes whether any of them may begin so.
pub(super) struct Finder {
    needles: Vec<Needle>,
    begins: Zeroizing<Vec<u64>>,
}

/// The place of four bytes in the table: a word and the bit in it.
fn slot(four: [u8; 4]) -> (usize, u32) {
    let mixed = u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> 16;
    ((mixed >> 6) as usize, mixed & 63)
}

impl Finder {
    /// A finder of these needles.
    pub(super) fn new(needles: Vec<Needle>) -> Finder {
        let mut begins = Zeroizing::new(vec![0u64; 1024]);
        for four in needles.iter().filter_map(|needle| needle.folded.first_chunk::<4>()) {
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
        let mut resume = vec![0; self.needles.len()];
        for place in 0..bytes.len() {
            let Some(rest) = bytes.get(place..) else { break };
            let Some(four) = rest.first_chunk::<4>() else { break };
            let (word, bit) = slot(*four);
            if self.begins.get(word).is_none_or(|word| word >> bit & 1 == 0) {
                continue;
            }
            for (number, (needle, resume)) in self.needles.iter().zip(&mut resume).enumerate() {
                if place >= *resume && rest.starts_with(&needle.folded) {
                    *resume = place + needle.folded.len();
                    report(number, view.origin(place..*resume));
                }
            }
        }
    }
}
