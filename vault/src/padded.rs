//! Texts sealed at a padded length, so that the ciphertext does not tell how long they are.
//!
//! A text is its length in the first `P` bytes, the text, and zeros. Sealed, it is nonce, ciphertext, tag.

use zeroize::ZeroizeOnDrop;

use crate::Secret;
use crate::cipher::{Key, NONCE, TAG, Unauthentic};
use crate::entropy::Entropy;
use crate::memory::{Pool, Pooled};

/// A decrypted text in locked memory, wiped when dropped. One of a pool can take many, one after another.
pub(crate) struct Plain {
    held: Held,
    prefix: usize,
}

enum Held {
    Own(Secret),
    Pooled { buffer: Pooled, length: usize },
}

impl ZeroizeOnDrop for Plain {}

impl AsRef<[u8]> for Plain {
    fn as_ref(&self) -> &[u8] {
        self.expose()
    }
}

impl Plain {
    /// No text yet, in a buffer of this pool.
    pub(crate) fn empty(pool: &Pool) -> Plain {
        Plain { held: Held::Pooled { buffer: pool.take(), length: 0 }, prefix: 0 }
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

/// Decrypts what [`seal`] made, into a buffer of its own.
pub(crate) fn unseal<const P: usize>(key: &Key, context: &[u8], sealed: &[u8]) -> Result<Plain, Unauthentic> {
    let (nonce, ciphertext, tag) = parts(sealed)?;
    let mut padded = Secret::filled(ciphertext.len(), |out| out.copy_from_slice(ciphertext));
    key.unseal(*nonce, padded.expose_mut(), *tag, context)?;
    Ok(Plain { held: Held::Own(padded), prefix: P })
}

/// Decrypts what [`seal`] made, in the place of another text of a pool. After an error there is none.
pub(crate) fn unseal_into<const P: usize>(
    key: &Key,
    context: &[u8],
    sealed: &[u8],
    plain: &mut Plain,
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

/// Nonce, ciphertext and tag.
type Parts<'a> = (&'a [u8; NONCE], &'a [u8], &'a [u8; TAG]);

fn parts(sealed: &[u8]) -> Result<Parts<'_>, Unauthentic> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or(Unauthentic)?;
    let (ciphertext, tag) = rest.split_last_chunk::<TAG>().ok_or(Unauthentic)?;
    Ok((nonce, ciphertext, tag))
}
