//! The one way through a text: every reading of it, searched for every form.

use std::ops::Range;

use super::decode::each_decoded;
use super::escape::{escapes, unquoted};
use super::find::{Finder, Hit, In};
use super::fold::{Fold, digits, folded};
use super::spill::Covered;
use super::view::View;

/// How often escapes are undone.
const ESCAPE_ROUNDS: usize = 3;

/// Gives `report` each form that stands in any reading of the text: which, the view it was found in, and the bytes
/// of that view. One place may come twice.
pub(super) fn each(text: &str, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) {
    if holds_any(text, finder) {
        search(View::of(text, true), finder, report);
    }
}

/// As [`each`], without the forms of a value that hardly reach beyond a place where the value itself stands, but for
/// those that count as words alone.
pub(super) fn each_apart(text: &str, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) {
    if !holds_any(text, finder) {
        return;
    }
    let mut covered = Covered::of(text.len());
    search(View::of(text, true), finder, &mut |hit, view, range| covered.note(hit, view.origins(range)));
    search(View::of(text, true), finder, &mut |hit, view, range| {
        if hit.word.is_some() || !covered.is_spill(hit, view.origins(range.clone())) {
            report(hit, view, range);
        }
    });
}

/// Most texts hold nothing: whether this one does is found in half the time if nobody asks where.
fn holds_any(text: &str, finder: &Finder) -> bool {
    let mut any = false;
    search(View::of(text, false), finder, &mut |_, _, _| any = true);
    any
}

fn search(text: View, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) {
    let mut layer = text;
    for round in 0..=ESCAPE_ROUNDS {
        let wide = read(&layer, finder, report);
        // Not in what was decoded: of words, that is noise with a digit here and there.
        if finder.wants(In::Digits) {
            finder.find(In::Digits, &digits(&wide), report);
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

/// Searches one view, and gives it as it was folded.
fn read(view: &View, finder: &Finder, report: &mut impl FnMut(Hit, &View, Range<usize>)) -> View {
    let wide = folded(view, Fold::Wide);
    finder.find(In::Folded(Fold::Wide), &wide, report);
    if finder.wants(In::Folded(Fold::Narrow)) {
        finder.find(In::Folded(Fold::Narrow), &folded(view, Fold::Narrow), report);
    }
    wide
}

/// The digits of a text, those of other scripts and widths too.
pub(super) fn digits_of(text: &str) -> String {
    let digits = digits(&folded(&View::of(text, false), Fold::Wide));
    digits.bytes().iter().copied().map(char::from).collect()
}

/// Gives `report` the forms of numbers in a row of digits.
pub(super) fn in_digits(row: &[u8], finder: &Finder, report: &mut impl FnMut(Hit, Range<usize>)) {
    let row = View::of(std::str::from_utf8(row).unwrap_or(""), false);
    finder.find(In::Digits, &row, &mut |hit, _, range| report(hit, range));
}
