//! Every reading of a text, searched for every form of a value.
//!
//! A value in a text and the letters after it can together look like the same value backwards: `neguzuge` before
//! `notice` holds `eguzugen`. If such a place counted, masking would depend on letters that are not part of any
//! value. So [`each_apart`] drops a form that mostly covers the value itself and adds fewer characters than are
//! searched for.

use std::collections::BTreeMap;
use std::ops::Range;

use super::decode::each_decoded;
use super::escape::{escapes, unquoted};
use super::find::{FEWEST, Finder, Haystack, Hit};
use super::fold::{Fold, digits, folded};
use super::view::View;

/// The number of times that escapes are decoded.
const ESCAPE_ROUNDS: usize = 3;

/// Passes each form in any reading of the text to `report`, with the view it was found in and the bytes of that view.
/// One place may be reported twice.
pub(super) fn each(text: &str, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) {
    if holds_any(text, finder) {
        search(View::of(text, true), finder, report);
    }
}

/// Does the same as [`each`], without forms that hardly reach beyond a place of the value itself. Parts that count
/// only as words are kept.
pub(super) fn each_apart(text: &str, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) {
    if !holds_any(text, finder) {
        return;
    }
    let mut covered = Covered::of(text.len());
    search(View::of(text, true), finder, &mut |hit, view, range| covered.note(hit, view.origins(range)));
    search(View::of(text, true), finder, &mut |hit, view, range| {
        if hit.word.is_some() || !covered.overlaps(hit, view.origins(range.clone())) {
            report(hit, view, range);
        }
    });
}

/// Tells if the text holds any form. Most texts hold none, and without places this takes half the time.
fn holds_any(text: &str, finder: &Finder) -> bool {
    let mut any = false;
    search(View::of(text, false), finder, &mut |_, _, _| any = true);
    any
}

fn search(text: View, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) {
    let mut layer = text;
    for round in 0..=ESCAPE_ROUNDS {
        let wide = read(&layer, finder, report);
        // Decoded words are noise with a few digits, so digits are not searched for there.
        if finder.wants(Haystack::Digits) {
            finder.find(Haystack::Digits, &digits(&wide), report);
        }
        each_decoded(&layer, |decoded| {
            read(decoded, finder, report);
        });
        if let Some(unquoted) = unquoted(&layer) {
            read(&unquoted, finder, report);
        }
        match escapes(&layer) {
            Some(next) if round < ESCAPE_ROUNDS => layer = next,
            _ => break,
        }
    }
}

/// Searches one view, and returns its folded form.
fn read(view: &View, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) -> View {
    let wide = folded(view, Fold::Wide);
    finder.find(Haystack::Folded(Fold::Wide), &wide, report);
    if finder.wants(Haystack::Folded(Fold::Narrow)) {
        finder.find(Haystack::Folded(Fold::Narrow), &folded(view, Fold::Narrow), report);
    }
    wide
}

/// Extracts the digits of a text, those of other scripts and widths too.
pub(super) fn digits_of(text: &str) -> String {
    let digits = digits(&folded(&View::of(text, false), Fold::Wide));
    digits.bytes().iter().copied().map(char::from).collect()
}

/// Passes the forms of numbers in a row of digits to `report`.
pub(super) fn in_digits(row: &[u8], finder: &Finder, report: &mut impl FnMut(Hit, Range<usize>)) {
    let row = View::of(std::str::from_utf8(row).unwrap_or(""), false);
    finder.find(Haystack::Digits, &row, &mut |hit, _, range| report(hit, range));
}

/// The bytes of a text that hold values as they are.
struct Covered {
    length: usize,
    /// For each value, one flag for each byte of the text.
    by_value: BTreeMap<usize, Vec<bool>>,
}

impl Covered {
    /// Marks no byte of a text of this length.
    fn of(length: usize) -> Covered {
        Covered { length, by_value: BTreeMap::new() }
    }

    /// Marks the bytes of a form, if it is the value itself.
    fn note(&mut self, hit: Hit, origins: impl Iterator<Item = Range<usize>>) {
        if !hit.straight {
            return;
        }
        let covered = self.by_value.entry(hit.value).or_insert_with(|| vec![false; self.length]);
        origins.for_each(|origin| covered.get_mut(origin).unwrap_or_default().fill(true));
    }

    /// Tells if another form of a value covers the value itself with fewer than [`FEWEST`] bytes of its own.
    fn overlaps(&self, hit: Hit, origins: impl Iterator<Item = Range<usize>>) -> bool {
        let Some(covered) = self.by_value.get(&hit.value).filter(|_| !hit.straight) else { return false };
        let (mut shared, mut own) = (0, 0);
        for origin in origins {
            let on_value = covered.get(origin.start) == Some(&true);
            (shared, own) = (shared + usize::from(on_value), own + usize::from(!on_value));
        }
        shared > 0 && own < FEWEST
    }
}
