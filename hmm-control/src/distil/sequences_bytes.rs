//! Sequences as bytes.

use super::flat::{self, Width};
use super::{DistilError, MISSING, Sequences};

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

    /// Reads what [`Sequences::to_bytes`] wrote.
    ///
    /// # Errors
    /// When the bytes are something else, cut short, or too many; the error says at which byte.
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
            let length = flat::read(length) as usize;
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
    match (width, flat::read(bytes)) {
        (Width::Two, MISSING_SHORT) => MISSING,
        (_, token) => token,
    }
}
