//! Adding and removing values, states of the guard, and signatures. Nothing here gives a value out.

use sirl::{Field, FieldSet};
use zeroize::Zeroizing;

use super::vault::Vault;
use crate::codes::CodeSeed;
use crate::content::binding::Binding;
use crate::content::handle;
use crate::content::record::Record;
use crate::content::state::State;
use crate::crypto::cipher::Entropy;
use crate::crypto::secret::Secret;
use crate::error::VaultError;
use crate::file::list::MOST_RECORDS;
use crate::state_name::StateName;

/// The description of one value, without the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The handle of the record.
    pub handle: &'a str,
    /// The field.
    pub field: Field,
    /// The origins that the value may go to.
    pub binding: &'a Binding,
    /// Starts at 1 and grows by 1 with every change.
    pub version: u32,
    /// True if the value is kept for this task only and never written.
    pub for_task: bool,
}

/// The value that is stored: a seed of one-time codes in the place of a code. A value that can be used only once is never stored.
pub(crate) fn storable(field: Field, value: Secret) -> Result<Secret, VaultError> {
    match field {
        Field::CardCode => Err(VaultError::NeverStored(field)),
        Field::OneTimeCode => {
            let text = std::str::from_utf8(value.expose()).map_err(|_| VaultError::ValueNotText(field))?;
            Ok(CodeSeed::parse(text)?.to_text())
        }
        _ => Ok(value),
    }
}

impl Vault {
    /// Stores `value` as `field` of the record `handle`, in place of an older one. A `one_time_code` is stored as the seed that a
    /// site shows (see [`codes`](crate::codes)).
    ///
    /// A handle is a kind (`card`, `address`, `contact`, `identity`, `login`, `otp`), a colon and a name.
    /// The model sees handles, so a name has at most three digits. Records of kind `login` and `otp`, and
    /// passwords, are bound to an origin or a site; a T2 field is never bound to a whole site.
    ///
    /// # Errors
    /// The handle has another form; the field is a card code, which is never stored, or a one-time code and no seed; the field
    /// cannot have this binding; the value is empty, not UTF-8, or longer than 4094 bytes; the vault is full or
    /// locked.
    ///
    /// ```no_run
    /// # fn f(vault: &mut vault::Vault, entropy: &mut dyn vault::Entropy) -> Result<(), Box<dyn std::error::Error>> {
    /// use vault::{Binding, Secret};
    ///
    /// let shop = Binding::parse("https://shop.example")?;
    /// vault.insert("login:shop", sirl::Field::Password, Secret::new("opal kettle"), &shop, entropy)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert(
        &mut self,
        handle: &str,
        field: Field,
        value: Secret,
        binding: &Binding,
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        self.keys.as_ref().ok_or(VaultError::Locked)?;
        binding.check(handle, field)?;
        let value = storable(field, value)?;
        let new = self.sealed(&self.records, (handle, field, binding), &value, entropy)?;
        put(&mut self.records, new);
        self.generation += 1;
        Ok(())
    }

    /// Keeps `value` in memory for one task: any field, under the rules of [`Vault::insert`] for handle, binding
    /// and value. It is never in [`Vault::to_bytes`], does not count as a change of the vault, and is preferred to
    /// a stored value of the same handle and field.
    ///
    /// # Errors
    /// Those of [`Vault::insert`], except that every field is accepted.
    pub fn insert_for_task(
        &mut self,
        handle: &str,
        field: Field,
        value: Secret,
        binding: &Binding,
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        self.keys.as_ref().ok_or(VaultError::Locked)?;
        binding.check(handle, field)?;
        let new = self.sealed(&self.task.records, (handle, field, binding), &value, entropy)?;
        put(&mut self.task.records, new);
        Ok(())
    }

    /// Drops one value that was kept for the task; also in a locked vault.
    pub fn forget_task_value(&mut self, handle: &str, field: Field) {
        self.task.records.retain(|record| (record.handle.as_str(), record.field) != (handle, field));
    }

    /// Drops every value that was kept for one task, and the user's choices for it; also in a locked vault. The records of
    /// made passwords stay, and belong to no task any more.
    pub fn forget_task_values(&mut self) {
        self.task.records.clear();
        self.task.tokens.clear();
        self.task.fetched.clear();
        self.task.made.clear();
        self.task.chosen.clear();
    }

    /// Removes every stored value of the record `handle`, and returns their number.
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

    /// Binds a stored value to another place.
    ///
    /// # Errors
    /// [`VaultError::NoSuchValue`], [`VaultError::ValueDamaged`], [`VaultError::Locked`], or that the field cannot
    /// have this binding.
    pub fn rebind(
        &mut self,
        handle: &str,
        field: Field,
        binding: &Binding,
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let record = self.records.iter_mut().find(|r| r.handle == handle && r.field == field);
        let record = record.ok_or(VaultError::NoSuchValue(field))?;
        binding.check(handle, field)?;
        let value = record.unseal(&self.id, &keys.records).map_err(|_| VaultError::ValueDamaged(field))?;
        let (place, version) = ((handle, field, binding), record.version.saturating_add(1));
        *record = Record::seal(&self.id, &keys.records, place, version, value.expose(), entropy)?;
        self.generation += 1;
        Ok(())
    }

    /// Describes the stored values, in the order in which they were first added, and then those for one task.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        let stored = self.records.iter().map(|record| entry_of(record, false));
        stored.chain(self.task.records.iter().map(|record| entry_of(record, true)))
    }

    /// Tells if the vault holds every one of `fields`: in the record `handle`, or in any.
    pub fn has(&self, fields: FieldSet, handle: Option<&str>) -> bool {
        let held: FieldSet = self
            .entries()
            .filter(|entry| handle.is_none_or(|wanted| entry.handle == wanted))
            .map(|entry| entry.field)
            .collect();
        fields.is_subset_of(held)
    }

    /// Encrypts a value as the next version of the one among `others` with its handle and field.
    pub(crate) fn sealed(
        &self,
        others: &[Record],
        (handle, field, binding): (&str, Field, &Binding),
        value: &Secret,
        entropy: &mut dyn Entropy,
    ) -> Result<Record, VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        if !handle::is_valid(handle) {
            return Err(VaultError::BadHandle);
        }
        if field == Field::NewPassword {
            return Err(VaultError::MadeByTheGuard);
        }
        let old = others.iter().find(|r| r.handle == handle && r.field == field);
        if old.is_none() && others.len() >= MOST_RECORDS {
            return Err(VaultError::Full { limit: MOST_RECORDS });
        }
        let version = old.map_or(1, |old| old.version.saturating_add(1));
        Record::seal(&self.id, &keys.records, (handle, field, binding), version, value.expose(), entropy)
    }

    /// Reads the state `name`, if it was ever set.
    ///
    /// # Errors
    /// [`VaultError::Locked`], and [`VaultError::StateDamaged`] if memory was changed.
    ///
    /// ```no_run
    /// # fn f(vault: &mut vault::Vault, entropy: &mut dyn vault::Entropy) -> Result<(), vault::VaultError> {
    /// use vault::StateName;
    ///
    /// vault.set_state(StateName::Phrase, b"seven green kettles", entropy)?;
    /// assert_eq!(vault.state(StateName::Phrase)?.as_deref(), Some(&b"seven green kettles".to_vec()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn state(&self, name: StateName) -> Result<Option<Zeroizing<Vec<u8>>>, VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let Some(state) = self.states.iter().find(|state| state.name == name) else {
            return Ok(None);
        };
        let plain = state.unseal(&self.id, &keys.states)?;
        Ok(Some(Zeroizing::new(plain.expose().to_vec())))
    }

    /// Replaces the state `name` by `text`: any bytes, at most 64 KiB, also none. Counts as a change of the vault.
    ///
    /// # Errors
    /// [`VaultError::StateTooLong`], [`VaultError::Locked`].
    pub fn set_state(
        &mut self,
        name: StateName,
        text: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let new = State::seal(name, &self.id, &keys.states, text, entropy)?;
        match self.states.iter_mut().find(|state| state.name == name) {
            Some(slot) => *slot = new,
            None => self.states.push(new),
        }
        self.generation += 1;
        Ok(())
    }

    /// The public half of the vault's signing key, which is no secret.
    pub fn public_key(&self) -> [u8; 32] {
        self.signing.public
    }

    /// Signs `message` with Ed25519, so that [`Vault::public_key`] verifies it. The same message gives the same
    /// signature.
    ///
    /// # Errors
    /// [`VaultError::Locked`], and [`VaultError::SigningDamaged`] if memory was changed.
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        self.signing.sign(message, &self.id, &keys.signing)
    }
}

/// Puts a record in place of the one with its handle and field, or at the end.
pub(crate) fn put(records: &mut Vec<Record>, new: Record) {
    match records.iter_mut().find(|r| r.handle == new.handle && r.field == new.field) {
        Some(slot) => *slot = new,
        None => records.push(new),
    }
}

fn entry_of(record: &Record, for_task: bool) -> Entry<'_> {
    let Record { handle, field, binding, version, .. } = record;
    Entry { handle, field: *field, binding, version: *version, for_task }
}
