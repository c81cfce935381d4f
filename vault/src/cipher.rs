//! Keys, and authenticated encryption with them: XChaCha20-Poly1305, subkeys by HKDF-SHA256.

#[cfg(test)]
mod tests;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::{Digest, Sha256};

use crate::entropy::{Entropy, public_bytes};
use crate::memory::{Buffer, Pool, Protection, with_clean_stack};

/// The length of a nonce, in bytes.
pub(crate) const NONCE: usize = 24;
/// The length of an authentication tag, in bytes.
pub(crate) const TAG: usize = 16;
/// What sealing adds to a text, in bytes.
pub(crate) const OVERHEAD: usize = NONCE + TAG;

/// The bytes do not decrypt: another key, another context, or changed.
pub(crate) struct Unauthentic;

/// 256 bits in locked memory of their own, wiped when dropped.
pub(crate) struct Key {
    bytes: Buffer,
}

/// The length of a key, in bytes.
const KEY: usize = 32;

impl Key {
    /// A key that `fill` writes in place.
    pub(crate) fn try_filled<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Key, E> {
        let mut key = Key { bytes: Buffer::new(KEY) };
        fill(key.bytes.bytes_mut())?;
        Ok(key)
    }

    /// A random key.
    pub(crate) fn random(entropy: &mut dyn Entropy) -> Key {
        let mut key = Key { bytes: Buffer::new(KEY) };
        entropy.fill(key.bytes.bytes_mut());
        key
    }

    /// The key of one purpose, from this one. `None` cannot occur: 32 bytes are within HKDF's limit.
    pub(crate) fn subkey(&self, salt: &[u8], purpose: &[u8]) -> Option<Key> {
        with_clean_stack(|| {
            let hkdf = Hkdf::<Sha256>::new(Some(salt), self.bytes.bytes());
            Key::try_filled(|out| hkdf.expand(purpose, out)).ok()
        })
    }

    /// Encrypts `bytes` in place under a fresh random nonce, and returns nonce and tag.
    pub(crate) fn seal(
        &self,
        bytes: &mut [u8],
        context: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<([u8; NONCE], [u8; TAG]), Unauthentic> {
        let nonce = public_bytes::<NONCE>(entropy);
        let tag = with_clean_stack(|| {
            let cipher = XChaCha20Poly1305::new_from_slice(self.bytes.bytes()).map_err(|_| Unauthentic)?;
            cipher
                .encrypt_inout_detached(&XNonce::from(nonce), context, bytes.into())
                .map_err(|_| Unauthentic)
        })?;
        Ok((nonce, tag.into()))
    }

    /// Decrypts `bytes` in place. After an error their content is unspecified ciphertext, never plaintext.
    pub(crate) fn unseal(
        &self,
        nonce: [u8; NONCE],
        bytes: &mut [u8],
        tag: [u8; TAG],
        context: &[u8],
    ) -> Result<(), Unauthentic> {
        with_clean_stack(|| {
            let cipher = XChaCha20Poly1305::new_from_slice(self.bytes.bytes()).map_err(|_| Unauthentic)?;
            cipher
                .decrypt_inout_detached(&XNonce::from(nonce), context, bytes.into(), &Tag::from(tag))
                .map_err(|_| Unauthentic)
        })
    }

    /// The key's bytes, to be wrapped under another key.
    pub(crate) fn expose_to_wrap(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

/// A format of the file. Keys and contexts of one are never those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Without bindings, states and a signing key; read, never written.
    V1,
    /// What is written.
    V2,
}

impl Format {
    /// The number in the file.
    pub(crate) fn number(self) -> u16 {
        match self {
            Format::V1 => 1,
            Format::V2 => 2,
        }
    }

    /// What keeps keys and contexts of one purpose apart from all others.
    pub(crate) fn label(self, purpose: &str) -> String {
        format!("portcullis vault {} {purpose}", self.number())
    }
}

/// The keys of an unlocked vault: one for each purpose.
pub(crate) struct Keys {
    /// Seals records.
    pub(crate) records: Key,
    /// Seals the manifest.
    pub(crate) manifest: Key,
    /// Where records are decrypted.
    pub(crate) pool: Pool,
    /// Seals states.
    pub(crate) states: Key,
    /// Seals the seed of the signing key.
    pub(crate) signing: Key,
}

impl Keys {
    /// The subkeys of a vault's data key.
    pub(crate) fn derive(data: &Key, vault: &[u8; 16], format: Format) -> Option<Keys> {
        let subkey = |purpose| data.subkey(vault, format.label(purpose).as_bytes());
        Some(Keys {
            records: subkey("records")?,
            manifest: subkey("manifest")?,
            states: subkey("states")?,
            signing: subkey("signing")?,
            pool: crate::record::pool(),
        })
    }

    /// What the system granted to the memory of both.
    pub(crate) fn protection(&self) -> Protection {
        self.records.bytes.protection().and(self.manifest.bytes.protection())
    }
}

/// SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Joins parts so that no two lists of parts give the same bytes: each is preceded by its length.
pub(crate) fn context(parts: &[&[u8]]) -> Vec<u8> {
    let mut joined = Vec::new();
    for part in parts {
        joined.extend_from_slice(&(part.len() as u64).to_le_bytes());
        joined.extend_from_slice(part);
    }
    joined
}
