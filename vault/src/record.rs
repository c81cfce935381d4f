//! One encrypted value.

use browser_signals::Origin;
use sirl::Field;

use crate::VaultError;
use crate::binding::{Binding, needs_place};
use crate::cipher::{self, Format, Key, OVERHEAD, Unauthentic};
use crate::entropy::{Entropy, public_bytes};
use crate::memory::Pool;
use crate::padded::{self, Plain};

/// The shortest padded text. Every ordinary value fits, so that a code and a street look alike.
const SHORTEST_PADDED: usize = 256;
/// The longest padded text.
const LONGEST_PADDED: usize = 4096;
/// The length's own bytes.
const PREFIX: usize = 2;
/// The longest value, in bytes.
pub(crate) const LONGEST_VALUE: usize = LONGEST_PADDED - PREFIX;

/// One value under its key, and what its ciphertext is bound to.
pub(crate) struct Record {
    pub(crate) id: [u8; 16],
    pub(crate) version: u32,
    pub(crate) handle: String,
    pub(crate) field: Field,
    pub(crate) binding: Binding,
    pub(crate) sealed: Vec<u8>,
}

/// A pool of buffers for decrypted records.
pub(crate) fn pool() -> Pool {
    Pool::new(LONGEST_PADDED)
}

/// Whether a record's sealed form can have this length.
pub(crate) fn is_sealed_length(length: usize) -> bool {
    length.checked_sub(OVERHEAD).is_some_and(|padded| {
        padded.is_power_of_two() && (SHORTEST_PADDED..=LONGEST_PADDED).contains(&padded)
    })
}

impl Record {
    /// Encrypts `value` for `handle` and `field`, which is bound to `binding`.
    pub(crate) fn seal(
        vault: &[u8; 16],
        key: &Key,
        (handle, field, binding): (&str, Field, &Binding),
        version: u32,
        value: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Record, VaultError> {
        if value.is_empty() {
            return Err(VaultError::EmptyValue(field));
        }
        let too_long = VaultError::ValueTooLong { field, limit: LONGEST_VALUE };
        if value.len() > LONGEST_VALUE {
            return Err(too_long);
        }
        if std::str::from_utf8(value).is_err() {
            return Err(VaultError::ValueNotText(field));
        }
        let mut record = Record {
            id: public_bytes(entropy),
            version,
            handle: handle.to_owned(),
            field,
            binding: binding.clone(),
            sealed: Vec::new(),
        };
        let context = record.context(vault, Format::V2);
        record.sealed = padded::seal::<PREFIX>(key, &context, value, SHORTEST_PADDED, entropy)
            .map_err(|Unauthentic| too_long)?;
        Ok(record)
    }

    /// Decrypts the value into a buffer of its own.
    pub(crate) fn unseal(&self, vault: &[u8; 16], key: &Key) -> Result<Plain, Unauthentic> {
        self.unseal_as(vault, key, Format::V2)
    }

    /// Decrypts the value in the place of another. After an error there is none.
    pub(crate) fn unseal_into(
        &self,
        vault: &[u8; 16],
        key: &Key,
        plain: &mut Plain,
    ) -> Result<(), Unauthentic> {
        padded::unseal_into::<PREFIX>(key, &self.context(vault, Format::V2), &self.sealed, plain)
    }

    /// Decrypts the value as a file of this format sealed it.
    pub(crate) fn unseal_as(
        &self,
        vault: &[u8; 16],
        key: &Key,
        format: Format,
    ) -> Result<Plain, Unauthentic> {
        padded::unseal::<PREFIX>(key, &self.context(vault, format), &self.sealed)
    }

    /// The same value anew: another id, another nonce, another key.
    pub(crate) fn resealed(
        &self,
        value: &Plain,
        vault: &[u8; 16],
        key: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Record, VaultError> {
        let place = (self.handle.as_str(), self.field, &self.binding);
        Record::seal(vault, key, place, self.version, value.expose(), entropy)
    }

    /// Whether the value may go to every one of `places`. One that needs a place and has none goes nowhere.
    pub(crate) fn admits(&self, places: &[&Origin]) -> bool {
        let unbound = self.binding == Binding::Anywhere && needs_place(&self.handle, self.field);
        !unbound && places.iter().all(|origin| self.binding.admits(origin))
    }

    /// What the ciphertext is bound to. A record moved to another vault, handle, field, tier, binding or
    /// version does not decrypt.
    fn context(&self, vault: &[u8; 16], format: Format) -> Vec<u8> {
        let label = format.label("record");
        let binding = self.binding.to_string();
        let version = self.version.to_le_bytes();
        let mut parts = vec![
            label.as_bytes(),
            vault,
            &self.id,
            self.handle.as_bytes(),
            self.field.as_str().as_bytes(),
            self.field.tier().as_str().as_bytes(),
        ];
        if format == Format::V2 {
            parts.push(binding.as_bytes());
        }
        parts.push(&version);
        cipher::context(&parts)
    }
}
