//! Token sequences to learn from.

use super::DistilError;
use crate::Token;
use rand::{Rng, RngExt};
use std::ops::Range;

/// Stands in a sequence for a token that is not known. It says nothing of the state, and is not counted.
pub const MISSING: Token = Token::MAX;

/// Many token sequences of different lengths, in one piece of memory: 4 bytes a token and 8 a sequence.
///
/// ```
/// use hmm_control::distil::Sequences;
///
/// let sequences = Sequences::from_iter([[3, 1, 4].as_slice(), &[1, 5]]);
/// let again = Sequences::from_bytes(&sequences.to_bytes())?;
/// assert_eq!(again.get(1), [1, 5]);
/// # Ok::<(), hmm_control::distil::DistilError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequences {
    tokens: Vec<Token>,
    /// Where each sequence ends in `tokens`.
    ends: Vec<usize>,
}

impl Sequences {
    /// No sequence yet.
    pub fn new() -> Sequences {
        Sequences::default()
    }

    /// Cuts one stream of tokens: behind each `end` token (which stays, as the last of its sequence), and so that no
    /// sequence is longer than `longest` (at least 1).
    pub fn from_stream(tokens: &[Token], end: Option<Token>, longest: usize) -> Sequences {
        let mut sequences = Sequences::new();
        for text in tokens.split_inclusive(|token| Some(*token) == end) {
            text.chunks(longest.max(1)).for_each(|part| sequences.push(part));
        }
        sequences
    }

    /// Adds a sequence.
    pub fn push(&mut self, tokens: &[Token]) {
        self.tokens.extend_from_slice(tokens);
        self.ends.push(self.tokens.len());
    }

    /// How many sequences there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All tokens, one sequence behind the other.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Where a range of sequences lies among all tokens.
    pub(super) fn span(&self, range: &Range<usize>) -> Range<usize> {
        let bound = |place: usize| match place.min(self.len()).checked_sub(1) {
            Some(last) => self.ends.get(last).copied().unwrap_or_default(),
            None => 0,
        };
        bound(range.start)..bound(range.end.max(range.start))
    }

    /// One sequence; empty where there is none of that number.
    pub fn get(&self, number: usize) -> &[Token] {
        self.tokens.get(self.span(&(number..number + 1))).unwrap_or_default()
    }

    /// All sequences in order.
    pub fn iter(&self) -> impl Iterator<Item = &[Token]> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Takes the last `count` sequences away, to hold them out.
    pub fn split_off(&mut self, count: usize) -> Sequences {
        let first = self.len().saturating_sub(count);
        let cut = self.span(&(0..first)).end;
        let tokens = self.tokens.split_off(cut);
        let ends = self.ends.split_off(first).iter().map(|end| end - cut).collect();
        Sequences { tokens, ends }
    }

    /// The same sequences in a random order. Portions are taken in order, so what comes from a sorted file should be
    /// shuffled once.
    pub fn shuffled(&self, rng: &mut impl Rng) -> Sequences {
        let mut order: Vec<usize> = (0..self.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, rng.random_range(0..=last));
        }
        order.iter().map(|number| self.get(*number)).collect()
    }

    /// Checks a range of sequences against a vocabulary and the end token's convention.
    pub(super) fn check(
        &self,
        range: &Range<usize>,
        vocabulary: usize,
        end: Option<Token>,
    ) -> Result<(), DistilError> {
        for sequence in range.clone() {
            let mut ended = false;
            for (place, &token) in self.get(sequence).iter().enumerate() {
                if token != MISSING && token as usize >= vocabulary {
                    return Err(DistilError::Token { sequence, place, token, vocabulary });
                }
                if ended && token != MISSING && Some(token) != end {
                    return Err(DistilError::AfterEnd { sequence, place, token });
                }
                ended |= Some(token) == end;
            }
        }
        Ok(())
    }

    /// A number that changes when a token or a length does (FNV-1a): tells two sets apart, proves nothing.
    pub(super) fn fingerprint(&self) -> u64 {
        let words = self.ends.iter().map(|end| *end as u64).chain(self.tokens.iter().map(|t| u64::from(*t)));
        words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
    }
}

impl<'a> FromIterator<&'a [Token]> for Sequences {
    fn from_iter<I: IntoIterator<Item = &'a [Token]>>(sequences: I) -> Sequences {
        let mut all = Sequences::new();
        sequences.into_iter().for_each(|sequence| all.push(sequence));
        all
    }
}
