//! Putting values in and taking them out again: never reading them.

use sirl::{Field, FieldSet};

use crate::binding::{Binding, needs_place};
use crate::entropy::Entropy;
use crate::file::MOST_RECORDS;
use crate::padded::Plain;
use crate::record::Record;
use crate::release::ReleaseError;
use crate::{Secret, Vault, VaultError, handle};

/// What a vault says about one value: everything but the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The record.
    pub handle: &'a str,
    /// The field.
    pub field: Field,
    /// Where it may go.
    pub binding: &'a Binding,
    /// 1, and one more at every change of the value.
    pub version: u32,
    /// Whether it lives for this task alone and is never written.
    pub for_task: bool,
}

impl Entry<'_> {
    /// Whether the value goes nowhere until it is given a place: a login of an older file, which did not say
    /// what it was for. [`Vault::rebind`] gives it one.
    pub fn needs_binding(&self) -> bool {
        *self.binding == Binding::Anywhere && needs_place(self.handle, self.field)
    }
}

/// Whether a value is of use once and so never in a file.
pub(crate) fn is_never_stored(field: Field) -> bool {
    matches!(field, Field::CardCode | Field::OneTimeCode)
}

impl Vault {
    /// Keeps `value` as `field` of the record `handle`, in place of the one that was there.
    ///
    /// A handle is a kind (`card`, `address`, `contact`, `identity`, `login`, `otp`), a colon and a name.
    /// The model sees handles, so a name has at most three digits. Records of kind `login` and `otp`, and
    /// passwords, are bound to the origin they are for; a T2 field is never bound to a whole site.
    ///
    /// # Errors
    /// A handle of another form; a card code or one-time code, which are never stored; a binding that the
    /// field cannot have; a value that is empty, not UTF-8, or longer than 4094 bytes; a full or locked vault.
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
        if is_never_stored(field) {
            return Err(VaultError::NeverStored(field));
        }
        binding.check(handle, field)?;
        let new = self.sealed(&self.records, (handle, field, binding), &value, entropy)?;
        put(&mut self.records, new);
        self.generation += 1;
        Ok(())
    }

    /// Keeps `value` in memory for one task: any field, under the rules of [`Vault::insert`] for handle, binding
    /// and value. It is never in [`Vault::to_bytes`], counts as no change of the vault, and goes before a
    /// stored value of the same handle and field.
    ///
    /// # Errors
    /// As for [`Vault::insert`], but that every field is accepted.
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
        let new = self.sealed(&self.for_task, (handle, field, binding), &value, entropy)?;
        put(&mut self.for_task, new);
        Ok(())
    }

    /// Drops one value that was kept for the task; also in a locked vault.
    pub fn forget_task_value(&mut self, handle: &str, field: Field) {
        self.for_task.retain(|record| (record.handle.as_str(), record.field) != (handle, field));
    }

    /// Drops every value that was kept for one task; also in a locked vault.
    pub fn forget_task_values(&mut self) {
        self.for_task.clear();
    }

    /// Removes every stored value of the record `handle`, and says how many there were.
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

    /// Binds a stored value to another place, value kept.
    ///
    /// # Errors
    /// [`VaultError::NoSuchValue`], a binding that the field cannot have, [`VaultError::ValueDamaged`], a locked
    /// vault.
    pub fn rebind(
        &mut self,
        handle: &str,
        field: Field,
        binding: &Binding,
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let place = self.records.iter_mut().find(|r| r.handle == handle && r.field == field);
        let record = place.ok_or(VaultError::NoSuchValue(field))?;
        binding.check(handle, field)?;
        let value = record.unseal(&self.id, &keys.records).map_err(|_| VaultError::ValueDamaged(field))?;
        let (place, version) = ((handle, field, binding), record.version.saturating_add(1));
        *record = Record::seal(&self.id, &keys.records, place, version, value.expose(), entropy)?;
        self.generation += 1;
        Ok(())
    }

    /// What the vault holds, in the order it was first put in, and then what it holds for one task; never the
    /// values.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        let stored = self.records.iter().map(|record| entry_of(record, false));
        stored.chain(self.for_task.iter().map(|record| entry_of(record, true)))
    }

    /// Whether the vault holds every one of `fields`: in the record `handle`, or in any.
    pub fn has(&self, fields: FieldSet, handle: Option<&str>) -> bool {
        let held: FieldSet = self
            .entries()
            .filter(|entry| handle.is_none_or(|wanted| entry.handle == wanted))
            .map(|entry| entry.field)
            .collect();
        fields.is_subset_of(held)
    }

    /// Decrypts one value, for the doors.
    pub(crate) fn decrypt(&self, record: &Record) -> Result<Plain, ReleaseError> {
        let mut plain = self.no_value()?;
        self.decrypt_into(record, &mut plain)?;
        Ok(plain)
    }

    /// A place to decrypt values, for what looks at many.
    pub(crate) fn no_value(&self) -> Result<Plain, ReleaseError> {
        self.keys.as_ref().map(|keys| Plain::empty(&keys.pool)).ok_or(ReleaseError::Locked)
    }

    /// Decrypts one value in the place of another.
    pub(crate) fn decrypt_into(&self, record: &Record, plain: &mut Plain) -> Result<(), ReleaseError> {
        let keys = self.keys.as_ref().ok_or(ReleaseError::Locked)?;
        record.unseal_into(&self.id, &keys.records, plain).map_err(|_| ReleaseError::Damaged(record.field))
    }

    /// A value sealed for its place among `others`.
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
        let old = others.iter().find(|r| r.handle == handle && r.field == field);
        if old.is_none() && others.len() >= MOST_RECORDS {
            return Err(VaultError::Full { limit: MOST_RECORDS });
        }
        let version = old.map_or(1, |old| old.version.saturating_add(1));
        Record::seal(&self.id, &keys.records, (handle, field, binding), version, value.expose(), entropy)
    }
}

/// Puts a record in place of the one of its handle and field, or at the end.
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
