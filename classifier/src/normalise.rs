//! Folds a text so that disguised values look plain, and remembers where every byte came from.

use crate::digit::decimal_value;
use crate::emoji::{self, Fate};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A text folded for searching, with the way back to the original.
///
/// The folding goes character by character:
/// - characters that show nothing are dropped: zero-width and bidirectional controls, soft hyphens, tag
///   characters, variation selectors, control characters; and so are combining marks, because a mark on
///   every digit would hide a number as well as a zero-width space does; emoji stay whole, with the joiners
///   and selectors that are part of them;
/// - decimal digits of any script become ASCII digits;
/// - spaces of any width (and tabs) become a space, dashes become `-`, raised and bullet dots become `.`,
///   line and paragraph separators become a line feed;
/// - everything else gets its compatibility form (NFKC): fullwidth, circled, mathematical, superscript.
///
/// Taking NFKC of one character at a time is the compatibility form without composing over character
/// borders; composing never makes a digit, an ASCII letter or a separator, so nothing searched for is lost,
/// and each output byte has one source. Time and memory are linear in the input: one character becomes
/// at most eighteen.
///
/// ```
/// use classifier::Normalised;
///
/// let folded = Normalised::new("№ 4\u{200B}１:");
/// assert_eq!(folded.text(), "No 41:");
/// assert_eq!(folded.original(3..5), 4..11);
/// ```
#[derive(Debug, Clone)]
pub struct Normalised {
    text: String,
    pieces: Vec<Piece>,
}

/// Where a part of the folded text came from. A piece ends where the next one begins.
#[derive(Debug, Clone)]
struct Piece {
    folded_start: usize,
    original: Range<usize>,
    /// Copied byte by byte; otherwise the whole piece stands for one original character.
    verbatim: bool,
}

impl Normalised {
    /// Folds a text.
    pub fn new(text: &str) -> Normalised {
        Normalised::watched(text, |_, _| {})
    }

    /// Folds a text, and reports each character that shows nothing and had no business where it stood.
    pub(crate) fn watched(text: &str, mut report: impl FnMut(usize, char)) -> Normalised {
        let mut folded = Normalised { text: String::with_capacity(text.len()), pieces: Vec::new() };
        let mut at = 0;
        let mut before = None;
        while let Some(rest) = text.get(at..) {
            let plain = rest.find(|character| !is_plain(character)).unwrap_or(rest.len());
            if let Some(run) = rest.get(..plain).filter(|run| !run.is_empty()) {
                folded.push_verbatim(run, at..at + plain);
                before = run.chars().next_back();
                at += plain;
            }
            let mut rest = rest.get(plain..).unwrap_or_default().chars();
            let flag = emoji::flag(rest.as_str());
            let Some(character) = rest.next() else { break };
            if let Some(flag) = flag {
                folded.push_verbatim(text.get(at..at + flag).unwrap_or_default(), at..at + flag);
                at += flag;
                before = Some(character);
                continue;
            }
            let end = at + character.len_utf8();
            let fate = if shows_nothing(character) {
                emoji::fate(folded.text.chars().next_back(), before, character, rest.clone().next())
            } else {
                Fate::Dropped
            };
            match fate {
                Fate::Kept => folded.push_verbatim(text.get(at..end).unwrap_or_default(), at..end),
                Fate::Dropped => folded.push_folded(character, at..end),
                Fate::Reported => {
                    report(at, character);
                    folded.push_folded(character, at..end);
                }
            }
            before = Some(character);
            at = end;
        }
        folded
    }

    /// Nothing, to be put together from parts of other texts.
    pub(crate) fn empty() -> Normalised {
        Normalised { text: String::new(), pieces: Vec::new() }
    }

    /// Appends a part of another folded text, which remembers where it came from. The part is widened to whole
    /// characters.
    pub(crate) fn append_part(&mut self, from: &Normalised, part: Range<usize>) {
        let part = from.text.floor_char_boundary(part.start)..from.text.ceil_char_boundary(part.end);
        let first = from.pieces.partition_point(|piece| piece.folded_start <= part.start).saturating_sub(1);
        let ends = from.pieces.iter().skip(first + 1).map(|piece| piece.folded_start);
        for (piece, end) in from.pieces.iter().skip(first).zip(ends.chain([from.text.len()])) {
            if piece.folded_start >= part.end {
                break;
            }
            let cut = piece.folded_start.max(part.start)..end.min(part.end);
            let Some(text) = from.text.get(cut.clone()).filter(|text| !text.is_empty()) else { continue };
            if piece.verbatim {
                let start = piece.original.start + (cut.start - piece.folded_start);
                self.push_verbatim(text, start..start + text.len());
            } else {
                self.append_found(text, piece.original.clone());
            }
        }
    }

    /// Appends folded text that as a whole came from one part of the original.
    pub(crate) fn append_found(&mut self, folded: &str, original: Range<usize>) {
        if !folded.is_empty() {
            self.pieces.push(Piece { folded_start: self.text.len(), original, verbatim: false });
            self.text.push_str(folded);
        }
    }

    /// The folded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the original text that a part of the folded text came from. Both ends are character
    /// boundaries of the original; a part that begins or ends beyond the folded text is cut to it.
    pub fn original(&self, folded: Range<usize>) -> Range<usize> {
        let end = folded.end.min(self.text.len());
        if folded.start >= end {
            let at = self.pieces.last().map_or(0, |piece| piece.original.end);
            return at..at;
        }
        let start = self.locate(folded.start).start;
        start..self.locate(end - 1).end.max(start)
    }

    fn push_verbatim(&mut self, run: &str, original: Range<usize>) {
        let folded_start = self.text.len();
        self.text.push_str(run);
        match self.pieces.last_mut() {
            Some(last) if last.verbatim && last.original.end == original.start => {
                last.original.end = original.end;
            }
            _ => self.pieces.push(Piece { folded_start, original, verbatim: true }),
        }
    }

    fn push_folded(&mut self, character: char, original: Range<usize>) {
        let folded_start = self.text.len();
        std::iter::once(character).nfkc().filter_map(fold).for_each(|folded| self.text.push(folded));
        if self.text.len() > folded_start {
            self.pieces.push(Piece { folded_start, original, verbatim: false });
        }
    }

    /// The original bytes of the character that the folded byte at `at` belongs to.
    fn locate(&self, at: usize) -> Range<usize> {
        let after = self.pieces.partition_point(|piece| piece.folded_start <= at);
        let Some(piece) = after.checked_sub(1).and_then(|index| self.pieces.get(index)) else { return 0..0 };
        if !piece.verbatim {
            return piece.original.clone();
        }
        let start = self.text.floor_char_boundary(at);
        let end = self.text.ceil_char_boundary(at + 1);
        let shift = |position: usize| piece.original.start + (position - piece.folded_start);
        shift(start)..shift(end)
    }
}

/// Whether folding certainly leaves the character as it is. Saying no only costs time.
fn is_plain(character: char) -> bool {
    matches!(character,
        ' '..='~' | '\n' | '\r'
        // Letters of Latin-1 and Latin Extended-A up to the first compatibility pair, basic Cyrillic,
        // kana without their marks, common ideographs, Hangul syllables.
        | 'À'..='ı' | 'А'..='я' | '\u{3041}'..='\u{3096}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// One character after its compatibility form; none where it shows nothing.
fn fold(character: char) -> Option<char> {
    if let Some(value) = decimal_value(character) {
        return Some(char::from(b'0' + value));
    }
    match character {
        '\n' | '\r' => Some(character),
        '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        '\t' | '\u{1680}' | '\u{2800}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2043}' | '\u{2E3A}' | '\u{2E3B}' | '\u{30FC}' => Some('-'),
        '\u{B7}' | '\u{2022}' | '\u{2027}' | '\u{2219}' | '\u{22C5}' | '\u{3002}' | '\u{30FB}' => Some('.'),
        _ if shows_nothing(character) || character.is_control() || is_combining_mark(character) => None,
        _ if character.is_whitespace() => Some(' '),
        _ => Some(character),
    }
}

/// Whether a character leaves no mark on the page; white space is none of these.
pub(crate) fn shows_nothing(character: char) -> bool {
    is_invisible(character) || (character.is_control() && !character.is_whitespace())
}

/// Characters that Unicode says to show nothing for (the property `Default_Ignorable_Code_Point`),
/// and the annotation controls.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        Normalised::new(text).text().to_owned()
    }

    #[test]
    fn disguises_come_off() {
        assert_eq!(folded("４１１１"), "4111");
        assert_eq!(folded("\u{1D7D2}\u{0661}①²"), "4112");
        assert_eq!(folded("a\u{200B}b\u{202E}c\u{AD}d\u{FEFF}e\u{E0031}f\u{2066}g\u{0}h"), "abcdefgh");
        assert_eq!(folded("1\u{FE0F}\u{20E3}2\u{336}"), "12");
        assert_eq!(folded("1\u{A0}2\u{2009}3\u{2011}4\u{2212}5\u{FF0E}6\u{B7}7\t8"), "1 2 3-4-5.6.7 8");
        assert_eq!(folded("ａ＠ｂ．ｃｏｍ"), "a@b.com");
        assert_eq!(folded("Größe: 5 m"), "Größe: 5 m");
    }

    #[test]
    fn plain_characters_are_those_that_folding_leaves_alone() {
        for character in (0..=0x10_FFFF).filter_map(char::from_u32).filter(|c| is_plain(*c)) {
            let slow: String = std::iter::once(character).nfkc().filter_map(fold).collect();
            assert_eq!(slow, character.to_string(), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn spans_lead_back() {
        let text = "é４\u{200B}２x\u{FDFA}!";
        let normalised = Normalised::new(text);
        let at = normalised.text().find("42x").unwrap();
        assert_eq!(&text[normalised.original(at..at + 3)], "４\u{200B}２x");
        assert_eq!(normalised.original(0..normalised.text().len()), 0..text.len());
        let inside = normalised.original(at + 5..at + 6);
        assert_eq!(&text[inside], "\u{FDFA}");
        assert_eq!(normalised.original(500..501), text.len()..text.len());
    }

    #[test]
    fn no_character_grows_beyond_eighteen() {
        let longest = (0..=0x10_FFFF)
            .filter_map(char::from_u32)
            .map(|character| Normalised::new(character.encode_utf8(&mut [0; 4])).text().chars().count())
            .max();
        assert!(longest.unwrap() <= 18);
    }
}
