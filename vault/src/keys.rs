//! The keys of a vault: another passphrase, another data key, and a key that is kept outside.

use zeroize::Zeroizing;

use crate::cipher::{Format, Key};
use crate::entropy::Entropy;
use crate::file::Header;
use crate::state::State;
use crate::store::keys_of;
use crate::{KdfParams, Secret, Vault, VaultError};

/// What a kept key begins with, so that one of another program or version is told apart.
const KEPT_FORMAT: u8 = 1;
/// The length of a kept key, in bytes.
const KEPT: usize = 1 + 16 + 32;

/// The key that opens a vault without its passphrase, for an unlock cache such as the system's keyring.
///
/// Who has it opens the vault until its data key is rotated; a new passphrase does not end it. It cannot be
/// printed, cloned or serialised, and is wiped when dropped.
pub struct UnlockKey {
    pub(crate) vault: [u8; 16],
    pub(crate) data: Key,
}

impl UnlockKey {
    /// The key's bytes, for the keyring alone, in a buffer that is wiped when dropped.
    pub fn expose_to_keyring(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(KEPT));
        bytes.push(KEPT_FORMAT);
        bytes.extend_from_slice(&self.vault);
        bytes.extend_from_slice(self.data.expose_to_wrap());
        bytes
    }

    /// The key that [`UnlockKey::expose_to_keyring`] wrote. The caller wipes its own copy.
    ///
    /// # Errors
    /// [`VaultError::NotAnUnlockKey`] for any other bytes.
    pub fn from_keyring(bytes: &[u8]) -> Result<UnlockKey, VaultError> {
        let rest = bytes.strip_prefix(&[KEPT_FORMAT]).ok_or(VaultError::NotAnUnlockKey)?;
        let (vault, data) = rest.split_first_chunk().ok_or(VaultError::NotAnUnlockKey)?;
        let data: &[u8; 32] = data.try_into().map_err(|_| VaultError::NotAnUnlockKey)?;
        let data = Key::try_filled(|out| {
            out.copy_from_slice(data);
            Ok::<(), VaultError>(())
        })?;
        Ok(UnlockKey { vault: *vault, data })
    }

    /// The vault it is for.
    pub fn vault(&self) -> [u8; 16] {
        self.vault
    }
}

impl Vault {
    /// The key that opens this file without the passphrase.
    ///
    /// # Errors
    /// Those of reading the header, [`VaultError::WrongPassphrase`], and [`VaultError::OlderFormat`] for a file
    /// that has to be saved in the present format first.
    pub fn unlock_key(bytes: &[u8], passphrase: &Secret) -> Result<UnlockKey, VaultError> {
        let header = Header::parse(bytes)?;
        if header.format() != Format::V2 {
            return Err(VaultError::OlderFormat { found: header.format().number() });
        }
        let data = header.unwrap(passphrase)?;
        Ok(UnlockKey { vault: *header.id(), data })
    }

    /// Wraps the data key under another passphrase, with a new salt and these costs; values are untouched. The
    /// old passphrase opens older copies of the file for ever: [`Vault::rotate`] is for one that got out.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`] where `old` is wrong, [`VaultError::Ephemeral`], [`VaultError::Locked`],
    /// [`VaultError::OutOfMemory`]; nothing is changed then.
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

    /// Makes a new data key and seals everything anew under it, with new record ids and nonces. Kept keys end
    /// with this, and a copy of the file made before does not open with the new key; it still opens with its
    /// passphrase. The signing key stays.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], [`VaultError::Ephemeral`], [`VaultError::Locked`], or what in memory is
    /// damaged; nothing is changed then.
    pub fn rotate(&mut self, passphrase: &Secret, entropy: &mut dyn Entropy) -> Result<(), VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        let old = self.keys.as_ref().ok_or(VaultError::Locked)?;
        header.unwrap(passphrase)?;
        let data = Key::random(entropy);
        let new = keys_of(&data, &self.id)?;
        let header = Header::wrap(self.id, &data, passphrase, header.params(), entropy)?;
        let [records, for_task] = [&self.records, &self.for_task].map(|records| {
            let anew = records.iter().map(|record| {
                let value = record.unseal(&self.id, &old.records);
                let value = value.map_err(|_| VaultError::ValueDamaged(record.field))?;
                record.resealed(&value, &self.id, &new.records, entropy)
            });
            anew.collect::<Result<Vec<_>, VaultError>>()
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

impl Header {
    /// Whether a kept key opens this file, and if not, why.
    pub(crate) fn takes(&self, key: &UnlockKey) -> Result<(), VaultError> {
        if *self.id() != key.vault {
            return Err(VaultError::KeyOfAnotherVault);
        }
        if self.format() != Format::V2 {
            return Err(VaultError::OlderFormat { found: self.format().number() });
        }
        if self.is_key(&key.data) { Ok(()) } else { Err(VaultError::KeyReplaced) }
    }
}
