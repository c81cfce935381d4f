//! Token sequences to learn from, and their file formats.

use super::DistilError;
use crate::Token;
use rand::{Rng, RngExt};
use std::ops::Range;

/// An unknown token in a sequence. It is no evidence of the state, and is not counted.
pub const MISSING: Token = Token::MAX;

/// Many token sequences of different lengths in one buffer: 4 bytes per token and 8 per sequence.
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
    /// The end of each sequence in `tokens`.
    ends: Vec<usize>,
}

impl Sequences {
    /// An empty set.
    pub fn new() -> Sequences {
        Sequences::default()
    }

    /// Splits one stream of tokens after each `end` token (which stays the last of its sequence), and so that no sequence
    /// is longer than `longest` (at least 1).
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

    /// True if there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All tokens, one sequence after the other.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The span of a range of sequences among all tokens.
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

    /// Removes the last `count` sequences, to hold them out.
    pub fn split_off(&mut self, count: usize) -> Sequences {
        let first = self.len().saturating_sub(count);
        let cut = self.span(&(0..first)).end;
        let tokens = self.tokens.split_off(cut);
        let ends = self.ends.split_off(first).iter().map(|end| end - cut).collect();
        Sequences { tokens, ends }
    }

    /// The same sequences in a random order. Portions are taken in order, so sequences from a sorted file should be shuffled
    /// once.
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

    /// A hash of the tokens and lengths (FNV-1a). It detects other sequences, and is not cryptographic.
    pub(super) fn fingerprint(&self) -> u64 {
        let words = self.ends.iter().map(|end| *end as u64).chain(self.tokens.iter().map(|t| u64::from(*t)));
        fnv(words)
    }
}

/// The hash FNV-1a, of words in place of bytes. It finds a mistake, and not a forgery.
pub(super) fn fnv(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
}

impl<'a> FromIterator<&'a [Token]> for Sequences {
    fn from_iter<I: IntoIterator<Item = &'a [Token]>>(sequences: I) -> Sequences {
        let mut all = Sequences::new();
        sequences.into_iter().for_each(|sequence| all.push(sequence));
        all
    }
}

const MAGIC: &[u8; 7] = b"HMMSEQ\x01";

/// Magic, width, and two numbers of 8 bytes.
const HEADER: usize = 24;

/// [`MISSING`] in two bytes.
const MISSING_SHORT: u32 = 0xffff;

impl Sequences {
    /// The sequences as bytes, all numbers little-endian:
    ///
    /// | bytes | what |
    /// |---|---|
    /// | 0..7 | `HMMSEQ` and the version, 1 |
    /// | 7 | bytes a token takes: 2 where all tokens are below 65535, else 4 |
    /// | 8..16 | number of sequences |
    /// | 16..24 | number of tokens |
    /// | then | 4 bytes a sequence: its length |
    /// | then | the tokens; all bits set is [`MISSING`] |
    pub fn to_bytes(&self) -> Vec<u8> {
        let short = self.tokens().iter().all(|token| *token == MISSING || *token < MISSING_SHORT);
        let width = if short { Width::Two } else { Width::Four };
        let mut bytes = MAGIC.to_vec();
        bytes.push(width.bytes() as u8);
        bytes.extend_from_slice(&(self.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(self.tokens().len() as u64).to_le_bytes());
        for sequence in self.iter() {
            bytes.extend_from_slice(&(sequence.len() as u32).to_le_bytes());
        }
        for token in self.tokens() {
            bytes.extend(token.to_le_bytes().iter().take(width.bytes()));
        }
        bytes
    }

    /// Reads the bytes of [`Sequences::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are something else, cut short, or too many; the error names the byte.
    pub fn from_bytes(bytes: &[u8]) -> Result<Sequences, DistilError> {
        let problem = |place: usize, problem: String| DistilError::Bytes { place, problem };
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(problem(0, "this is no file of token sequences (version 1)".into()));
        }
        let width = match bytes.get(MAGIC.len()) {
            Some(2) => Width::Two,
            Some(4) => Width::Four,
            found => return Err(problem(MAGIC.len(), format!("a token takes 2 or 4 bytes, not {found:?}"))),
        };
        let count = |place: usize| -> Result<usize, DistilError> {
            let field = bytes.get(place..place + 8).and_then(|field| <[u8; 8]>::try_from(field).ok());
            let number = field.map(u64::from_le_bytes).and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| problem(place, "the header is cut short".into()))
        };
        let (sequences, tokens) = (count(8)?, count(16)?);
        let lengths_end = sequences.checked_mul(4).and_then(|size| size.checked_add(HEADER));
        let end = lengths_end
            .and_then(|place| tokens.checked_mul(width.bytes()).and_then(|size| size.checked_add(place)));
        let (Some(lengths_end), Some(end)) = (lengths_end, end) else {
            return Err(problem(8, "the header speaks of more than memory can hold".into()));
        };
        if bytes.len() != end {
            let place = bytes.len().min(end);
            return Err(problem(place, format!("{end} bytes were expected, {} found", bytes.len())));
        }
        let mut all = Sequences::new();
        let mut rest = bytes.get(lengths_end..).unwrap_or_default();
        for (number, length) in bytes.get(HEADER..lengths_end).unwrap_or_default().chunks_exact(4).enumerate()
        {
            let length = read_number(length) as usize;
            let Some((part, behind)) =
                length.checked_mul(width.bytes()).and_then(|size| rest.split_at_checked(size))
            else {
                let place = HEADER + number * 4;
                return Err(problem(
                    place,
                    format!("sequence {number} is longer than the tokens that are left"),
                ));
            };
            rest = behind;
            let tokens: Vec<_> = part.chunks_exact(width.bytes()).map(|token| widen(token, width)).collect();
            all.push(&tokens);
        }
        match rest.len() {
            0 => Ok(all),
            left => Err(problem(end - left, "the lengths leave tokens that belong to no sequence".into())),
        }
    }
}

fn widen(bytes: &[u8], width: Width) -> u32 {
    match (width, read_number(bytes)) {
        (Width::Two, MISSING_SHORT) => MISSING,
        (_, token) => token,
    }
}

/// Bytes per token in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Two bytes, little-endian: vocabularies of up to 65536 tokens.
    Two,
    /// Four bytes, little-endian.
    Four,
}

impl Width {
    const fn bytes(self) -> usize {
        match self {
            Width::Two => 2,
            Width::Four => 4,
        }
    }
}

/// The tokens of a headerless file (`.bin`), to be split by [`crate::distil::Sequences::from_stream`].
///
/// # Errors
/// When the bytes are not a whole number of tokens.
pub fn tokens_from_bytes(bytes: &[u8], width: Width) -> Result<Vec<Token>, DistilError> {
    let rest = bytes.len() % width.bytes();
    if rest != 0 {
        return Err(DistilError::Bytes {
            place: bytes.len() - rest,
            problem: format!("the last token has {rest} of its {} bytes; is the width right?", width.bytes()),
        });
    }
    Ok(bytes.chunks_exact(width.bytes()).map(read_number).collect())
}

/// A little-endian number of up to four bytes.
fn read_number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}
