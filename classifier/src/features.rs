//! What a linear model sees of a text: hashed pieces of words, words, and short runs of words; and of their classes,
//! where it has some.
//!
//! The text is read once. It falls into tokens: words, numbers (by how many digits they have), and marks. Each
//! token gives features of its own and, with the one or two tokens before it, features of the run. Since every
//! feature belongs to the token that ends it, the features of a window are those of its tokens without the few that
//! reach back over the window's beginning; so one pass serves all windows of a text (see [`crate::linear`]).

use std::ops::Range;
use std::sync::Arc;

use crate::WordClasses;
use crate::kind::Kind;
use crate::word::{LONGEST_WORD, Word};

/// How many characters of a word a feature may span, the marks of its borders included.
const SHORTEST_PIECE: usize = 3;
const LONGEST_PIECE: usize = 5;

/// How far back a feature reaches, counted in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Counts only where the token is the first of the window.
    First,
    /// The token alone.
    One,
    /// The token and the one before it.
    Two,
    /// The token and two before it.
    Three,
}

/// What takes the features of a text, in order.
pub trait FeatureSink {
    /// A token begins; the features that follow are its.
    fn token(&mut self, span: Range<usize>);
    /// What the token is: a number that all its spellings share and hardly any other token has, and whether it is a
    /// word.
    fn identity(&mut self, _number: u32, _word: bool) {}
    /// A feature of the token.
    fn feature(&mut self, reach: Reach, bucket: u32);
}

/// The features of texts, hashed into `2^bits` buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    bits: u32,
    classes: Option<Arc<WordClasses>>,
}

impl Features {
    /// The fewest and the most bits.
    pub const BITS: std::ops::RangeInclusive<u32> = 8..=18;

    /// Features in `2^bits` buckets; bits outside [`Features::BITS`] are brought to the nearest inside.
    pub fn new(bits: u32) -> Features {
        Features { bits: bits.clamp(*Self::BITS.start(), *Self::BITS.end()), classes: None }
    }

    /// The same and those of the classes of words.
    #[must_use]
    pub fn with_classes(self, classes: Arc<WordClasses>) -> Features {
        Features { classes: Some(classes), ..self }
    }

    /// The classes of words, where the features know any.
    pub fn classes(&self) -> Option<&WordClasses> {
        self.classes.as_deref()
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        1 << self.bits
    }

    /// Goes over a text once. The time is linear in its length.
    pub fn visit(&self, text: &str, sink: &mut impl FeatureSink) {
        let (before, kinds) = ([SENTENCE; 2], [Some(Kind::mark(SENTENCE)); 2]);
        let mut run = Run { features: self, sink, before, kinds, word: Word::default() };
        let mut characters = text.char_indices().peekable();
        while let Some((start, character)) = characters.next() {
            let mut end = start + character.len_utf8();
            if character.is_alphabetic() {
                run.word.clear();
                run.word.push(character);
                while run.word.has_room()
                    && let Some((at, next)) = characters.next_if(|(_, next)| next.is_alphabetic())
                {
                    run.word.push(next);
                    end = at + next.len_utf8();
                }
                run.word(start..end);
            } else if character.is_numeric() {
                let mut digits = 1;
                while digits < LONGEST_WORD
                    && let Some((at, next)) = characters.next_if(|(_, next)| next.is_numeric())
                {
                    digits += 1;
                    end = at + next.len_utf8();
                }
                run.mark(start..end, mix(NUMBER, digits.min(13) as u32));
            } else if let Some(kind) = mark_of(character, characters.peek().map(|(_, next)| *next)) {
                let mut more = false;
                while let Some((at, next)) = characters.next_if(|(_, next)| *next == character) {
                    more = true;
                    end = at + next.len_utf8();
                }
                run.mark(start..end, if more && kind != SENTENCE { mix(kind, 7) } else { kind });
            }
        }
    }

    /// The buckets of a text judged by itself, one for each feature; a feature that occurs twice is there twice.
    pub fn of(&self, text: &str) -> Vec<u32> {
        struct All {
            tokens: usize,
            buckets: Vec<u32>,
        }
        impl FeatureSink for All {
            fn token(&mut self, _: Range<usize>) {
                self.tokens += 1;
            }
            fn feature(&mut self, reach: Reach, bucket: u32) {
                let counts = match reach {
                    Reach::First => self.tokens == 1,
                    Reach::One => true,
                    Reach::Two => self.tokens > 1,
                    Reach::Three => self.tokens > 2,
                };
                if counts {
                    self.buckets.push(bucket);
                }
            }
        }
        let mut all = All { tokens: 0, buckets: Vec::new() };
        self.visit(text, &mut all);
        all.buckets
    }

    fn bucket(&self, hash: u32) -> u32 {
        let mut hash = hash ^ (hash >> 15);
        hash = hash.wrapping_mul(0x85EB_CA6B);
        hash >> (32 - self.bits)
    }
}

/// The mark of a sentence's end, and what stands before a text.
const SENTENCE: u32 = 0x51_5EED;
const NUMBER: u32 = 0x0D_1617;

/// What a mark is told apart by; `None` for what separates and says nothing.
fn mark_of(character: char, next: Option<char>) -> Option<u32> {
    match character {
        '\n' | '!' | '?' | '\u{3002}' | '\u{FF01}' | '\u{FF1F}' => Some(SENTENCE),
        '.' if next.is_none_or(char::is_whitespace) => Some(SENTENCE),
        '"' | '\'' | '`' | '\u{2018}'..='\u{201F}' | '\u{AB}' | '\u{BB}' => {
            Some(mix(SENTENCE, u32::from('"')))
        }
        _ if character.is_whitespace() || character.is_control() => None,
        _ => Some(mix(SENTENCE, u32::from(character))),
    }
}

pub(crate) fn mix(hash: u32, value: u32) -> u32 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B1)
}

struct Run<'a, S: FeatureSink> {
    features: &'a Features,
    sink: &'a mut S,
    /// The tokens before, the nearest first.
    before: [u32; 2],
    /// Their kinds; a word without a class has none.
    kinds: [Option<Kind>; 2],
    word: Word,
}

impl<S: FeatureSink> Run<'_, S> {
    fn put(&mut self, reach: Reach, hash: u32) {
        self.sink.feature(reach, self.features.bucket(hash));
    }

    fn word(&mut self, span: Range<usize>) {
        self.word.end();
        self.sink.token(span);
        let word = self.word.all();
        let mut whole = 0;
        for (at, character) in word.iter().enumerate() {
            whole = mix(whole, *character);
            let mut piece = 0x0C_4A12;
            for (behind, next) in word.iter().skip(at).take(LONGEST_PIECE).enumerate() {
                piece = mix(piece, *next);
                // The whole word is a feature of its own.
                if behind + 1 >= SHORTEST_PIECE && behind + 1 < word.len() {
                    self.sink.feature(Reach::One, self.features.bucket(piece));
                }
            }
        }
        if self.word.is_in_capitals() {
            self.put(Reach::One, 0x0C_A125);
        }
        self.put(Reach::One, mix(whole, 1));
        self.sink.identity(whole, true);
        if let Some(classes) = &self.features.classes {
            let kind = classes.of(whole).map(Kind::of);
            if let Some(kind) = kind {
                self.put(Reach::One, mix(kind.fine, 11));
                self.put(Reach::One, mix(kind.coarse, 12));
            }
            self.kinds(kind);
        }
        self.runs(whole);
    }

    fn mark(&mut self, span: Range<usize>, kind: u32) {
        self.sink.token(span);
        self.put(Reach::One, mix(kind, 1));
        self.sink.identity(kind, false);
        if self.features.classes.is_some() {
            self.kinds(Some(Kind::mark(kind)));
        }
        self.runs(kind);
    }

    /// Runs of kinds, of the fine ones, of the coarse ones, and of fine ones around anything. Words without a class say
    /// nothing together: else a text in another language, or in look-alike letters, would be like any other such.
    fn kinds(&mut self, kind: Option<Kind>) {
        let [one, two] = self.kinds;
        self.kinds = [kind, one];
        let Some(kind) = kind else { return };
        if let Some(one) = one {
            self.put(Reach::Two, mix(mix(one.fine, kind.fine), 13));
            self.put(Reach::Two, mix(mix(one.coarse, kind.coarse), 14));
        }
        if let (Some(one), Some(two)) = (one, two) {
            self.put(Reach::Three, mix(mix(mix(two.fine, one.fine), kind.fine), 15));
            self.put(Reach::Three, mix(mix(mix(two.coarse, one.coarse), kind.coarse), 16));
        }
        if let Some(two) = two {
            self.put(Reach::Three, mix(mix(two.fine, kind.fine), 17));
        }
    }

    fn runs(&mut self, token: u32) {
        let [one, two] = self.before;
        self.put(Reach::First, mix(mix(SENTENCE, token), 2));
        self.put(Reach::Two, mix(mix(one, token), 2));
        self.put(Reach::Three, mix(mix(two, token), 3));
        self.put(Reach::Three, mix(mix(mix(two, one), token), 4));
        self.before = [token, one];
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn accents_and_first_letters_say_nothing_and_words_do() {
        let features = Features::new(16);
        assert_eq!(features.of("Größe Élan"), features.of("große elan"));
        assert_eq!(features.of("ÉLAN").len(), features.of("elan").len() + 1, "capitals throughout");
        assert_ne!(features.of("ignore this"), features.of("ignore that"));
        assert_eq!(features.of("pay 1234 now"), features.of("pay 9876 now"));
        assert_ne!(features.of("pay 1234 now"), features.of("pay 123 now"));
    }

    #[test]
    fn a_text_has_few_features_for_its_length() {
        for text in [
            "a".repeat(10_000),
            ".".repeat(10_000),
            "1".repeat(10_000),
            "a b ".repeat(2_500),
            "!a".repeat(5_000),
        ] {
            assert!(Features::new(17).of(&text).len() <= 5 * text.len());
        }
    }

    #[test]
    fn every_bucket_is_inside() {
        let features = Features::new(0);
        assert_eq!(features.buckets(), 256);
        assert!(
            features.of("Some words, and 12 others: \u{4E2D}\u{6587}!").iter().all(|bucket| *bucket < 256)
        );
    }
}
