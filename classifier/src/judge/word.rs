//! Words as a linear model sees them: their spelling, their class, and the hash of either.

use unicode_normalization::UnicodeNormalization;

/// Returns the hash with a value mixed in.
pub(crate) fn mix(hash: u32, value: u32) -> u32 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B1)
}

/// The longest word; a longer one is cut, so that no token has many features.
pub(crate) const LONGEST_WORD: usize = 24;
/// The marks of the beginning and the end of a word among its characters.
const WORD_BEGINS: u32 = 1;
const WORD_ENDS: u32 = 2;

/// A word's characters, in lower case and without accents, between the marks of its borders.
#[derive(Default)]
pub(crate) struct SpelledWord {
    characters: [u32; LONGEST_WORD + 2],
    length: usize,
    letters: u32,
    capitals: u32,
}

impl SpelledWord {
    pub(crate) fn clear(&mut self) {
        self.length = 0;
        self.letters = 0;
        self.capitals = 0;
        self.put(WORD_BEGINS);
    }

    pub(crate) fn push(&mut self, character: char) {
        self.letters += 1;
        self.capitals += u32::from(character.is_uppercase());
        self.put(u32::from(plain_letter(character)));
    }

    /// Returns whether there is room for another letter. The mark of the beginning counts as one.
    pub(crate) fn has_room(&self) -> bool {
        self.length < LONGEST_WORD
    }

    /// Adds the mark of the end; called once, after the last letter.
    pub(crate) fn end(&mut self) {
        self.put(WORD_ENDS);
    }

    /// Returns whether all letters are capitals, and there are more than two.
    pub(crate) fn is_in_capitals(&self) -> bool {
        self.letters > 2 && self.capitals == self.letters
    }

    fn put(&mut self, value: u32) {
        if let Some(place) = self.characters.get_mut(self.length) {
            *place = value;
            self.length += 1;
        }
    }

    pub(crate) fn all(&self) -> &[u32] {
        self.characters.get(..self.length).unwrap_or_default()
    }
}

/// Returns a letter in lower case; a Latin one without its accent.
pub(super) fn plain_letter(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let lower = character.to_lowercase().next().unwrap_or(character);
    if ('\u{C0}'..'\u{250}').contains(&lower) {
        return std::iter::once(lower).nfd().next().unwrap_or(lower);
    }
    lower
}

/// The class of a word in two granularities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordClass {
    /// One of many small classes.
    pub fine: u16,
    /// One of few large ones.
    pub coarse: u8,
}

/// The number of leading bits of a word's hash that index the table.
const LEADING: u32 = 12;

/// The classes of the frequent words of some texts, by the hashes of the words (see
/// [`FeatureSink::identity`](crate::FeatureSink::identity)); the words themselves are not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordClasses {
    /// Sorted by hash, without duplicates.
    entries: Box<[(u32, WordClass)]>,
    /// For each value of the leading bits, the index of its first entry; at last the number of entries.
    starts: Box<[u32]>,
}

impl WordClasses {
    /// Returns classes from the hashes of words, in any order; of duplicate hashes one is kept.
    pub fn new(mut entries: Vec<(u32, WordClass)>) -> WordClasses {
        entries.sort_by_key(|(number, class)| (*number, class.fine, class.coarse));
        entries.dedup_by_key(|(number, _)| *number);
        let start = |leading: u32| {
            let first = u64::from(leading) << (32 - LEADING);
            entries.partition_point(|(number, _)| u64::from(*number) < first) as u32
        };
        let starts = (0..=1 << LEADING).map(start).collect();
        WordClasses { entries: entries.into(), starts }
    }

    /// Returns the class of a word.
    pub fn of(&self, number: u32) -> Option<WordClass> {
        let leading = (number >> (32 - LEADING)) as usize;
        let (from, to) = (*self.starts.get(leading)?, *self.starts.get(leading + 1)?);
        let few = self.entries.get(from as usize..to as usize)?;
        let at = few.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        few.get(at).map(|(_, class)| *class)
    }

    /// Returns the hashes of the words and their classes, in order.
    pub fn entries(&self) -> &[(u32, WordClass)] {
        &self.entries
    }
}

/// The class of a token in two granularities: a word has its class, a mark has itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenClass {
    pub(crate) fine: u32,
    pub(crate) coarse: u32,
}

impl TokenClass {
    pub(crate) fn mark(mark: u32) -> TokenClass {
        TokenClass { fine: mark, coarse: mark }
    }

    pub(crate) fn of(class: WordClass) -> TokenClass {
        TokenClass {
            fine: mix(0xF1_7E, u32::from(class.fine)),
            coarse: mix(0xC0_A5, u32::from(class.coarse)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_class_and_no_other_has_one() {
        let class = |k: u32| WordClass { fine: (k % 500) as u16, coarse: (k % 60) as u8 };
        // Many words share the leading bits; the smallest and the greatest hash are among them.
        let numbers = (0..3_000_u32).map(|k| k.wrapping_mul(0x9E37_79B1)).chain(7..900);
        let mut entries: Vec<(u32, WordClass)> = numbers.map(|number| (number, class(number))).collect();
        entries.push((u32::MAX, class(u32::MAX)));
        let classes = WordClasses::new(entries.iter().rev().copied().collect());
        for (number, class) in &entries {
            assert_eq!(classes.of(*number), Some(*class));
        }
        assert_eq!(classes.of(1_000), None);
        assert_eq!(classes.of(u32::MAX - 1), None);
        assert_eq!(WordClasses::new(classes.entries().to_vec()), classes);
        assert_eq!(WordClasses::new(Vec::new()).of(0), None);
    }
}
