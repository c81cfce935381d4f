//! Tokens as they lie in files without a header.

use super::DistilError;
use crate::Token;

/// Bytes a token takes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Two bytes, little-endian: vocabularies of up to 65536 tokens.
    Two,
    /// Four bytes, little-endian.
    Four,
}

impl Width {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Width::Two => 2,
            Width::Four => 4,
        }
    }
}

/// The tokens of a headerless file (`.bin`), to be cut by [`crate::distil::Sequences::from_stream`].
///
/// # Errors
/// When the bytes are no whole number of tokens.
pub fn tokens_from_bytes(bytes: &[u8], width: Width) -> Result<Vec<Token>, DistilError> {
    let rest = bytes.len() % width.bytes();
    if rest != 0 {
        return Err(DistilError::Bytes {
            place: bytes.len() - rest,
            problem: format!("the last token has {rest} of its {} bytes; is the width right?", width.bytes()),
        });
    }
    Ok(bytes.chunks_exact(width.bytes()).map(read).collect())
}

/// A little-endian number of up to four bytes.
pub(super) fn read(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}
