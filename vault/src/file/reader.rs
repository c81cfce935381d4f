//! Bytes taken from the front of a file, with their offset.

use crate::error::{Section, VaultError};

/// The rest of a file that is being read.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, which start at `offset` of the file.
    pub(super) fn new(bytes: &'a [u8], offset: usize) -> Reader<'a> {
        Reader { rest: bytes, offset }
    }

    /// The offset of the next byte in the file.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes that are left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes the next `length` bytes.
    pub(super) fn take(&mut self, length: usize, section: Section) -> Result<&'a [u8], VaultError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(VaultError::Truncated { section, offset: self.offset + self.rest.len() });
        };
        self.rest = rest;
        self.offset += length;
        Ok(taken)
    }

    /// Takes the next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self, section: Section) -> Result<[u8; N], VaultError> {
        let offset = self.offset;
        let bytes = self.take(N, section)?;
        bytes.try_into().map_err(|_| VaultError::Damaged { section, offset })
    }

    /// Takes the next byte.
    pub(super) fn byte(&mut self, section: Section) -> Result<u8, VaultError> {
        let [byte] = self.array(section)?;
        Ok(byte)
    }

    /// Takes the next four bytes as a number, least significant first.
    pub(super) fn u32(&mut self, section: Section) -> Result<u32, VaultError> {
        Ok(u32::from_le_bytes(self.array(section)?))
    }

    /// Takes the next eight bytes as a number, least significant first.
    pub(super) fn u64(&mut self, section: Section) -> Result<u64, VaultError> {
        Ok(u64::from_le_bytes(self.array(section)?))
    }
}
