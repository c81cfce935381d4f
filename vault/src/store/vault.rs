//! Making, unlocking, saving and locking a vault, and replacing its passphrase and data key.

use policy_dfa::Verifier;

use super::task::TaskValues;
use super::unlock_key::UnlockKey;
use crate::content::keys::Keys;
use crate::content::record::Record;
use crate::content::signing::Signing;
use crate::content::state::State;
use crate::crypto::cipher::{Entropy, Key, public_bytes};
use crate::crypto::kdf::KdfParams;
use crate::crypto::memory::Protection;
use crate::crypto::secret::Secret;
use crate::error::VaultError;
use crate::file::header::Header;
use crate::file::list::MOST_RECORDS;
use crate::file::manifest::{self, Contents};

/// A user's values, each encrypted under the vault's key, also in memory.
///
/// The vault belongs to one policy's decision point. It takes that decision point's [`Verifier`] when it is made,
/// and accepts no grant of another one.
pub struct Vault {
    pub(crate) id: [u8; 16],
    pub(crate) keys: Option<Keys>,
    /// How often it was locked.
    pub(crate) locks: u64,
    pub(crate) header: Option<Header>,
    pub(crate) generation: u64,
    pub(crate) records: Vec<Record>,
    /// What is kept for the task of the current slot.
    pub(crate) task: TaskValues,
    /// What is kept for the tasks of other slots.
    pub(crate) other_tasks: Vec<TaskValues>,
    pub(crate) signing: Signing,
    pub(crate) states: Vec<State>,
    pub(crate) verifier: Verifier,
}

impl Vault {
    /// Makes an empty vault with a random data key, wrapped under the passphrase.
    ///
    /// # Errors
    /// [`VaultError::OutOfMemory`] if `params` ask for more memory than there is.
    pub fn create(
        passphrase: &Secret,
        entropy: &mut dyn Entropy,
        params: KdfParams,
        verifier: Verifier,
    ) -> Result<Vault, VaultError> {
        let data = Key::random(entropy);
        let id = public_bytes(entropy);
        let header = Header::wrap(id, &data, passphrase, params, entropy)?;
        let keys = Keys::derive(&data, &id)?;
        let signing = Signing::create(&id, &keys.signing, entropy)?;
        Ok(Vault::assembled((id, Some(keys), Some(header)), signing, verifier))
    }

    /// Opens a vault file. Nothing is returned unless every byte of it is authentic.
    ///
    /// # Errors
    /// The file is no vault file, has another version or costs out of range, is cut or damaged (with the place),
    /// or the passphrase is wrong. A header that was changed on purpose, sum included, looks like a wrong
    /// passphrase.
    pub fn unlock(bytes: &[u8], passphrase: &Secret, verifier: Verifier) -> Result<Vault, VaultError> {
        let header = Header::parse(bytes)?;
        let data = header.unwrap(passphrase)?;
        Vault::open(bytes, header, &data, verifier)
    }

    /// Opens a vault file with a stored unlock key, without the passphrase. It is as strict as [`Vault::unlock`]
    /// and much faster.
    ///
    /// # Errors
    /// [`VaultError::KeyOfAnotherVault`], [`VaultError::KeyReplaced`] after a rotation, and those of
    /// [`Vault::unlock`].
    pub fn unlock_with_key(bytes: &[u8], key: &UnlockKey, verifier: Verifier) -> Result<Vault, VaultError> {
        let header = Header::parse(bytes)?;
        key.check(&header)?;
        Vault::open(bytes, header, &key.data, verifier)
    }

    /// Checks every byte of a file without opening it, such as a backup before it is restored.
    ///
    /// # Errors
    /// Those of [`Vault::unlock_with_key`].
    pub fn check_with_key(bytes: &[u8], key: &UnlockKey) -> Result<(), VaultError> {
        let header = Header::parse(bytes)?;
        key.check(&header)?;
        read(bytes, &header, &key.data).map(|_| ())
    }

    fn open(bytes: &[u8], header: Header, data: &Key, verifier: Verifier) -> Result<Vault, VaultError> {
        let (keys, Contents { generation, records, states, .. }, signing) = read(bytes, &header, data)?;
        let vault = Vault::assembled((*header.id(), Some(keys), Some(header)), signing, verifier);
        Ok(Vault { generation, records, states, ..vault })
    }

    /// Makes a vault without passphrase or file, under a random key, for the values of one session.
    pub fn ephemeral(entropy: &mut dyn Entropy, verifier: Verifier) -> Vault {
        let id = public_bytes(entropy);
        let keys = Keys::derive(&Key::random(entropy), &id).ok();
        // Neither can fail, since lengths are fixed. If one did, the vault would be locked or sign nothing.
        let signing = keys.as_ref().and_then(|keys| Signing::create(&id, &keys.signing, entropy).ok());
        Vault::assembled((id, keys, None), signing.unwrap_or_default(), verifier)
    }

    /// Writes the bytes of the vault's file, without the values for one task. The caller stores them so that a
    /// power cut leaves the old file or the new one.
    ///
    /// # Errors
    /// [`VaultError::Ephemeral`] for a vault that has no file, [`VaultError::Locked`] for a locked one.
    pub fn to_bytes(&self, entropy: &mut dyn Entropy) -> Result<Vec<u8>, VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let rest = (&self.signing, self.states.as_slice());
        manifest::write(header, keys, self.generation, &self.records, rest, entropy)
            .ok_or(VaultError::Full { limit: MOST_RECORDS })
    }

    /// The number of changes since the vault was made. A file with a lower number than one seen before is an
    /// older copy.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The vault's random id, which is no secret.
    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// Wipes the keys. From now on every method that needs a key fails.
    pub fn lock(&mut self) {
        self.keys = None;
        self.locks = self.locks.saturating_add(1);
    }

    /// How often the vault was locked. A key that was found before the last time is out of date.
    pub fn times_locked(&self) -> u64 {
        self.locks
    }

    /// Tells if the keys are wiped.
    pub fn is_locked(&self) -> bool {
        self.keys.is_none()
    }

    /// Unlocks a locked vault, which still has its records. One without a passphrase stays locked for good.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], or [`VaultError::Ephemeral`].
    pub fn reopen(&mut self, passphrase: &Secret) -> Result<(), VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        self.keys = Some(Keys::derive(&header.unwrap(passphrase)?, &self.id)?);
        Ok(())
    }

    /// The protection that the system granted to the memory of the keys; `None` while the vault is locked. With
    /// less than [`Protection::FULL`] the vault works, but the user should be warned.
    pub fn protection(&self) -> Option<Protection> {
        self.keys.as_ref().map(Keys::protection)
    }

    /// Unlocks a locked vault with a stored unlock key.
    ///
    /// # Errors
    /// [`VaultError::KeyOfAnotherVault`], [`VaultError::KeyReplaced`], or [`VaultError::Ephemeral`].
    pub fn reopen_with_key(&mut self, key: &UnlockKey) -> Result<(), VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        key.check(header)?;
        self.keys = Some(Keys::derive(&key.data, &self.id)?);
        Ok(())
    }

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
        let mut reseal = |records: &[Record]| {
            let resealed = records.iter().map(|record| {
                let value = record.unseal(&self.id, &old.records);
                let value = value.map_err(|_| VaultError::ValueDamaged(record.field))?;
                record.resealed(&value, &self.id, &new.records, entropy)
            });
            resealed.collect::<Result<Vec<_>, VaultError>>()
        };
        let records = reseal(&self.records)?;
        let of_task = reseal(&self.task.records)?;
        let tokens = reseal(&self.task.tokens)?;
        let of_others =
            self.other_tasks.iter().map(|task| Ok((reseal(&task.records)?, reseal(&task.tokens)?)));
        let of_others = of_others.collect::<Result<Vec<_>, VaultError>>()?;
        let states = self.states.iter().map(|state| {
            let text = state.unseal(&self.id, &old.states)?;
            State::seal(state.name, &self.id, &new.states, text.expose(), entropy)
        });
        let states = states.collect::<Result<Vec<_>, VaultError>>()?;
        let signing = self.signing.resealed(&self.id, &old.signing, &new.signing, entropy)?;
        (self.header, self.keys) = (Some(header), Some(new));
        (self.records, self.task.records, self.states, self.signing) = (records, of_task, states, signing);
        self.task.tokens = tokens;
        for (task, (records, tokens)) in self.other_tasks.iter_mut().zip(of_others) {
            (task.records, task.tokens) = (records, tokens);
        }
        self.generation += 1;
        Ok(())
    }

    /// Makes a vault of these parts, without values.
    fn assembled(
        (id, keys, header): ([u8; 16], Option<Keys>, Option<Header>),
        signing: Signing,
        verifier: Verifier,
    ) -> Vault {
        Vault {
            id,
            keys,
            locks: 0,
            header,
            generation: 0,
            records: Vec::new(),
            task: TaskValues::default(),
            other_tasks: Vec::new(),
            signing,
            states: Vec::new(),
            verifier,
        }
    }
}

/// Reads and authenticates everything in a file.
fn read(bytes: &[u8], header: &Header, data: &Key) -> Result<(Keys, Contents, Signing), VaultError> {
    let keys = Keys::derive(data, header.id())?;
    let contents = manifest::read(bytes, header, &keys)?;
    let signing = Signing::open(&contents.signing, header.id(), &keys.signing)?;
    Ok((keys, contents, signing))
}
