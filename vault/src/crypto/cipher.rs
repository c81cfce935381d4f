//! Authenticated encryption with XChaCha20-Poly1305, subkeys by HKDF-SHA256, and randomness as an argument.

#[cfg(test)]
mod tests;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::{Digest, Sha256};

use super::memory::{Buffer, Protection, with_clean_stack};

/// A source of randomness fit for keys. The caller chooses it: the operating system's in a program, a
/// fixed one in a test.
///
/// Every closure that takes `&mut [u8]` is one, so a program passes
/// `&mut |out: &mut [u8]| getrandom::fill(out)...` and ends itself where the system has no entropy.
pub trait Entropy {
    /// Overwrites every byte of `out`.
    fn fill(&mut self, out: &mut [u8]);
}

impl<F: FnMut(&mut [u8])> Entropy for F {
    fn fill(&mut self, out: &mut [u8]) {
        self(out);
    }
}

/// `N` random bytes that are not secret: ids, salts, nonces.
pub(crate) fn public_bytes<const N: usize>(entropy: &mut dyn Entropy) -> [u8; N] {
    let mut bytes = [0; N];
    entropy.fill(&mut bytes);
    bytes
}

/// The length of a nonce, in bytes.
pub(crate) const NONCE: usize = 24;
/// The length of an authentication tag, in bytes.
pub(crate) const TAG: usize = 16;
/// The bytes that encryption adds to a text.
pub(crate) const OVERHEAD: usize = NONCE + TAG;

/// The bytes do not decrypt: the key or the context is another one, or the bytes were changed.
pub(crate) struct Unauthentic;

/// 256 bits in locked memory of their own, wiped when dropped.
pub(crate) struct Key {
    bytes: Buffer,
}

/// The length of a key, in bytes.
const KEY: usize = 32;

impl Key {
    /// Makes a key that `fill` writes in place.
    pub(crate) fn try_filled<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Key, E> {
        let mut key = Key { bytes: Buffer::new(KEY) };
        fill(key.bytes.bytes_mut())?;
        Ok(key)
    }

    /// Makes a random key.
    pub(crate) fn random(entropy: &mut dyn Entropy) -> Key {
        let mut key = Key { bytes: Buffer::new(KEY) };
        entropy.fill(key.bytes.bytes_mut());
        key
    }

    /// Derives the key of one purpose. `None` cannot occur: 32 bytes are within HKDF's limit.
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

    /// Gives the key's bytes, so that they can be encrypted under another key.
    pub(crate) fn expose_to_wrap(&self) -> &[u8] {
        self.bytes.bytes()
    }

    /// The protection that the system granted to the key's memory.
    pub(crate) fn protection(&self) -> Protection {
        self.bytes.protection()
    }
}

/// The version of the file format. Keys and contexts of one version are never those of another.
pub(crate) const FORMAT: u16 = 2;

/// A label that keeps the keys and contexts of one purpose apart from all others.
pub(crate) fn label(purpose: &str) -> String {
    format!("portcullis vault {FORMAT} {purpose}")
}

/// Computes SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Joins parts, each after its length, so that no two lists of parts give the same bytes.
pub(crate) fn context(parts: &[&[u8]]) -> Vec<u8> {
    let mut joined = Vec::new();
    for part in parts {
        joined.extend_from_slice(&(part.len() as u64).to_le_bytes());
        joined.extend_from_slice(part);
    }
    joined
}
