//! A value on its way into the vault.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// One secret in a heap buffer of exactly its length, wiped when dropped.
///
/// It cannot be read outside this crate, printed, cloned, compared or serialised.
///
/// ```
/// let passphrase = vault::Secret::new(String::from("correct horse battery staple"));
/// drop(passphrase); // wiped here
/// ```
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Secret {
    bytes: Box<[u8]>,
}

impl Secret {
    /// Takes over a buffer. One that is filled exactly (length equal to capacity, or a boxed slice) is
    /// moved without copying; the content of any other is copied, and the buffer wiped. From a borrowed
    /// value a copy is made, and the caller wipes the original.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Secret {
        let mut bytes: Vec<u8> = bytes.into();
        if bytes.len() == bytes.capacity() {
            return Secret { bytes: bytes.into_boxed_slice() };
        }
        let exact = bytes.as_slice().into();
        bytes.zeroize();
        Secret { bytes: exact }
    }

    /// A secret of `length` bytes that `fill` writes in place, so that no other buffer ever holds it.
    pub fn filled(length: usize, fill: impl FnOnce(&mut [u8])) -> Secret {
        let mut bytes = vec![0; length].into_boxed_slice();
        fill(&mut bytes);
        Secret { bytes }
    }

    /// The secret, for this crate alone.
    pub(crate) fn expose(&self) -> &[u8] {
        &self.bytes
    }

    /// The buffer, for decrypting in place.
    pub(crate) fn expose_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
