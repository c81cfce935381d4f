//! Texts that are encrypted at a padded length, so that the ciphertext does not show how long they are.
//!
//! The plaintext is a length in `P` bytes, the text, and zeros. The sealed form is nonce, ciphertext, tag.

use zeroize::ZeroizeOnDrop;

use super::cipher::{Entropy, Key, NONCE, TAG, Unauthentic};
use super::memory::{Pool, Pooled};
use super::secret::Secret;

/// A decrypted text in locked memory, wiped when dropped. One in a buffer of a pool can be reused for the next text.
pub(crate) struct Plaintext {
    held: Held,
    prefix: usize,
}

enum Held {
    Own(Secret),
    Pooled { buffer: Pooled, length: usize },
}

impl ZeroizeOnDrop for Plaintext {}

impl AsRef<[u8]> for Plaintext {
    fn as_ref(&self) -> &[u8] {
        self.expose()
    }
}

impl Plaintext {
    /// Takes a buffer of this pool, without a text yet.
    pub(crate) fn empty(pool: &Pool) -> Plaintext {
        Plaintext { held: Held::Pooled { buffer: pool.take(), length: 0 }, prefix: 0 }
    }

    /// Copies the text into memory of its own, to encrypt it again.
    pub(crate) fn to_secret(&self) -> Secret {
        Secret::filled(self.expose().len(), |out| out.copy_from_slice(self.expose()))
    }

    /// The text without its padding.
    pub(crate) fn expose(&self) -> &[u8] {
        let padded = match &self.held {
            Held::Own(padded) => padded.expose(),
            Held::Pooled { buffer, length } => buffer.bytes(*length).unwrap_or(&[]),
        };
        let Some((prefix, rest)) = padded.split_at_checked(self.prefix) else {
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

/// Decrypts the result of [`seal`] into a buffer of its own.
pub(crate) fn unseal<const P: usize>(
    key: &Key,
    context: &[u8],
    sealed: &[u8],
) -> Result<Plaintext, Unauthentic> {
    let (nonce, ciphertext, tag) = parts(sealed)?;
    let mut padded = Secret::filled(ciphertext.len(), |out| out.copy_from_slice(ciphertext));
    key.unseal(*nonce, padded.expose_mut(), *tag, context)?;
    Ok(Plaintext { held: Held::Own(padded), prefix: P })
}

/// Decrypts the result of [`seal`] into a buffer of a pool, in place of its text. After an error it holds no text.
pub(crate) fn unseal_into<const P: usize>(
    key: &Key,
    context: &[u8],
    sealed: &[u8],
    plain: &mut Plaintext,
) -> Result<(), Unauthentic> {
    let Held::Pooled { buffer, length } = &mut plain.held else { return Err(Unauthentic) };
    *length = 0;
    let (nonce, ciphertext, tag) = parts(sealed)?;
    let padded = buffer.bytes_mut(ciphertext.len()).ok_or(Unauthentic)?;
    padded.copy_from_slice(ciphertext);
    key.unseal(*nonce, padded, *tag, context)?;
    *length = ciphertext.len();
    plain.prefix = P;
    Ok(())
}

/// Nonce, ciphertext and tag of a sealed text.
type SealedParts<'a> = (&'a [u8; NONCE], &'a [u8], &'a [u8; TAG]);

fn parts(sealed: &[u8]) -> Result<SealedParts<'_>, Unauthentic> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or(Unauthentic)?;
    let (ciphertext, tag) = rest.split_last_chunk::<TAG>().ok_or(Unauthentic)?;
    Ok((nonce, ciphertext, tag))
}
