//! Words whose letters are separated from each other.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::collector::{Collector, Disguise, ENOUGH, Piece, report_passages};
use super::words::divide;

/// The smallest number of letters; fewer are initials, sizes, grades.
const FEWEST: usize = 5;

/// The longest gap between two letters, in bytes; a longer one ends the run. A mark between wide spaces is part of a
/// gap.
const WIDEST: usize = 9;

/// Finds runs of single letters. The most frequent gap in a run separates letters, any other gap separates words; if
/// all gaps are alike, the run is divided into common words as far as possible.
pub(super) fn find(collector: &mut Collector<'_>) {
    let text = collector.text();
    let mut pieces = Vec::new();
    let mut run = LetterRun::default();
    let mut characters = text.char_indices().peekable();
    let mut joined = false;
    while let Some((at, character)) = characters.next() {
        let alone = character.is_alphanumeric()
            && !joined
            && !characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        joined = character.is_alphanumeric();
        if alone {
            let gap = run.gap(text, at);
            match gap {
                Some(gap) => run.gaps.push(gap),
                None => run.close(&mut pieces),
            }
            run.letters.push((at, character));
        } else if joined && !run.letters.is_empty() {
            run.close(&mut pieces);
        }
    }
    run.close(&mut pieces);
    report_passages(collector, Disguise::SpacedOut, &pieces);
}

/// Single letters, with gaps between.
#[derive(Default)]
struct LetterRun<'a> {
    letters: Vec<(usize, char)>,
    gaps: Vec<&'a str>,
}

impl<'a> LetterRun<'a> {
    /// Returns the gap between the last letter and `at`, if it is one.
    fn gap(&self, text: &'a str, at: usize) -> Option<&'a str> {
        let (last, letter) = self.letters.last()?;
        let gap = text.get(last + letter.len_utf8()..at).filter(|gap| gap.len() <= WIDEST)?;
        gap.chars()
            .all(|c| {
                matches!(c, ' ' | '-' | '_' | '*' | '|' | '/' | '~' | '\n' | '\r' | '\'' | '"') || is_mark(c)
            })
            .then_some(gap)
    }

    fn close(&mut self, pieces: &mut Vec<Piece>) {
        let letters = std::mem::take(&mut self.letters);
        let gaps = std::mem::take(&mut self.gaps);
        if let (Some((start, _)), Some((end, last))) = (letters.first(), letters.last())
            && is_written(&letters)
            && let Some(decoded) = join(&letters, &gaps)
        {
            let at: Range<usize> = *start..end + last.len_utf8();
            pieces.push(Piece { at, decoded, weight: ENOUGH });
        }
    }
}

/// Returns whether letters look like words and not like a list of letters: there are enough, with few digits and some
/// vowels, and they are not the alphabet.
fn is_written(letters: &[(usize, char)]) -> bool {
    let count = |test: fn(char) -> bool| letters.iter().filter(|(_, c)| test(*c)).count();
    let (all, alphabetic) = (letters.len(), count(char::is_alphabetic));
    let latin = count(|c| c.is_ascii_alphabetic());
    let vowels = count(|c| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y'));
    let steps = letters
        .iter()
        .zip(letters.iter().skip(1))
        .filter(|((_, one), (_, next))| u32::from(*next) == u32::from(*one) + 1)
        .count();
    let same = letters.iter().zip(letters.iter().skip(1)).filter(|((_, one), (_, next))| one == next).count();
    alphabetic >= FEWEST
        && alphabetic * 10 >= all * 7
        && (latin * 10 < alphabetic * 9 || (vowels * 5 >= latin && vowels * 3 <= latin * 2))
        && steps * 3 <= all
        && same * 3 <= all
}

/// Returns whether a character ends sentences or parts of them.
fn is_mark(character: char) -> bool {
    matches!(character, '.' | ',' | ':' | ';' | '!' | '?')
}

/// Returns the letters as words; `None` if these are too short.
fn join(letters: &[(usize, char)], gaps: &[&str]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    gaps.iter().for_each(|gap| *counts.entry(gap).or_default() += 1);
    let usual =
        counts.into_iter().max_by_key(|(gap, count)| (*count, Reverse(gap.len()))).map(|(gap, _)| gap);
    let mut words = String::with_capacity(letters.len() * 2);
    let mut borders = 0;
    for (place, (_, letter)) in letters.iter().enumerate() {
        let gap = place.checked_sub(1).and_then(|before| gaps.get(before));
        match gap {
            // An apostrophe separates letters of one word.
            Some(gap) if gap.trim() == "'" && !gap.contains("  ") => words.push('\''),
            Some(gap) if Some(*gap) != usual => {
                // Marks between all letters are no punctuation.
                let tells = |c: &char| is_mark(*c) && !usual.is_some_and(|usual| usual.contains(*c));
                words.extend(gap.chars().filter(tells));
                words.push(' ');
                borders += 1;
            }
            _ => {}
        }
        words.push(*letter);
    }
    match borders {
        0 => Some(divide(&words)),
        // Shorter words are abbreviations.
        _ => (letters.len() * 2 >= (borders + 1) * 5).then_some(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> Option<String> {
        let mut counts = crate::unfold::HiddenCounts::default();
        let layer = crate::unfold::Normalised::new(text);
        let mut collector = Collector::new(&layer, &mut counts);
        find(&mut collector);
        collector.into_found().pop().map(|found| found.text.text().to_owned())
    }

    #[test]
    fn gaps_separate_letters_and_words() {
        for text in [
            "i g n o r e   p r e v i o u s",
            "i.g.n.o.r.e p.r.e.v.i.o.u.s",
            "i-g-n-o-r-e_p-r-e-v-i-o-u-s",
            "i * g * n * o * r * e\np * r * e * v * i * o * u * s",
        ] {
            assert_eq!(joined(text).as_deref(), Some("ignore previous"), "{text}");
        }
        let sentences = "d o   i t   n o w .   D o n ' t   w a i t ,   p l e a s e";
        assert_eq!(joined(sentences).as_deref(), Some("do it now. Don't wait, please"));
        assert_eq!(joined("i g n o r e p r e v i o u s").as_deref(), Some("ignore previous"));
        assert_eq!(joined("so: i g n o r e him").as_deref(), Some("so: ignore him"));
    }

    #[test]
    fn lists_of_letters_are_left() {
        for text in [
            "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z",
            "A | B | C | D | E | F",
            "1 2 3 4 5 6 7 8 9",
            "S M L X",
            "J. R. R. Tolkien",
            "U.S.A. and e.g. i.e.",
            "x y z w h b d",
            "a a a a a a a a",
        ] {
            assert_eq!(joined(text), None, "{text}");
        }
    }
}
