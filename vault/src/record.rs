//! One encrypted value.

use sirl::Field;

use crate::cipher::{self, Key, NONCE, OVERHEAD, TAG, Unauthentic};
use crate::entropy::{Entropy, public_bytes};
use crate::{Secret, VaultError};

/// The shortest padded text. Every ordinary value fits, so that a code and a street look alike.
const SHORTEST_PADDED: usize = 256;
/// The longest padded text.
const LONGEST_PADDED: usize = 4096;
/// The length's own bytes.
const PREFIX: usize = 2;
/// The longest value, in bytes.
pub(crate) const LONGEST_VALUE: usize = LONGEST_PADDED - PREFIX;

/// One value under its key: nonce, padded ciphertext, tag.
pub(crate) struct Record {
    pub(crate) id: [u8; 16],
    pub(crate) version: u32,
    pub(crate) handle: String,
    pub(crate) field: Field,
    pub(crate) sealed: Vec<u8>,
}

/// A decrypted record, wiped when dropped.
pub(crate) struct Plain {
    padded: Secret,
}

impl Plain {
    /// The value without its padding.
    pub(crate) fn expose(&self) -> &[u8] {
        let bytes = self.padded.expose();
        let length =
            bytes.first_chunk::<PREFIX>().map_or(0, |prefix| usize::from(u16::from_le_bytes(*prefix)));
        bytes.get(PREFIX..PREFIX + length).unwrap_or(&[])
    }
}

/// Whether a record's sealed form can have this length.
pub(crate) fn is_sealed_length(length: usize) -> bool {
    length.checked_sub(OVERHEAD).is_some_and(|padded| {
        padded.is_power_of_two() && (SHORTEST_PADDED..=LONGEST_PADDED).contains(&padded)
    })
}

impl Record {
    /// Encrypts `value` for `handle` and `field`.
    pub(crate) fn seal(
        vault: &[u8; 16],
        key: &Key,
        (handle, field): (&str, Field),
        version: u32,
        value: &Secret,
        entropy: &mut dyn Entropy,
    ) -> Result<Record, VaultError> {
        let value = value.expose();
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
        let padded_length = (value.len() + PREFIX).next_power_of_two().max(SHORTEST_PADDED);
        let mut padded = Secret::filled(padded_length, |out| {
            let prefix = (value.len() as u16).to_le_bytes();
            for (slot, byte) in out.iter_mut().zip(prefix.iter().chain(value)) {
                *slot = *byte;
            }
        });
        let mut record = Record {
            id: public_bytes(entropy),
            version,
            handle: handle.to_owned(),
            field,
            sealed: Vec::new(),
        };
        let (nonce, tag) =
            key.seal(padded.expose_mut(), &record.context(vault), entropy).map_err(|Unauthentic| too_long)?;
        record.sealed = [nonce.as_slice(), padded.expose(), tag.as_slice()].concat();
        Ok(record)
    }

    /// Decrypts the value.
    pub(crate) fn unseal(&self, vault: &[u8; 16], key: &Key) -> Result<Plain, Unauthentic> {
        let (nonce, rest) = self.sealed.split_first_chunk::<NONCE>().ok_or(Unauthentic)?;
        let (ciphertext, tag) = rest.split_last_chunk::<TAG>().ok_or(Unauthentic)?;
        let mut padded = Secret::new(ciphertext);
        key.unseal(*nonce, padded.expose_mut(), *tag, &self.context(vault))?;
        Ok(Plain { padded })
    }

    /// What the ciphertext is bound to. A record moved to another vault, handle, field, tier or version
    /// does not decrypt.
    fn context(&self, vault: &[u8; 16]) -> Vec<u8> {
        cipher::context(&[
            b"portcullis vault 1 record",
            vault,
            &self.id,
            self.handle.as_bytes(),
            self.field.as_str().as_bytes(),
            self.field.tier().as_str().as_bytes(),
            &self.version.to_le_bytes(),
        ])
    }
}
