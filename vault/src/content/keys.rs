//! The subkeys of a vault's data key.

use super::record::LONGEST_PADDED;
use crate::crypto::cipher::{Key, label};
use crate::crypto::memory::{Pool, Protection};
use crate::error::VaultError;

/// The keys of an unlocked vault, one for each purpose.
pub(crate) struct Keys {
    /// Encrypts records.
    pub(crate) records: Key,
    /// Encrypts the manifest.
    pub(crate) manifest: Key,
    /// Encrypts states.
    pub(crate) states: Key,
    /// Encrypts the seed of the signing key.
    pub(crate) signing: Key,
    /// The buffers that records are decrypted into.
    pub(crate) pool: Pool,
}

impl Keys {
    /// Derives the subkeys of a vault's data key. The error cannot occur: 32 bytes are within HKDF's limit.
    pub(crate) fn derive(data: &Key, vault: &[u8; 16]) -> Result<Keys, VaultError> {
        let subkey =
            |purpose| data.subkey(vault, label(purpose).as_bytes()).ok_or(VaultError::WrongPassphrase);
        Ok(Keys {
            records: subkey("records")?,
            manifest: subkey("manifest")?,
            states: subkey("states")?,
            signing: subkey("signing")?,
            pool: Pool::new(LONGEST_PADDED),
        })
    }

    /// The protection that the system granted to the memory of the keys for records and manifest.
    pub(crate) fn protection(&self) -> Protection {
        self.records.protection().and(self.manifest.protection())
    }
}
