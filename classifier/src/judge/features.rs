//! The features of a text for a linear model: hashed pieces of words, words, short runs of words and, in some models,
//! classes of words.
//!
//! The text is read once. It consists of tokens: words, numbers (by their count of digits), and marks. Each token has
//! features of its own and, with the one or two tokens before it, features of the run. Every feature belongs to the
//! token that ends it. So the features of a window are those of its tokens without the few that reach back before the
//! window, and one pass serves all windows of a text (see `linear`).

use std::ops::Range;
use std::sync::Arc;

use super::word::{LONGEST_WORD, SpelledWord, TokenClass, WordClasses, mix};

/// The shortest and the longest piece of a word in characters, the marks of its borders included.
const SHORTEST_PIECE: usize = 3;
const LONGEST_PIECE: usize = 5;

/// The number of tokens that a feature depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The token alone, and only if it is the first of the window.
    First,
    /// The token alone.
    One,
    /// The token and the one before it.
    Two,
    /// The token and two before it.
    Three,
}

/// A consumer of the features of a text, in order.
pub trait FeatureSink {
    /// Begins a token; the features that follow belong to it.
    fn token(&mut self, span: Range<usize>);
    /// Receives the identity of the token: a hash that all its spellings share and hardly any other token has, and
    /// whether it is a word.
    fn identity(&mut self, _number: u32, _word: bool) {}
    /// Receives a feature of the token.
    fn feature(&mut self, reach: Reach, bucket: u32);
}

/// The features of texts, hashed into `2^bits` buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    bits: u32,
    classes: Option<Arc<WordClasses>>,
}

impl Features {
    /// The allowed numbers of bits.
    pub const BITS: std::ops::RangeInclusive<u32> = 8..=18;

    /// Returns features in `2^bits` buckets; bits outside [`Features::BITS`] are clamped.
    pub fn new(bits: u32) -> Features {
        Features { bits: bits.clamp(*Self::BITS.start(), *Self::BITS.end()), classes: None }
    }

    /// Returns these features with those of the classes of words added.
    #[must_use]
    pub fn with_classes(self, classes: Arc<WordClasses>) -> Features {
        Features { classes: Some(classes), ..self }
    }

    /// Returns the classes of words, if the features have any.
    pub fn classes(&self) -> Option<&WordClasses> {
        self.classes.as_deref()
    }

    /// Returns the number of buckets.
    pub fn buckets(&self) -> usize {
        1 << self.bits
    }

    /// Sends the features of a text to a sink. The time is linear in the length of the text.
    pub fn visit(&self, text: &str, sink: &mut impl FeatureSink) {
        let (before, classes_before) = ([SENTENCE; 2], [Some(TokenClass::mark(SENTENCE)); 2]);
        let mut run =
            FeatureRun { features: self, sink, before, classes_before, word: SpelledWord::default() };
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

    /// Returns the buckets of a text as one window, one for each feature; a feature that occurs twice is there twice.
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

/// The mark of the end of a sentence, which is also before the text.
const SENTENCE: u32 = 0x51_5EED;
const NUMBER: u32 = 0x0D_1617;

/// Returns the identity of a mark; `None` for a character that only separates.
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

struct FeatureRun<'a, S: FeatureSink> {
    features: &'a Features,
    sink: &'a mut S,
    /// The tokens before, the nearest first.
    before: [u32; 2],
    /// Their classes; a word without a class has none.
    classes_before: [Option<TokenClass>; 2],
    word: SpelledWord,
}

impl<S: FeatureSink> FeatureRun<'_, S> {
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
            let kind = classes.of(whole).map(TokenClass::of);
            if let Some(kind) = kind {
                self.put(Reach::One, mix(kind.fine, 11));
                self.put(Reach::One, mix(kind.coarse, 12));
            }
            self.class_runs(kind);
        }
        self.runs(whole);
    }

    fn mark(&mut self, span: Range<usize>, kind: u32) {
        self.sink.token(span);
        self.put(Reach::One, mix(kind, 1));
        self.sink.identity(kind, false);
        if self.features.classes.is_some() {
            self.class_runs(Some(TokenClass::mark(kind)));
        }
        self.runs(kind);
    }

    /// Adds the runs of classes: of the fine ones, of the coarse ones, and of two fine ones around any token. A run
    /// with an unclassified word has no feature: otherwise all texts in another language, or in look-alike letters,
    /// would be alike.
    fn class_runs(&mut self, kind: Option<TokenClass>) {
        let [one, two] = self.classes_before;
        self.classes_before = [kind, one];
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
    fn accents_and_first_capitals_do_not_count_and_words_do() {
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
