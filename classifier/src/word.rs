//! A word as a linear model spells it.

use unicode_normalization::UnicodeNormalization;

/// The longest word that is taken as one; a longer one is cut, so that no token has many features.
pub(crate) const LONGEST_WORD: usize = 24;
/// Stands for the beginning and the end of a word among its characters.
const WORD_BEGINS: u32 = 1;
const WORD_ENDS: u32 = 2;

/// A word's characters, in lower case and without accents, between the marks of its borders.
#[derive(Default)]
pub(crate) struct Word {
    characters: [u32; LONGEST_WORD + 2],
    length: usize,
    letters: u32,
    capitals: u32,
}

impl Word {
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

    /// Whether another letter has its place in it. The mark of the beginning counts as one.
    pub(crate) fn has_room(&self) -> bool {
        self.length < LONGEST_WORD
    }

    /// To be called once, behind the last letter.
    pub(crate) fn end(&mut self) {
        self.put(WORD_ENDS);
    }

    /// Whether all its letters are capitals, and they are more than two.
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

/// A letter in lower case; a Latin one without its accent.
fn plain_letter(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let lower = character.to_lowercase().next().unwrap_or(character);
    if ('\u{C0}'..'\u{250}').contains(&lower) {
        return std::iter::once(lower).nfd().next().unwrap_or(lower);
    }
    lower
}
