//! One encrypted value.

use sirl::Field;
use zeroize::ZeroizeOnDrop;

use crate::cipher::{self, Key, NONCE, OVERHEAD, TAG, Unauthentic};
use crate::entropy::{Entropy, public_bytes};
use crate::memory::{Pool, Pooled};
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

/// A pool of buffers for decrypted records.
pub(crate) fn pool() -> Pool {
    Pool::new(LONGEST_PADDED)
}

/// A decrypted record in locked memory, wiped when dropped. One can take many records, one after another.
pub(crate) struct Plain {
    padded: Pooled,
    length: usize,
}

impl ZeroizeOnDrop for Plain {}

impl AsRef<[u8]> for Plain {
    fn as_ref(&self) -> &[u8] {
        self.expose()
    }
}

impl Plain {
    /// No record yet.
    pub(crate) fn empty(pool: &Pool) -> Plain {
        Plain { padded: pool.take(), length: 0 }
    }

    /// The value without its padding.
    pub(crate) fn expose(&self) -> &[u8] {
        let bytes = self.padded.bytes(self.length).unwrap_or(&[]);
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

    /// Decrypts the value into a buffer of its own.
    #[cfg(test)]
    pub(crate) fn unseal(&self, vault: &[u8; 16], key: &Key) -> Result<Plain, Unauthentic> {
        let mut plain = Plain::empty(&pool());
        self.unseal_into(vault, key, &mut plain)?;
        Ok(plain)
    }

    /// Decrypts the value in the place of another. After an error there is none.
    pub(crate) fn unseal_into(
        &self,
        vault: &[u8; 16],
        key: &Key,
        plain: &mut Plain,
    ) -> Result<(), Unauthentic> {
        plain.length = 0;
        let (nonce, rest) = self.sealed.split_first_chunk::<NONCE>().ok_or(Unauthentic)?;
        let (ciphertext, tag) = rest.split_last_chunk::<TAG>().ok_or(Unauthentic)?;
        let padded = plain.padded.bytes_mut(ciphertext.len()).ok_or(Unauthentic)?;
        padded.copy_from_slice(ciphertext);
        key.unseal(*nonce, padded, *tag, &self.context(vault))?;
        plain.length = ciphertext.len();
        Ok(())
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
