//! Taking bytes from the front, with the place in the file.

use crate::{Section, VaultError};

/// What is left of a file.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, which start at `offset` of the file.
    pub(super) fn new(bytes: &'a [u8], offset: usize) -> Reader<'a> {
        Reader { rest: bytes, offset }
    }

    /// The place of the next byte in the file.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Everything that is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: usize, section: Section) -> Result<&'a [u8], VaultError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(VaultError::Truncated { section, offset: self.offset + self.rest.len() });
        };
        self.rest = rest;
        self.offset += length;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self, section: Section) -> Result<[u8; N], VaultError> {
        let offset = self.offset;
        let bytes = self.take(N, section)?;
        bytes.try_into().map_err(|_| VaultError::Damaged { section, offset })
    }

    /// The next byte.
    pub(super) fn byte(&mut self, section: Section) -> Result<u8, VaultError> {
        let [byte] = self.array(section)?;
        Ok(byte)
    }

    /// The next four bytes as a number, least significant first.
    pub(super) fn u32(&mut self, section: Section) -> Result<u32, VaultError> {
        Ok(u32::from_le_bytes(self.array(section)?))
    }

    /// The next eight bytes as a number, least significant first.
    pub(super) fn u64(&mut self, section: Section) -> Result<u64, VaultError> {
        Ok(u64::from_le_bytes(self.array(section)?))
    }
}
