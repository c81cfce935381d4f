//! Places that a value shares with itself.
//!
//! A value that stands on a page, and the few letters that happen to follow it, can together read like the same value
//! backwards: `neguzuge` before `notice` holds `eguzugen`. What is masked would then differ from one person's values to
//! another's by a letter that is nobody's. So a form that mostly lies on the value itself, and adds less than what would
//! be looked for by itself, is no place of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use super::find::{FEWEST, Hit};

/// Which bytes of a text hold values as they stand.
pub(super) struct Covered {
    length: usize,
    /// By value, each byte of the text.
    by: BTreeMap<usize, Vec<bool>>,
}

impl Covered {
    /// None yet, of a text of so many bytes.
    pub(super) fn of(length: usize) -> Covered {
        Covered { length, by: BTreeMap::new() }
    }

    /// Notes where a form stands, if it is the value itself.
    pub(super) fn note(&mut self, hit: Hit, origins: impl Iterator<Item = Range<usize>>) {
        if !hit.straight {
            return;
        }
        let covered = self.by.entry(hit.value).or_insert_with(|| vec![false; self.length]);
        origins.for_each(|origin| covered.get_mut(origin).unwrap_or_default().fill(true));
    }

    /// Whether another form of a value lies on the value itself but for less than [`FEWEST`] bytes.
    pub(super) fn is_spill(&self, hit: Hit, origins: impl Iterator<Item = Range<usize>>) -> bool {
        let Some(covered) = self.by.get(&hit.value).filter(|_| !hit.straight) else { return false };
        let (mut shared, mut own) = (0, 0);
        for origin in origins {
            let on_value = covered.get(origin.start) == Some(&true);
            (shared, own) = (shared + usize::from(on_value), own + usize::from(!on_value));
        }
        shared > 0 && own < FEWEST
    }
}
