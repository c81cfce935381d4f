//! Making, unlocking, saving and locking a vault.

use policy_dfa::Verifier;
use sirl::Field;

use crate::cipher::{Format, Key, Keys};
use crate::entropy::{Entropy, public_bytes};
use crate::file::{self, Contents, Header, MOST_RECORDS, Migrated};
use crate::keys::UnlockKey;
use crate::record::Record;
use crate::signing::Signing;
use crate::state::State;
use crate::{KdfParams, Protection, Secret, VaultError};

/// A person's values, each encrypted under the vault's key, also in memory.
///
/// The vault belongs to one policy's decision point: it takes that one's [`Verifier`] when it is made, and
/// its doors honour no other's grants.
pub struct Vault {
    pub(crate) id: [u8; 16],
    pub(crate) keys: Option<Keys>,
    pub(crate) header: Option<Header>,
    pub(crate) format_found: u16,
    pub(crate) generation: u64,
    pub(crate) records: Vec<Record>,
    /// Values that live for one task and are never written.
    pub(crate) for_task: Vec<Record>,
    pub(crate) signing: Signing,
    pub(crate) states: Vec<State>,
    pub(crate) left_out: Vec<(String, Field)>,
    pub(crate) preferred: Option<String>,
    pub(crate) verifier: Verifier,
}

impl Vault {
    /// A new, empty vault with a random data key, wrapped under the passphrase.
    ///
    /// # Errors
    /// [`VaultError::OutOfMemory`] where `params` ask for more memory than there is.
    pub fn create(
        passphrase: &Secret,
        entropy: &mut dyn Entropy,
        params: KdfParams,
        verifier: Verifier,
    ) -> Result<Vault, VaultError> {
        let data = Key::random(entropy);
        let id = public_bytes(entropy);
        let header = Header::wrap(id, &data, passphrase, params, entropy)?;
        let keys = keys_of(&data, &id)?;
        let signing = Signing::create(&id, &keys.signing, entropy)?;
        Ok(Vault::assembled((id, Some(keys), Some(header)), signing, verifier))
    }

    /// Opens a vault file. Nothing is returned unless every byte of it is authentic.
    ///
    /// A file of an older format is brought to this one in memory: [`Vault::format_found`] tells, and saving
    /// writes the new one. Keep a copy of the old file before the first save.
    ///
    /// # Errors
    /// Which of these it is: no vault file, another version, costs out of range, a wrong passphrase, or
    /// damage and where. A header that someone changed on purpose, sum included, reads as a wrong
    /// passphrase.
    pub fn unlock(bytes: &[u8], passphrase: &Secret, verifier: Verifier) -> Result<Vault, VaultError> {
        let header = Header::parse(bytes)?;
        if header.format() == Format::V2 {
            let data = header.unwrap(passphrase)?;
            return Vault::open(bytes, header, &data, verifier);
        }
        let Migrated { header, keys, generation, records, signing, left_out } =
            file::migrate(bytes, &header, passphrase)?;
        let vault = Vault::assembled((*header.id(), Some(keys), Some(header)), signing, verifier);
        Ok(Vault { format_found: Format::V1.number(), generation, records, left_out, ..vault })
    }

    /// Opens a vault file with a key that was kept, so that nobody is asked for the passphrase. As strict as
    /// [`Vault::unlock`], and much faster.
    ///
    /// # Errors
    /// [`VaultError::KeyOfAnotherVault`], [`VaultError::KeyReplaced`] after a rotation,
    /// [`VaultError::OlderFormat`] for a file that has to be opened with its passphrase once, and those of
    /// [`Vault::unlock`].
    pub fn unlock_with_key(bytes: &[u8], key: &UnlockKey, verifier: Verifier) -> Result<Vault, VaultError> {
        let header = Header::parse(bytes)?;
        header.takes(key)?;
        Vault::open(bytes, header, &key.data, verifier)
    }

    /// Checks every byte of a file that is not to be opened, such as a backup before it is put back.
    ///
    /// # Errors
    /// Those of [`Vault::unlock_with_key`].
    pub fn check_with_key(bytes: &[u8], key: &UnlockKey) -> Result<(), VaultError> {
        let header = Header::parse(bytes)?;
        header.takes(key)?;
        read(bytes, &header, &key.data).map(|_| ())
    }

    fn open(bytes: &[u8], header: Header, data: &Key, verifier: Verifier) -> Result<Vault, VaultError> {
        let (keys, Contents { generation, records, states, .. }, signing) = read(bytes, &header, data)?;
        let vault = Vault::assembled((*header.id(), Some(keys), Some(header)), signing, verifier);
        Ok(Vault { generation, records, states, ..vault })
    }

    /// A vault without passphrase or file, under a random key, for values that live one session.
    pub fn ephemeral(entropy: &mut dyn Entropy, verifier: Verifier) -> Vault {
        let id = public_bytes(entropy);
        let keys = Keys::derive(&Key::random(entropy), &id, Format::V2);
        // Neither fails: lengths are fixed. If one did, the vault would be locked or sign nothing.
        let signing = keys.as_ref().and_then(|keys| Signing::create(&id, &keys.signing, entropy).ok());
        Vault::assembled((id, keys, None), signing.unwrap_or_default(), verifier)
    }

    /// The bytes of the vault's file. Writing them so that a power cut leaves the old file or the new one
    /// is the caller's work. Values for one task are not in them.
    ///
    /// # Errors
    /// [`VaultError::Ephemeral`] for a vault that has no file, [`VaultError::Locked`] for a locked one.
    pub fn to_bytes(&self, entropy: &mut dyn Entropy) -> Result<Vec<u8>, VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let rest = (&self.signing, self.states.as_slice());
        file::write(header, keys, self.generation, &self.records, rest, entropy)
            .ok_or(VaultError::Full { limit: MOST_RECORDS })
    }

    /// The format version of the file that was opened: 2, or 1 for one that was migrated. A new vault has 2.
    pub fn format_found(&self) -> u16 {
        self.format_found
    }

    /// What an older file kept and this format never stores (card and one-time codes): handle and field. These
    /// values are not in this vault.
    pub fn left_out(&self) -> &[(String, Field)] {
        &self.left_out
    }

    /// How often the vault was changed since it was made. A file whose number is lower than one seen
    /// before was put back from a copy.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The vault's random id, which is no secret.
    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// Wipes the keys. From now on every door answers that the vault is locked.
    pub fn lock(&mut self) {
        self.keys = None;
    }

    /// Whether the keys are gone.
    pub fn is_locked(&self) -> bool {
        self.keys.is_none()
    }

    /// Unlocks a vault that was locked, records kept. One without a passphrase stays locked for good.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], or [`VaultError::Ephemeral`].
    pub fn reopen(&mut self, passphrase: &Secret) -> Result<(), VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        self.keys = Some(keys_of(&header.unwrap(passphrase)?, &self.id)?);
        Ok(())
    }

    /// What the system granted to the memory of the keys; `None` while the vault is locked and has none.
    /// Where it is less than [`Protection::FULL`] the vault works, and the user should be told.
    pub fn protection(&self) -> Option<Protection> {
        self.keys.as_ref().map(Keys::protection)
    }

    /// Unlocks a vault that was locked with a key that was kept.
    ///
    /// # Errors
    /// [`VaultError::KeyOfAnotherVault`], [`VaultError::KeyReplaced`], or [`VaultError::Ephemeral`].
    pub fn reopen_with_key(&mut self, key: &UnlockKey) -> Result<(), VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        header.takes(key)?;
        self.keys = Some(keys_of(&key.data, &self.id)?);
        Ok(())
    }

    /// An empty vault of these parts.
    fn assembled(
        (id, keys, header): ([u8; 16], Option<Keys>, Option<Header>),
        signing: Signing,
        verifier: Verifier,
    ) -> Vault {
        Vault {
            id,
            keys,
            header,
            format_found: Format::V2.number(),
            generation: 0,
            records: Vec::new(),
            for_task: Vec::new(),
            signing,
            states: Vec::new(),
            left_out: Vec::new(),
            preferred: None,
            verifier,
        }
    }
}

/// Everything that a file holds, authentic.
fn read(bytes: &[u8], header: &Header, data: &Key) -> Result<(Keys, Contents, Signing), VaultError> {
    let keys = keys_of(data, header.id())?;
    let contents = file::read(bytes, header, &keys)?;
    let signing = Signing::open(&contents.signing, header.id(), &keys.signing)?;
    Ok((keys, contents, signing))
}

/// The subkeys of a data key. The error cannot occur: 32 bytes are within HKDF's limit.
pub(crate) fn keys_of(data: &Key, id: &[u8; 16]) -> Result<Keys, VaultError> {
    Keys::derive(data, id, Format::V2).ok_or(VaultError::WrongPassphrase)
}
