//! The vault's signing key: Ed25519, made with the vault, kept sealed, and used without leaving.
//!
//! It outlives a change of the passphrase and of the data key, so that what was signed before still verifies.

#[cfg(test)]
mod tests;

use ed25519_dalek::{Signer, SigningKey};

use crate::cipher::{Format, Key, OVERHEAD, Unauthentic, context};
use crate::entropy::Entropy;
use crate::memory::with_clean_deep_stack;
use crate::padded;
use crate::{Secret, Vault, VaultError};

/// The length of the seed, in bytes.
const SEED: usize = 32;
/// The seed's padded length, in bytes.
const PADDED: usize = 64;
/// The length of the sealed seed, in bytes.
pub(crate) const SEALED_SEED: usize = PADDED + OVERHEAD;

/// The seed of a signing key, encrypted, and the public key that belongs to it. The default one signs
/// nothing.
#[derive(Default)]
pub(crate) struct Signing {
    pub(crate) sealed: Vec<u8>,
    pub(crate) public: [u8; 32],
}

impl Signing {
    /// A new random key.
    pub(crate) fn create(
        vault: &[u8; 16],
        key: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Signing, VaultError> {
        let seed = Secret::filled(SEED, |out| entropy.fill(out));
        Signing::seal(seed.expose(), vault, key, entropy)
    }

    /// The key of a sealed seed.
    pub(crate) fn open(sealed: &[u8], vault: &[u8; 16], key: &Key) -> Result<Signing, VaultError> {
        let public = with_clean_deep_stack(|| {
            unseal(sealed, vault, key).map(|signing| signing.verifying_key().to_bytes())
        })?;
        Ok(Signing { sealed: sealed.to_vec(), public })
    }

    /// The same key, sealed under another one.
    pub(crate) fn resealed(
        &self,
        vault: &[u8; 16],
        old: &Key,
        new: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Signing, VaultError> {
        let seed = padded::unseal::<1>(old, &bound(vault), &self.sealed)
            .map_err(|Unauthentic| VaultError::SigningDamaged)?;
        Signing::seal(seed.expose(), vault, new, entropy)
    }

    fn seal(
        seed: &[u8],
        vault: &[u8; 16],
        key: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Signing, VaultError> {
        let sealed = padded::seal::<1>(key, &bound(vault), seed, PADDED, entropy)
            .map_err(|Unauthentic| VaultError::SigningDamaged)?;
        Signing::open(&sealed, vault, key)
    }
}

/// The signing key, which wipes itself when dropped.
fn unseal(sealed: &[u8], vault: &[u8; 16], key: &Key) -> Result<SigningKey, VaultError> {
    let damaged = VaultError::SigningDamaged;
    let plain = padded::unseal::<1>(key, &bound(vault), sealed).map_err(|Unauthentic| damaged.clone())?;
    let seed: &[u8; SEED] = plain.expose().try_into().map_err(|_| damaged)?;
    Ok(SigningKey::from_bytes(seed))
}

/// What the seed's ciphertext is bound to.
fn bound(vault: &[u8; 16]) -> Vec<u8> {
    context(&[Format::V2.label("signing key").as_bytes(), vault])
}

impl Vault {
    /// The public half of the vault's signing key, which is no secret.
    pub fn public_key(&self) -> [u8; 32] {
        self.signing.public
    }

    /// An Ed25519 signature over `message`, which [`Vault::public_key`] verifies. The same message gives the
    /// same signature.
    ///
    /// # Errors
    /// [`VaultError::Locked`], and [`VaultError::SigningDamaged`] where memory was changed.
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        with_clean_deep_stack(|| {
            unseal(&self.signing.sealed, &self.id, &keys.signing)
                .map(|signing| signing.sign(message).to_bytes())
        })
    }
}
