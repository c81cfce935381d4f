//! Another passphrase, another data key, and the unlock key of a file.

use super::unlock_key::UnlockKey;
use super::vault::Vault;
use crate::content::keys::Keys;
use crate::content::state::State;
use crate::crypto::cipher::{Entropy, Key};
use crate::crypto::kdf::KdfParams;
use crate::crypto::secret::Secret;
use crate::error::VaultError;
use crate::file::header::Header;

impl Vault {
    /// Makes the key that opens this file without the passphrase.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], and those of [`Vault::unlock`] for a header.
    pub fn unlock_key(bytes: &[u8], passphrase: &Secret) -> Result<UnlockKey, VaultError> {
        let header = Header::parse(bytes)?;
        let data = header.unwrap(passphrase)?;
        Ok(UnlockKey { vault: *header.id(), data })
    }

    /// Wraps the data key under another passphrase, with a new salt and these costs; values are untouched. The
    /// old passphrase still opens older copies of the file; use [`Vault::rotate`] if it leaked.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`] if `old` is wrong, [`VaultError::Ephemeral`], [`VaultError::Locked`],
    /// [`VaultError::OutOfMemory`]. After an error nothing is changed.
    pub fn change_passphrase(
        &mut self,
        old: &Secret,
        new: &Secret,
        params: KdfParams,
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        self.keys.as_ref().ok_or(VaultError::Locked)?;
        let data = header.unwrap(old)?;
        self.header = Some(Header::wrap(self.id, &data, new, params, entropy)?);
        self.generation += 1;
        Ok(())
    }

    /// Makes a new data key and encrypts everything again under it, with new record ids and nonces. This revokes
    /// the unlock keys made before. An older copy of the file does not open with a new unlock key, but still opens
    /// with its passphrase. The signing key stays.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], [`VaultError::Ephemeral`], [`VaultError::Locked`], or the error of a value
    /// or state that is damaged in memory. After an error nothing is changed.
    pub fn rotate(&mut self, passphrase: &Secret, entropy: &mut dyn Entropy) -> Result<(), VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        let old = self.keys.as_ref().ok_or(VaultError::Locked)?;
        header.unwrap(passphrase)?;
        let data = Key::random(entropy);
        let new = Keys::derive(&data, &self.id)?;
        let header = Header::wrap(self.id, &data, passphrase, header.params(), entropy)?;
        let [records, for_task] = [&self.records, &self.for_task].map(|records| {
            let resealed = records.iter().map(|record| {
                let value = record.unseal(&self.id, &old.records);
                let value = value.map_err(|_| VaultError::ValueDamaged(record.field))?;
                record.resealed(&value, &self.id, &new.records, entropy)
            });
            resealed.collect::<Result<Vec<_>, VaultError>>()
        });
        let (records, for_task) = (records?, for_task?);
        let states = self.states.iter().map(|state| {
            let text = state.unseal(&self.id, &old.states)?;
            State::seal(state.name, &self.id, &new.states, text.expose(), entropy)
        });
        let states = states.collect::<Result<Vec<_>, VaultError>>()?;
        let signing = self.signing.resealed(&self.id, &old.signing, &new.signing, entropy)?;
        (self.header, self.keys) = (Some(header), Some(new));
        (self.records, self.for_task, self.states, self.signing) = (records, for_task, states, signing);
        self.generation += 1;
        Ok(())
    }
}
