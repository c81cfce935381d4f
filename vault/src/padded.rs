//! Texts sealed at a padded length, so that the ciphertext does not tell how long they are.
//!
//! A text is its length in the first `P` bytes, the text, and zeros. Sealed, it is nonce, ciphertext, tag.

use crate::Secret;
use crate::cipher::{Key, NONCE, TAG, Unauthentic};
use crate::entropy::Entropy;

/// A decrypted text, wiped when dropped.
pub(crate) struct Plain {
    padded: Secret,
    prefix: usize,
}

impl Plain {
    /// The text without its padding.
    pub(crate) fn expose(&self) -> &[u8] {
        let Some((prefix, rest)) = self.padded.expose().split_at_checked(self.prefix) else {
            return &[];
        };
        let length = prefix.iter().rev().fold(0, |length, byte| (length << 8) | usize::from(*byte));
        rest.get(..length).unwrap_or(&[])
    }
}

/// Encrypts `text` under `key`, padded to a power of two and at least to `shortest`. The length must fit into
/// `P` bytes.
pub(crate) fn seal<const P: usize>(
    key: &Key,
    context: &[u8],
    text: &[u8],
    shortest: usize,
    entropy: &mut dyn Entropy,
) -> Result<Vec<u8>, Unauthentic> {
    let length = text.len().to_le_bytes();
    let (prefix, rest) = length.split_at_checked(P).ok_or(Unauthentic)?;
    if rest.iter().any(|byte| *byte != 0) {
        return Err(Unauthentic);
    }
    let mut padded = Secret::filled((text.len() + P).next_power_of_two().max(shortest), |out| {
        for (slot, byte) in out.iter_mut().zip(prefix.iter().chain(text)) {
            *slot = *byte;
        }
    });
    let (nonce, tag) = key.seal(padded.expose_mut(), context, entropy)?;
    Ok([nonce.as_slice(), padded.expose(), tag.as_slice()].concat())
}

/// Decrypts what [`seal`] made.
pub(crate) fn unseal<const P: usize>(key: &Key, context: &[u8], sealed: &[u8]) -> Result<Plain, Unauthentic> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or(Unauthentic)?;
    let (ciphertext, tag) = rest.split_last_chunk::<TAG>().ok_or(Unauthentic)?;
    let mut padded = Secret::new(ciphertext);
    key.unseal(*nonce, padded.expose_mut(), *tag, context)?;
    Ok(Plain { padded, prefix: P })
}
