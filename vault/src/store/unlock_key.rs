//! The key that opens a vault without its passphrase.

use zeroize::Zeroizing;

use crate::crypto::cipher::Key;
use crate::error::VaultError;
use crate::file::header::Header;

/// The first byte of a stored key, by which one of another program or version is refused.
const STORED_FORMAT: u8 = 1;
/// The length of a stored key, in bytes.
const STORED: usize = 1 + 16 + 32;

/// The key that opens a vault without its passphrase, for an unlock cache such as the system's keyring.
///
/// It opens the vault until the data key is rotated; a new passphrase does not revoke it. It cannot be printed,
/// cloned or serialised, and is wiped when dropped.
pub struct UnlockKey {
    pub(super) vault: [u8; 16],
    pub(super) data: Key,
}

impl UnlockKey {
    /// Gives the key's bytes, for the keyring alone, in a buffer that is wiped when dropped.
    pub fn expose_to_keyring(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(STORED));
        bytes.push(STORED_FORMAT);
        bytes.extend_from_slice(&self.vault);
        bytes.extend_from_slice(self.data.expose_to_wrap());
        bytes
    }

    /// Reads the key that [`UnlockKey::expose_to_keyring`] wrote. The caller wipes its own copy.
    ///
    /// # Errors
    /// [`VaultError::NotAnUnlockKey`] for any other bytes.
    pub fn from_keyring(bytes: &[u8]) -> Result<UnlockKey, VaultError> {
        let rest = bytes.strip_prefix(&[STORED_FORMAT]).ok_or(VaultError::NotAnUnlockKey)?;
        let (vault, data) = rest.split_first_chunk().ok_or(VaultError::NotAnUnlockKey)?;
        let data: &[u8; 32] = data.try_into().map_err(|_| VaultError::NotAnUnlockKey)?;
        let data = Key::try_filled(|out| {
            out.copy_from_slice(data);
            Ok::<(), VaultError>(())
        })?;
        Ok(UnlockKey { vault: *vault, data })
    }

    /// The id of the vault that the key opens.
    pub fn vault(&self) -> [u8; 16] {
        self.vault
    }

    /// Checks that the key opens the file with this header.
    pub(super) fn check(&self, header: &Header) -> Result<(), VaultError> {
        if *header.id() != self.vault {
            return Err(VaultError::KeyOfAnotherVault);
        }
        if header.is_key(&self.data) { Ok(()) } else { Err(VaultError::KeyReplaced) }
    }
}
