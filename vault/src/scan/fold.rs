//! Making alike what a reader takes for the same: letter case, width, accents, separators.

use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::view::{BARRIER, View};

/// What may stand between the characters of a value without changing it.
fn is_separator(c: char) -> bool {
    matches!(c, '-' | '.' | '_' | '/' | '(' | ')' | ',' | '+' | ':')
        || c.is_whitespace()
        || c.is_control()
        || is_combining_mark(c)
        || matches!(c, '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2212}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Gives `emit` the folded bytes of one character.
fn fold_char(c: char, emit: &mut impl FnMut(u8)) {
    if c.is_ascii() {
        if !is_separator(c) {
            emit(c.to_ascii_lowercase() as u8);
        }
        return;
    }
    decompose_compatible(c, |part| {
        // Upper case first: it is what joins ß with ss, and the two small sigmas.
        for lower in part.to_uppercase().flat_map(char::to_lowercase).filter(|lower| !is_separator(*lower)) {
            for byte in lower.encode_utf8(&mut [0; 4]).bytes() {
                emit(byte);
            }
        }
    });
}

/// The first character of `bytes` and its length; `None` where they are not UTF-8.
fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
    text.chars().next().map(|c| (c, length))
}

/// Gives `emit` every folded byte with the range of bytes that its character took.
fn fold(bytes: &[u8], mut emit: impl FnMut(u8, Range<usize>)) {
    let mut place = 0;
    while let Some(rest) = bytes.get(place..).filter(|rest| !rest.is_empty()) {
        match first_char(rest) {
            Some((c, length)) => {
                let range = place..place + length;
                fold_char(c, &mut |byte| emit(byte, range.clone()));
                place += length;
            }
            None => {
                emit(BARRIER, place..place + 1);
                place += 1;
            }
        }
    }
}

/// The view with everything alike made the same.
pub(super) fn folded(view: &View) -> View {
    let mut length = 0;
    fold(view.bytes(), |_, _| length += 1);
    let mut out = View::with_room(length);
    fold(view.bytes(), |byte, range| out.push(byte, view.origin(range)));
    out
}

/// Gives `emit` a value's folded bytes, and tells how many characters they are.
pub(super) fn fold_value(value: &[u8], mut emit: impl FnMut(u8)) -> usize {
    let mut characters = 0;
    fold(value, |byte, _| {
        characters += usize::from(!matches!(byte, 0x80..=0xbf));
        emit(byte);
    });
    characters
}
