//! Making, unlocking, changing and locking a vault.

use policy_dfa::Verifier;
use sirl::{Field, FieldSet};

use crate::cipher::{Key, Keys};
use crate::entropy::{Entropy, public_bytes};
use crate::file::{self, Contents, Header, MOST_RECORDS};
use crate::record::{Plain, Record};
use crate::release::ReleaseError;
use crate::{KdfParams, Protection, Secret, VaultError, handle};

/// A person's values, each encrypted under the vault's key, also in memory.
///
/// The vault belongs to one policy's decision point: it takes that one's [`Verifier`] when it is made, and
/// its doors honour no other's grants.
pub struct Vault {
    id: [u8; 16],
    keys: Option<Keys>,
    header: Option<Header>,
    generation: u64,
    records: Vec<Record>,
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
        let (header, data) = Header::create(passphrase, params, entropy)?;
        let id = *header.id();
        Ok(Vault {
            id,
            keys: Keys::derive(&data, &id),
            header: Some(header),
            generation: 0,
            records: Vec::new(),
            verifier,
        })
    }

    /// Opens a vault file. Nothing is returned unless every byte of it is authentic.
    ///
    /// # Errors
    /// Which of these it is: no vault file, another version, costs out of range, a wrong passphrase, or
    /// damage and where. A header that someone changed on purpose, sum included, reads as a wrong
    /// passphrase.
    pub fn unlock(bytes: &[u8], passphrase: &Secret, verifier: Verifier) -> Result<Vault, VaultError> {
        let header = Header::parse(bytes)?;
        let id = *header.id();
        let keys = Keys::derive(&header.unwrap(passphrase)?, &id).ok_or(VaultError::WrongPassphrase)?;
        let Contents { generation, records } = file::read(bytes, &keys)?;
        Ok(Vault { id, keys: Some(keys), header: Some(header), generation, records, verifier })
    }

    /// A vault without passphrase or file, under a random key, for values that live one session.
    pub fn ephemeral(entropy: &mut dyn Entropy, verifier: Verifier) -> Vault {
        let id = public_bytes(entropy);
        let keys = Keys::derive(&Key::random(entropy), &id);
        Vault { id, keys, header: None, generation: 0, records: Vec::new(), verifier }
    }

    /// The bytes of the vault's file. Writing them so that a power cut leaves the old file or the new one
    /// is the caller's work.
    ///
    /// # Errors
    /// [`VaultError::Ephemeral`] for a vault that has no file, [`VaultError::Locked`] for a locked one.
    pub fn to_bytes(&self, entropy: &mut dyn Entropy) -> Result<Vec<u8>, VaultError> {
        let header = self.header.as_ref().ok_or(VaultError::Ephemeral)?;
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        file::write(header, keys, self.generation, &self.records, entropy)
            .ok_or(VaultError::Full { limit: MOST_RECORDS })
    }

    /// Keeps `value` as `field` of the record `handle`, in place of the one that was there.
    ///
    /// A handle is a kind (`card`, `address`, `contact`, `identity`, `login`, `otp`), a colon and a name.
    /// The model sees handles, so a name has at most three digits.
    ///
    /// # Errors
    /// A handle of another form; a value that is empty, not UTF-8, or longer than 4094 bytes; a full or
    /// locked vault.
    pub fn insert(
        &mut self,
        handle: &str,
        field: Field,
        value: Secret,
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        if !handle::is_valid(handle) {
            return Err(VaultError::BadHandle);
        }
        let full = self.records.len() >= MOST_RECORDS;
        let old = self.records.iter_mut().find(|r| r.handle == handle && r.field == field);
        if old.is_none() && full {
            return Err(VaultError::Full { limit: MOST_RECORDS });
        }
        let version = old.as_ref().map_or(1, |r| r.version.saturating_add(1));
        let new = Record::seal(&self.id, &keys.records, (handle, field), version, &value, entropy)?;
        match old {
            Some(slot) => *slot = new,
            None => self.records.push(new),
        }
        self.generation += 1;
        Ok(())
    }

    /// Removes every value of the record `handle`, and says how many there were.
    ///
    /// # Errors
    /// [`VaultError::Locked`].
    pub fn remove(&mut self, handle: &str) -> Result<usize, VaultError> {
        self.keys.as_ref().ok_or(VaultError::Locked)?;
        let before = self.records.len();
        self.records.retain(|record| record.handle != handle);
        let removed = before - self.records.len();
        self.generation += u64::from(removed > 0);
        Ok(removed)
    }

    /// Which values the vault holds: handle and field, in the order they were put in; never the values.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Field)> + Clone {
        self.records.iter().map(|record| (record.handle.as_str(), record.field))
    }

    /// Whether the vault holds every one of `fields`: in the record `handle`, or in any.
    pub fn has(&self, fields: FieldSet, handle: Option<&str>) -> bool {
        let held: FieldSet = self
            .entries()
            .filter(|(h, _)| handle.is_none_or(|wanted| *h == wanted))
            .map(|(_, field)| field)
            .collect();
        fields.is_subset_of(held)
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
        self.keys = Keys::derive(&header.unwrap(passphrase)?, &self.id);
        Ok(())
    }

    /// What the system granted to the memory of the keys; `None` while the vault is locked and has none.
    /// Where it is less than [`Protection::FULL`] the vault works, and the user should be told.
    pub fn protection(&self) -> Option<Protection> {
        self.keys.as_ref().map(Keys::protection)
    }

    /// Decrypts one value, for the doors.
    pub(crate) fn decrypt(&self, handle: &str, field: Field) -> Result<Plain, ReleaseError> {
        let mut plain = self.no_value()?;
        self.decrypt_into(handle, field, &mut plain)?;
        Ok(plain)
    }

    /// A place to decrypt values, for what looks at many.
    pub(crate) fn no_value(&self) -> Result<Plain, ReleaseError> {
        self.keys.as_ref().map(|keys| Plain::empty(&keys.pool)).ok_or(ReleaseError::Locked)
    }

    /// Decrypts one value in the place of another.
    pub(crate) fn decrypt_into(
        &self,
        handle: &str,
        field: Field,
        plain: &mut Plain,
    ) -> Result<(), ReleaseError> {
        let keys = self.keys.as_ref().ok_or(ReleaseError::Locked)?;
        let record = self.records.iter().find(|r| r.handle == handle && r.field == field);
        let record = record.ok_or(ReleaseError::NoValue(field))?;
        record.unseal_into(&self.id, &keys.records, plain).map_err(|_| ReleaseError::Damaged(field))
    }
}
