//! A copy of the stored values that other programs can read: one JSON document in an age file, under a
//! passphrase of its own (`age -d` opens it). Not a backup: states and the signing key are not in it.
//!
//! With the feature `export` alone. `age` measures the machine's speed by the system's clock, though the cost is
//! then set here, and draws its random bytes itself; nothing else of this crate does either.

mod envelope;
mod json;
#[cfg(test)]
mod tests;

use crate::binding::Binding;
use crate::entropy::Entropy;
use crate::file::MOST_RECORDS;
use crate::record::Record;
use crate::values::{is_never_stored, put};
use crate::{Secret, Vault, VaultError};

/// What guessing the passphrase of an export costs: scrypt with 2 to the power of this, block size 8, one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportCost {
    log_n: u8,
}

impl ExportCost {
    /// The least accepted: 2^14, 16 MiB.
    pub const FLOOR: ExportCost = ExportCost { log_n: 14 };
    /// What `age` itself takes on a common machine: 2^18, 256 MiB, about a second.
    pub const DEFAULT: ExportCost = ExportCost { log_n: 18 };
    /// The most accepted, also when reading: 2^20, 1 GiB.
    pub const CEILING: ExportCost = ExportCost { log_n: 20 };

    /// A cost between [`ExportCost::FLOOR`] and [`ExportCost::CEILING`].
    ///
    /// # Errors
    /// [`VaultError::KdfOutOfRange`].
    pub fn new(log_n: u8) -> Result<ExportCost, VaultError> {
        let (lowest, highest) = (ExportCost::FLOOR.log_n, ExportCost::CEILING.log_n);
        if (lowest..=highest).contains(&log_n) {
            return Ok(ExportCost { log_n });
        }
        let [found, lowest, highest] = [log_n, lowest, highest].map(u32::from);
        Err(VaultError::KdfOutOfRange { cost: "cost of an export", found, lowest, highest })
    }
}

/// What an import changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Values that the vault did not have.
    pub added: usize,
    /// Values put in place of others.
    pub replaced: usize,
}

/// Why an export could not be taken in. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No age file, or one that no passphrase opens.
    #[error("this is not an export: it is not an age file with a passphrase")]
    NotAnExport,
    /// The passphrase is wrong.
    #[error("the passphrase does not open this export")]
    WrongPassphrase,
    /// Opening it would take too long.
    #[error("opening this export costs more than is accepted; make it anew with a lower cost")]
    TooCostly,
    /// The file was changed or cut.
    #[error("the export is damaged; make it anew")]
    Damaged,
    /// The document inside is not of the form in `spec/vault.md`.
    #[error("the document in the export is not one of values, in line {line}, column {column}")]
    NotADocument {
        /// The line, counted from 1; 0 where the document as a whole is another one.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// One value cannot be taken in.
    #[error("value {place} of the export cannot be taken in: {error}")]
    Value {
        /// Its place in the document, counted from 1.
        place: usize,
        /// Why.
        error: VaultError,
    },
    /// A field or a binding that there is not.
    #[error("value {place} of the export has {what} that this program does not know")]
    Unknown {
        /// Its place in the document, counted from 1.
        place: usize,
        /// `a field`, `a binding` or `a text`.
        what: &'static str,
    },
    /// A handle and field that came before.
    #[error("value {place} of the export has the handle and field of one before it")]
    Twice {
        /// Its place in the document, counted from 1.
        place: usize,
    },
    /// The vault is locked or full.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl Vault {
    /// The stored values with handles, fields and bindings, as a JSON document in an age file that
    /// `export_passphrase` opens. The vault's own passphrase is asked for again.
    ///
    /// The document is padded to a multiple of 64 KiB. Nothing of it is left in memory that is not wiped or
    /// written over.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], [`VaultError::Ephemeral`], [`VaultError::Locked`],
    /// [`VaultError::ExportPassphraseNotText`], [`VaultError::ValueDamaged`], [`VaultError::OutOfMemory`].
    pub fn export(
        &self,
        passphrase: &Secret,
        export_passphrase: &Secret,
        cost: ExportCost,
    ) -> Result<Vec<u8>, VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        self.header.as_ref().ok_or(VaultError::Ephemeral)?.unwrap(passphrase)?;
        let mut document = json::Writer::new(self.records.iter().map(|record| record.sealed.len()));
        for record in &self.records {
            let value = record.unseal(&self.id, &keys.records);
            let value = value.map_err(|_| VaultError::ValueDamaged(record.field))?;
            document.push(record, value.expose());
        }
        envelope::seal(document.finish(), export_passphrase, cost.log_n)
    }

    /// Takes in the values of an export: those of a handle and field that the vault has replace what it had.
    /// All of them, or none.
    ///
    /// # Errors
    /// [`ImportError`] names what is wrong, and where; nothing is changed then.
    pub fn import(
        &mut self,
        bytes: &[u8],
        export_passphrase: &Secret,
        entropy: &mut dyn Entropy,
    ) -> Result<Imported, ImportError> {
        if self.is_locked() {
            return Err(VaultError::Locked.into());
        }
        let document = envelope::open(bytes, export_passphrase, ExportCost::CEILING.log_n)?;
        let items = json::read(&document)?;
        let mut new: Vec<Record> = Vec::with_capacity(items.len().min(MOST_RECORDS));
        let mut imported = Imported::default();
        for (place, item) in items.iter().enumerate() {
            let place = place + 1;
            let record = self.taken_in(item, place, entropy)?;
            let same = |other: &Record| other.handle == record.handle && other.field == record.field;
            if new.iter().any(same) {
                return Err(ImportError::Twice { place });
            }
            let replaces = self.records.iter().any(same);
            imported.replaced += usize::from(replaces);
            imported.added += usize::from(!replaces);
            if self.records.len() + imported.added > MOST_RECORDS {
                return Err(VaultError::Full { limit: MOST_RECORDS }.into());
            }
            new.push(record);
        }
        self.generation += new.len() as u64;
        for record in new {
            put(&mut self.records, record);
        }
        Ok(imported)
    }

    /// One value of a document, sealed.
    fn taken_in(
        &self,
        item: &json::Item<'_>,
        place: usize,
        entropy: &mut dyn Entropy,
    ) -> Result<Record, ImportError> {
        let unknown = |what| ImportError::Unknown { place, what };
        let failed = |error| ImportError::Value { place, error };
        let field = sirl::Field::from_name(&item.field).ok_or_else(|| unknown("a field"))?;
        let binding = Binding::parse(&item.binding).map_err(|_| unknown("a binding"))?;
        let value = item.value().ok_or_else(|| unknown("a text"))?;
        if is_never_stored(field) {
            return Err(failed(VaultError::NeverStored(field)));
        }
        // A login of a migrated vault has no place: it comes back as it was, and goes nowhere.
        match binding.check(&item.handle, field) {
            Ok(()) | Err(VaultError::NeedsBinding(_)) => {}
            Err(error) => return Err(failed(error)),
        }
        self.sealed(&self.records, (&item.handle, field, &binding), &value, entropy).map_err(failed)
    }
}
