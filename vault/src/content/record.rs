//! One encrypted value.

use browser_signals::Origin;
use sirl::Field;

use super::binding::{Binding, needs_place};
use crate::crypto::cipher::{self, Entropy, Key, OVERHEAD, Unauthentic, label, public_bytes};
use crate::crypto::padded::{self, Plaintext};
use crate::error::VaultError;

/// The shortest padded text, in bytes. Every common value fits, so that a code and a street have the same length.
const SHORTEST_PADDED: usize = 256;
/// The longest padded text, in bytes.
pub(crate) const LONGEST_PADDED: usize = 4096;
/// The bytes that a value's length takes.
const PREFIX: usize = 2;
/// The longest value, in bytes.
const LONGEST_VALUE: usize = LONGEST_PADDED - PREFIX;

/// One encrypted value, and the facts that its ciphertext is bound to.
pub(crate) struct Record {
    pub(crate) id: [u8; 16],
    pub(crate) version: u32,
    pub(crate) handle: String,
    pub(crate) field: Field,
    pub(crate) binding: Binding,
    pub(crate) sealed: Vec<u8>,
}

/// Tells if a record's sealed form can have this length.
pub(crate) fn is_sealed_length(length: usize) -> bool {
    length.checked_sub(OVERHEAD).is_some_and(|padded| {
        padded.is_power_of_two() && (SHORTEST_PADDED..=LONGEST_PADDED).contains(&padded)
    })
}

impl Record {
    /// Encrypts `value` for `handle` and `field`, bound to `binding`.
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
        let context = record.context(vault);
        record.sealed = padded::seal::<PREFIX>(key, &context, value, SHORTEST_PADDED, entropy)
            .map_err(|Unauthentic| too_long)?;
        Ok(record)
    }

    /// Decrypts the value into a buffer of its own.
    pub(crate) fn unseal(&self, vault: &[u8; 16], key: &Key) -> Result<Plaintext, Unauthentic> {
        padded::unseal::<PREFIX>(key, &self.context(vault), &self.sealed)
    }

    /// Decrypts the value in place of the one in `plain`, which holds none after an error.
    pub(crate) fn unseal_into(
        &self,
        vault: &[u8; 16],
        key: &Key,
        plain: &mut Plaintext,
    ) -> Result<(), Unauthentic> {
        padded::unseal_into::<PREFIX>(key, &self.context(vault), &self.sealed, plain)
    }

    /// Encrypts the same value under another key, with another id and nonce.
    pub(crate) fn resealed(
        &self,
        value: &Plaintext,
        vault: &[u8; 16],
        key: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Record, VaultError> {
        let place = (self.handle.as_str(), self.field, &self.binding);
        Record::seal(vault, key, place, self.version, value.expose(), entropy)
    }

    /// Tells if the value may go to every one of `origins`. One that needs a binding to a place and has none goes
    /// nowhere.
    pub(crate) fn admits(&self, origins: &[&Origin]) -> bool {
        let unbound = self.binding == Binding::Anywhere && needs_place(&self.handle, self.field);
        !unbound && origins.iter().all(|origin| self.binding.admits(origin))
    }

    /// The associated data of the ciphertext. A record that is moved to another vault, handle, field, tier,
    /// binding or version does not decrypt.
    fn context(&self, vault: &[u8; 16]) -> Vec<u8> {
        let label = label("record");
        let binding = self.binding.to_string();
        let version = self.version.to_le_bytes();
        cipher::context(&[
            label.as_bytes(),
            vault,
            &self.id,
            self.handle.as_bytes(),
            self.field.as_str().as_bytes(),
            self.field.tier().as_str().as_bytes(),
            binding.as_bytes(),
            &version,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(handle: &str, field: Field, binding: Binding) -> Record {
        Record { id: [0; 16], version: 1, handle: handle.to_owned(), field, binding, sealed: Vec::new() }
    }

    /// A file may hold such a record, and reading it does not refuse it.
    #[test]
    fn an_unbound_login_goes_nowhere() {
        let bank = Origin::parse("https://bank.example").unwrap();
        let bound = Binding::Origin(bank.clone());
        for field in [Field::Email, Field::Password] {
            assert!(!record("login:bank", field, Binding::Anywhere).admits(&[&bank]), "{field:?}");
            assert!(record("login:bank", field, bound.clone()).admits(&[&bank]), "{field:?}");
        }
        assert!(record("contact:home", Field::Email, Binding::Anywhere).admits(&[&bank]));
        let other = Origin::parse("https://shop.example").unwrap();
        assert!(!record("login:bank", Field::Password, bound).admits(&[&bank, &other]));
    }
}
