//! Writing an export, and importing one.

use super::document;
use super::error::ImportError;
use crate::content::binding::Binding;
use crate::content::record::Record;
use crate::crypto::cipher::Entropy;
use crate::crypto::secret::Secret;
use crate::error::VaultError;
use crate::file::list::MOST_RECORDS;
use crate::store::values::{put, storable};
use crate::store::vault::Vault;

/// The cost of guessing the passphrase of an export: scrypt with N = 2 to the power of `log_n`, block size 8, one
/// lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportCost {
    log_n: u8,
}

impl ExportCost {
    /// The lowest accepted cost: 2^14, 16 MiB.
    pub const FLOOR: ExportCost = ExportCost { log_n: 14 };
    /// The cost that `age` itself chooses on a common machine: 2^18, 256 MiB, about a second.
    pub const DEFAULT: ExportCost = ExportCost { log_n: 18 };
    /// The highest accepted cost, also when reading: 2^20, 1 GiB.
    pub const CEILING: ExportCost = ExportCost { log_n: 20 };

    /// Accepts a cost between [`ExportCost::FLOOR`] and [`ExportCost::CEILING`].
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

/// The changes that an import made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// The number of values that the vault did not have.
    pub added: usize,
    /// The number of values that replaced others.
    pub replaced: usize,
}

impl Vault {
    /// Writes the stored values with handles, fields and bindings as a JSON document in an age file that
    /// `export_passphrase` opens. The vault's own passphrase is required again.
    ///
    /// The document is padded to a multiple of 64 KiB. Every copy of it in memory is wiped or overwritten.
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
        let mut document = document::Writer::new(self.records.iter().map(|record| record.sealed.len()));
        for record in &self.records {
            let value = record.unseal(&self.id, &keys.records);
            let value = value.map_err(|_| VaultError::ValueDamaged(record.field))?;
            document.push(record, value.expose());
        }
        document::seal(document.finish(), export_passphrase, cost.log_n)
    }

    /// Imports all values of an export, or none. A value replaces a stored one of the same handle and field.
    ///
    /// # Errors
    /// [`ImportError`] names the fault and its place. After an error nothing is changed.
    pub fn import(
        &mut self,
        bytes: &[u8],
        export_passphrase: &Secret,
        entropy: &mut dyn Entropy,
    ) -> Result<Imported, ImportError> {
        if self.is_locked() {
            return Err(VaultError::Locked.into());
        }
        let document = document::open(bytes, export_passphrase, ExportCost::CEILING.log_n)?;
        let items = document::read(&document)?;
        let mut new: Vec<Record> = Vec::with_capacity(items.len().min(MOST_RECORDS));
        let mut imported = Imported::default();
        for (place, item) in items.iter().enumerate() {
            let place = place + 1;
            let record = self.sealed_item(item, place, entropy)?;
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

    /// Encrypts one value of a document.
    fn sealed_item(
        &self,
        item: &document::Item<'_>,
        place: usize,
        entropy: &mut dyn Entropy,
    ) -> Result<Record, ImportError> {
        let unknown = |what| ImportError::Unknown { place, what };
        let failed = |error| ImportError::Value { place, error };
        let field = sirl::Field::from_name(&item.field).ok_or_else(|| unknown("a field"))?;
        let binding = Binding::parse(&item.binding).map_err(|_| unknown("a binding"))?;
        let value = item.value().ok_or_else(|| unknown("a text"))?;
        binding.check(&item.handle, field).map_err(failed)?;
        let value = storable(field, value).map_err(failed)?;
        self.sealed(&self.records, (&item.handle, field, &binding), &value, entropy).map_err(failed)
    }
}
