//! Folding of letter case, width, accents, digits of other scripts and separators, so that texts that a reader
//! takes for the same are equal.

use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::view::{BARRIER, View};

/// The characters besides letters and digits that folding leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// All of them, so that a host name or a list is read as the text that it spells.
    Wide,
    /// Only the separators of numbers, for values in which marks count.
    Narrow,
}

/// Tells if a character is a separator, which does not change the value around it.
fn is_separator(c: char, fold: Fold) -> bool {
    let mark = match fold {
        Fold::Wide => c.is_ascii_punctuation() || matches!(c, '\u{ab}' | '\u{b7}' | '\u{bb}'),
        Fold::Narrow => matches!(c, '-' | '.' | '_' | '/' | '(' | ')' | ',' | '+' | ':'),
    };
    mark || c.is_whitespace()
        || c.is_control()
        || (!c.is_ascii() && (is_combining_mark(c) || is_invisible(c)))
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{2212}')
}

/// Tells if a character is invisible.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
    ) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
}

/// The zeros of scripts whose digits have no compatibility decomposition to ASCII.
const ZEROS: [u32; 18] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20,
    0x1040, 0x17e0, 0x1810,
];

/// The ASCII character for one outside ASCII, for common cases that need no table.
fn ascii_of(c: char) -> Option<char> {
    let code = u32::from(c);
    Some(match code {
        0xc0..=0xc5 | 0xe0..=0xe5 => 'a',
        0xc7 | 0xe7 => 'c',
        0xc8..=0xcb | 0xe8..=0xeb => 'e',
        0xcc..=0xcf | 0xec..=0xef => 'i',
        0xd1 | 0xf1 => 'n',
        0xd2..=0xd6 | 0xf2..=0xf6 => 'o',
        0xd9..=0xdc | 0xf9..=0xfc => 'u',
        0xdd | 0xfd | 0xff => 'y',
        // Tag characters repeat ASCII and are invisible.
        0xe0020..=0xe007e => char::from_u32(code - 0xe0000)?,
        0x660..=0x1819 => {
            let digit = ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|digit| *digit < 10))?;
            char::from_digit(digit, 10)?
        }
        _ => return None,
    })
}

/// Passes the folded bytes of one character to `emit`.
fn fold_char(c: char, fold: Fold, emit: &mut impl FnMut(u8)) {
    let c = if c.is_ascii() { c } else { ascii_of(c).unwrap_or(c) };
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() || !is_separator(c, fold) {
            emit(c.to_ascii_lowercase() as u8);
        }
        return;
    }
    decompose_compatible(c, |part| {
        // Upper case comes first, because it makes ß equal to ss and the two small sigmas equal.
        let lower = part.to_uppercase().flat_map(char::to_lowercase);
        for lower in lower.filter(|lower| !is_separator(*lower, fold)) {
            for byte in lower.encode_utf8(&mut [0; 4]).bytes() {
                emit(byte);
            }
        }
    });
}

/// The first character of `bytes` and its length. Bytes that are not UTF-8 are read as Latin-1, which also covers
/// western European letters in UTF-16; `None` if the byte is no letter there either.
fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let whole = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match whole.and_then(|text| text.chars().next()) {
        Some(c) => Some((c, length)),
        None => matches!(first, 0xc0..=0xfe).then(|| (char::from(first), 1)),
    }
}

/// Passes every folded byte to `emit`, with the range of bytes of its character.
fn each_folded(bytes: &[u8], fold: Fold, mut emit: impl FnMut(u8, Range<usize>)) {
    let mut place = 0;
    while let Some(rest) = bytes.get(place..).filter(|rest| !rest.is_empty()) {
        match first_char(rest) {
            Some((c, length)) => {
                let range = place..place + length;
                fold_char(c, fold, &mut |byte| emit(byte, range.clone()));
                place += length;
            }
            None => {
                emit(BARRIER, place..place + 1);
                place += 1;
            }
        }
    }
}

/// Folds a view.
pub(super) fn folded(view: &View, fold: Fold) -> View {
    let mut out = view.like(view.bytes().len());
    each_folded(view.bytes(), fold, |byte, range| out.push(byte, view.origin(range)));
    out
}

/// Extracts the digits of a folded view.
pub(super) fn digits(folded: &View) -> View {
    let mut out = folded.like(folded.bytes().len());
    for (place, byte) in folded.bytes().iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        out.push(*byte, folded.origin(place..place + 1));
    }
    out
}

/// Passes a value's folded bytes to `emit`, and returns the number of characters.
pub(super) fn fold_value(value: &[u8], fold: Fold, mut emit: impl FnMut(u8)) -> usize {
    let mut characters = 0;
    each_folded(value, fold, |byte, _| {
        characters += usize::from(!matches!(byte, 0x80..=0xbf));
        emit(byte);
    });
    characters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_the_table(c: char) -> String {
        let mut out = String::new();
        decompose_compatible(c, |part| {
            let lower = part.to_uppercase().flat_map(char::to_lowercase);
            out.extend(lower.filter(|lower| !is_separator(*lower, Fold::Wide)));
        });
        out
    }

    #[test]
    fn the_shortcut_for_common_letters_agrees_with_the_table() {
        for c in ('\u{c0}'..='\u{ff}').filter(|c| ascii_of(*c).is_some()) {
            assert_eq!(ascii_of(c).map(String::from), Some(by_the_table(c)), "{c}");
        }
        let letters = ('\u{c0}'..='\u{ff}').filter(|c| by_the_table(*c).is_ascii() && *c != 'ß');
        assert!(letters.filter(|c| c.is_alphabetic()).all(|c| ascii_of(c).is_some()));
    }

    #[test]
    fn digits_of_other_scripts_and_tags_are_read() {
        let mut out = Vec::new();
        let text = "\u{0664}\u{06f1}\u{0967}\u{1041}\u{e0041}\u{e0032}";
        fold_value(text.as_bytes(), Fold::Wide, |byte| out.push(byte));
        assert_eq!(out, b"4111a2");
    }
}
