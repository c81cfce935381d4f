//! The search for several secret strings in one pass.

use std::ops::Range;

use zeroize::Zeroizing;

use super::fold::{Fold, fold_value};
use super::view::View;
use super::word::WordPart;
use crate::crypto::memory::GrowingBuffer;

/// The fewest characters besides separators of a value that is searched for.
pub(super) const FEWEST: usize = 4;

/// The fewest characters of a value that is also searched for backwards, in ROT13, over several texts, and without
/// its marks. A shorter one would be found by chance.
pub(super) const LONG: usize = 6;

/// The reading of a text in which a form of a value is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Haystack {
    /// The text with this folding.
    Folded(Fold),
    /// Only the digits of the text.
    Digits,
}

/// A form of a value that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    /// The value, numbered from zero as the values were added.
    pub(super) value: usize,
    /// True if it is only a part of the value.
    pub(super) part: bool,
    /// True if it is the whole value, neither backwards nor rotated.
    pub(super) straight: bool,
    /// True if the value has at least [`LONG`] characters.
    pub(super) long: bool,
    /// The rule for a part that counts only as a word.
    pub(super) word: Option<WordPart>,
}

/// One form of a value.
struct Form {
    bytes: Range<usize>,
    within: Haystack,
    hit: Hit,
}

/// The folded forms of values, one after another in locked memory, wiped when dropped.
pub(super) struct Needles {
    folded: GrowingBuffer,
    forms: Vec<Form>,
    values: usize,
}

/// The longest value, in folded bytes, of which parts are searched for.
const LONGEST_IN_PARTS: usize = 128;
/// The fewest digits or characters of a part.
const FEWEST_OF_PART: usize = 8;
/// The fewest digits of a number of which parts are searched for.
const FEWEST_DIGITS: usize = 9;

impl Needles {
    /// Makes an empty set.
    pub(super) fn new() -> Needles {
        Needles { folded: GrowingBuffer::with_room(4096), forms: Vec::new(), values: 0 }
    }

    /// Adds the forms of a value under the next number. Returns `false`, and uses no number, if the value is too short.
    pub(super) fn add(&mut self, value: &[u8]) -> bool {
        let count = |fold| fold_value(value, fold, |_| ());
        let (wide, narrow) = (count(Fold::Wide), count(Fold::Narrow));
        let fold = if wide >= LONG || wide == narrow { Fold::Wide } else { Fold::Narrow };
        let characters = if fold == Fold::Wide { wide } else { narrow };
        if characters < FEWEST {
            return false;
        }
        let long = characters >= LONG;
        let hit = Hit { value: self.values, part: false, straight: true, long, word: None };
        let start = self.len();
        fold_value(value, fold, |byte| self.folded.push(byte));
        let forward = start..self.len();
        self.keep(forward.clone(), Haystack::Folded(fold), hit);
        if long {
            let hit = Hit { straight: false, ..hit };
            self.add_backwards(forward.clone(), fold, hit);
            self.add_rotated(forward, fold, hit);
        }
        self.values += 1;
        true
    }

    /// Adds parts of the value that was added last: any eight digits in a row of a number of twelve or more (all but
    /// two of a shorter one), and if `texts` is set, three quarters in a row of another value.
    pub(super) fn add_parts(&mut self, texts: bool) {
        let Some(number) = self.values.checked_sub(1) else { return };
        let Some(whole) = self.forms.iter().find(|form| form.hit.value == number) else { return };
        let (range, within) = (whole.bytes.clone(), whole.within);
        let bytes = self.folded.bytes().get(range.clone()).unwrap_or(&[]);
        let is_number = bytes.iter().all(u8::is_ascii_digit);
        let length = range.len();
        let (part, within) = match is_number {
            true if length >= FEWEST_DIGITS => {
                let all_but_two = length.saturating_sub(2).max(FEWEST_OF_PART);
                (if length >= 12 { FEWEST_OF_PART } else { all_but_two }, Haystack::Digits)
            }
            false if texts && (FEWEST_OF_PART..=LONGEST_IN_PARTS).contains(&length) => {
                ((length * 3).div_ceil(4).max(FEWEST_OF_PART), within)
            }
            _ => return,
        };
        let hit = Hit { value: number, part: true, straight: false, long: true, word: None };
        for start in range.start..=(range.end.saturating_sub(part)).min(range.start + LONGEST_IN_PARTS) {
            self.keep(start..start + part, within, hit);
        }
    }

    /// Adds a part of the value that was added last, in consecutive pieces, which counts only as this kind of word.
    pub(super) fn add_word(&mut self, pieces: &[&str], word: WordPart) {
        let Some(number) = self.values.checked_sub(1) else { return };
        let start = self.len();
        let fold = |piece: &&str| fold_value(piece.as_bytes(), Fold::Wide, |byte| self.folded.push(byte));
        if pieces.iter().map(fold).sum::<usize>() >= FEWEST {
            let hit = Hit { value: number, part: true, straight: false, long: true, word: Some(word) };
            self.keep(start..self.len(), Haystack::Folded(Fold::Wide), hit);
        }
    }

    fn len(&self) -> usize {
        self.folded.bytes().len()
    }

    fn keep(&mut self, bytes: Range<usize>, within: Haystack, hit: Hit) {
        self.forms.push(Form { bytes, within, hit });
    }

    /// The byte of a form at this index of the buffer.
    fn byte(&self, place: usize) -> u8 {
        self.folded.bytes().get(place).copied().unwrap_or(0)
    }

    /// Adds the same characters from the last to the first.
    fn add_backwards(&mut self, forward: Range<usize>, fold: Fold, hit: Hit) {
        let start = self.len();
        let mut end = forward.end;
        while end > forward.start {
            let mut first = end - 1;
            while first > forward.start && matches!(self.byte(first), 0x80..=0xbf) {
                first -= 1;
            }
            for place in first..end {
                let byte = self.byte(place);
                self.folded.push(byte);
            }
            end = first;
        }
        self.keep(start..self.len(), Haystack::Folded(fold), hit);
    }

    /// Adds the value in ROT13.
    fn add_rotated(&mut self, forward: Range<usize>, fold: Fold, hit: Hit) {
        let letters = forward.clone().filter(|place| self.byte(*place).is_ascii_lowercase()).count();
        if letters < FEWEST {
            return;
        }
        let start = self.len();
        for place in forward {
            let byte = self.byte(place);
            self.folded.push(match byte {
                b'a'..=b'm' => byte + 13,
                b'n'..=b'z' => byte - 13,
                other => other,
            });
        }
        self.keep(start..self.len(), Haystack::Folded(fold), hit);
    }
}

/// The forms for one reading of a text, and a table of the four bytes with which they begin.
struct Group {
    within: Haystack,
    forms: Vec<(Range<usize>, Hit)>,
    begins: Zeroizing<Vec<u64>>,
}

/// Needles, prepared for the search.
pub(super) struct Finder {
    folded: GrowingBuffer,
    groups: Vec<Group>,
}

/// The slot of four bytes in the table: a word and the bit in it.
fn slot(four: [u8; 4]) -> (usize, u32) {
    let mixed = u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> 16;
    ((mixed >> 6) as usize, mixed & 63)
}

impl Finder {
    /// Makes a finder of these needles.
    pub(super) fn new(needles: Needles) -> Finder {
        let Needles { folded, forms, .. } = needles;
        let kinds = [Haystack::Folded(Fold::Wide), Haystack::Folded(Fold::Narrow), Haystack::Digits];
        let groups = kinds.map(|within| {
            let forms: Vec<_> = forms
                .iter()
                .filter(|form| form.within == within)
                .map(|form| (form.bytes.clone(), form.hit))
                .collect();
            let mut begins = Zeroizing::new(vec![0u64; 1024]);
            for (bytes, _) in &forms {
                let four = folded.bytes().get(bytes.clone()).and_then(|form| form.first_chunk::<4>());
                let Some((word, bit)) = four.map(|four| slot(*four)) else { continue };
                if let Some(word) = begins.get_mut(word) {
                    *word |= 1 << bit;
                }
            }
            Group { within, forms, begins }
        });
        let groups = groups.into_iter().filter(|group| !group.forms.is_empty()).collect();
        Finder { folded, groups }
    }

    /// Tells if this reading of a text is to be searched.
    pub(super) fn wants(&self, within: Haystack) -> bool {
        self.groups.iter().any(|group| group.within == within)
    }

    /// Passes each form in the view, which is this reading of a text, to `report` with its bytes. Of overlapping
    /// places of one form, only the first is reported.
    pub(super) fn find(
        &self,
        within: Haystack,
        view: &View,
        report: &mut impl FnMut(Hit, &View, Range<usize>),
    ) {
        let Some(group) = self.groups.iter().find(|group| group.within == within) else { return };
        let bytes = view.bytes();
        let mut resume = vec![0; group.forms.len()];
        for (place, four) in bytes.windows(4).enumerate() {
            let Ok(four) = <[u8; 4]>::try_from(four) else { break };
            let (word, bit) = slot(four);
            if group.begins.get(word).is_none_or(|word| word >> bit & 1 == 0) {
                continue;
            }
            let rest = bytes.get(place..).unwrap_or(&[]);
            for ((form, hit), resume) in group.forms.iter().zip(&mut resume) {
                let form = self.folded.bytes().get(form.clone()).unwrap_or(&[]);
                if place >= *resume && rest.starts_with(form) {
                    *resume = place + form.len();
                    report(*hit, view, place..*resume);
                }
            }
        }
    }
}
