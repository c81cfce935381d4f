//! Normalises a text so that disguised values look plain, and keeps the source of every byte.

use super::character::{self, Treatment, fold, is_plain, shows_nothing};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// A text normalised for searching, with the way back to the original.
///
/// Each character is normalised by itself:
/// - invisible characters are dropped: zero-width and bidirectional controls, soft hyphens, tag characters, variation
///   selectors, control characters; combining marks are dropped too, because a mark on every digit hides a number as
///   well as a zero-width space does; emoji stay complete, with their joiners and selectors;
/// - decimal digits of any script become ASCII digits;
/// - spaces of any width (and tabs) become a space, dashes become `-`, raised and bullet dots become `.`,
///   line and paragraph separators become a line feed;
/// - everything else gets its compatibility form (NFKC): fullwidth, circled, mathematical, superscript.
///
/// This is the compatibility form without composition across characters. Composition never makes a digit, an ASCII
/// letter or a separator, so no search loses by it, and each output byte has one source. Time and memory are linear
/// in the input: one character becomes at most eighteen.
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

/// The source of a part of the normalised text. A piece ends where the next one begins.
#[derive(Debug, Clone)]
struct Piece {
    folded_start: usize,
    original: Range<usize>,
    /// True if the piece was copied byte by byte; otherwise the whole piece comes from one original character.
    verbatim: bool,
}

impl Normalised {
    /// Normalises a text.
    pub fn new(text: &str) -> Normalised {
        Normalised::watched(text, |_, _| {})
    }

    /// Normalises a text, and reports each invisible character without a legitimate use at its position.
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
            let flag = character::flag(rest.as_str());
            let Some(character) = rest.next() else { break };
            if let Some(flag) = flag {
                folded.push_verbatim(text.get(at..at + flag).unwrap_or_default(), at..at + flag);
                at += flag;
                before = Some(character);
                continue;
            }
            let end = at + character.len_utf8();
            let treatment = if shows_nothing(character) {
                character::treatment(folded.text.chars().next_back(), before, character, rest.clone().next())
            } else {
                Treatment::Dropped
            };
            match treatment {
                Treatment::Kept => folded.push_verbatim(text.get(at..end).unwrap_or_default(), at..end),
                Treatment::Dropped => folded.push_folded(character, at..end),
                Treatment::Reported => {
                    report(at, character);
                    folded.push_folded(character, at..end);
                }
            }
            before = Some(character);
            at = end;
        }
        folded
    }

    /// Returns an empty text, to which parts of other texts are appended.
    pub(crate) fn empty() -> Normalised {
        Normalised { text: String::new(), pieces: Vec::new() }
    }

    /// Appends a part of another normalised text with its source. The part is widened to whole characters.
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

    /// Appends normalised text that as a whole comes from one part of the original.
    pub(crate) fn append_found(&mut self, folded: &str, original: Range<usize>) {
        if !folded.is_empty() {
            self.pieces.push(Piece { folded_start: self.text.len(), original, verbatim: false });
            self.text.push_str(folded);
        }
    }

    /// Returns the normalised text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the part of the original text that a part of the normalised text comes from. Both ends are character
    /// boundaries of the original; a part that begins or ends after the normalised text is cut to it.
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

    /// Returns the original bytes of the character that contains the normalised byte at `at`.
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
