//! From format 1 to the format that is written.
//!
//! Opening takes no entropy, so what a migrated vault needs anew (nonces, record ids, the signing key) is
//! derived from the old data key and the hash of the whole old file. The same file gives the same vault as
//! often as it is opened; another file shares no nonce with it.

use sirl::Field;

use super::manifest::{Contents, read};
use super::{Header, MOST_RECORDS};
use crate::binding::Binding;
use crate::cipher::{Format, Key, Keys, Unauthentic, hash};
use crate::entropy::Entropy;
use crate::record::Record;
use crate::signing::Signing;
use crate::{Secret, Section, VaultError, values};

/// An old file in the new format.
pub(crate) struct Migrated {
    pub(crate) header: Header,
    pub(crate) keys: Keys,
    pub(crate) generation: u64,
    pub(crate) records: Vec<Record>,
    pub(crate) signing: Signing,
    /// Values that the old format kept and this one does not.
    pub(crate) left_out: Vec<(String, Field)>,
}

/// Bytes that only who has the old data key can know, the same for the same file.
struct Derived {
    key: Key,
    counter: u64,
}

impl Entropy for Derived {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.counter += 1;
            if let Some(block) = self.key.subkey(&self.counter.to_le_bytes(), b"block") {
                for (slot, byte) in chunk.iter_mut().zip(block.expose_to_wrap()) {
                    *slot = *byte;
                }
            }
        }
    }
}

/// Opens a file of format 1 and seals everything in it anew.
pub(crate) fn migrate(file: &[u8], old: &Header, passphrase: &Secret) -> Result<Migrated, VaultError> {
    let passphrase_key = old.passphrase_key(passphrase)?;
    let data = old.unwrap_with(&passphrase_key)?;
    let id = *old.id();
    let derive = |format| Keys::derive(&data, &id, format).ok_or(VaultError::WrongPassphrase);
    let (old_keys, keys) = (derive(Format::V1)?, derive(Format::V2)?);
    let Contents { generation, records: old_records, .. } = read(file, old, &old_keys)?;

    let seed = data.subkey(&hash(file), Format::V1.label("migration").as_bytes());
    let mut derived = Derived { key: seed.ok_or(VaultError::WrongPassphrase)?, counter: 0 };
    let header = old.modern(&passphrase_key, &data, &mut derived)?;
    let signing = Signing::create(&id, &keys.signing, &mut derived)?;
    let mut records = Vec::with_capacity(old_records.len().min(MOST_RECORDS));
    let mut left_out = Vec::new();
    for (place, record) in old_records.into_iter().enumerate() {
        let damaged = |Unauthentic| {
            let section = Section::Record(place + 1);
            VaultError::Damaged { section, offset: 0 }
        };
        let value = record.unseal_as(&id, &old_keys.records, Format::V1).map_err(damaged)?;
        if values::is_never_stored(record.field) {
            left_out.push((record.handle, record.field));
        } else {
            let record = Record { binding: Binding::Anywhere, ..record };
            records.push(record.resealed(&value, &id, &keys.records, &mut derived)?);
        }
    }
    Ok(Migrated { header, keys, generation, records, signing, left_out })
}
