//! The seed of the vault's Ed25519 signing key, which is made with the vault and stays in it.
//!
//! It outlives a change of the passphrase and of the data key, so that older signatures still verify.

#[cfg(test)]
mod tests;

use ed25519_dalek::{Signer, SigningKey};
use hkdf::Hkdf;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::crypto::cipher::{Entropy, Key, OVERHEAD, Unauthentic, context, label};
use crate::crypto::memory::with_clean_deep_stack;
use crate::crypto::padded;
use crate::crypto::secret::Secret;
use crate::error::VaultError;

/// The length of the seed, in bytes.
const SEED: usize = 32;
/// The seed's padded length, in bytes.
const PADDED: usize = 64;
/// The length of the sealed seed, in bytes.
pub(crate) const SEALED_SEED: usize = PADDED + OVERHEAD;

/// The encrypted seed of a signing key, and its public key. The default one signs nothing.
#[derive(Default)]
pub(crate) struct Signing {
    pub(crate) sealed: Vec<u8>,
    pub(crate) public: [u8; 32],
}

impl Signing {
    /// Makes a new random key.
    pub(crate) fn create(
        vault: &[u8; 16],
        key: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Signing, VaultError> {
        let seed = Secret::filled(SEED, |out| entropy.fill(out));
        Signing::seal(seed.expose(), vault, key, entropy)
    }

    /// Opens the key of a sealed seed.
    pub(crate) fn open(sealed: &[u8], vault: &[u8; 16], key: &Key) -> Result<Signing, VaultError> {
        let public = with_clean_deep_stack(|| {
            unseal(sealed, vault, key).map(|signing| signing.verifying_key().to_bytes())
        })?;
        Ok(Signing { sealed: sealed.to_vec(), public })
    }

    /// Encrypts the same seed under another key.
    pub(crate) fn resealed(
        &self,
        vault: &[u8; 16],
        old: &Key,
        new: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Signing, VaultError> {
        let seed = padded::unseal::<1>(old, &seed_context(vault), &self.sealed)
            .map_err(|Unauthentic| VaultError::SigningDamaged)?;
        Signing::seal(seed.expose(), vault, new, entropy)
    }

    /// Signs `message`. The same message gives the same signature.
    pub(crate) fn sign(&self, message: &[u8], vault: &[u8; 16], key: &Key) -> Result<[u8; 64], VaultError> {
        with_clean_deep_stack(|| {
            unseal(&self.sealed, vault, key).map(|signing| signing.sign(message).to_bytes())
        })
    }

    fn seal(
        seed: &[u8],
        vault: &[u8; 16],
        key: &Key,
        entropy: &mut dyn Entropy,
    ) -> Result<Signing, VaultError> {
        let sealed = padded::seal::<1>(key, &seed_context(vault), seed, PADDED, entropy)
            .map_err(|Unauthentic| VaultError::SigningDamaged)?;
        Signing::open(&sealed, vault, key)
    }
}

/// A key that signs mandates for purchases. It is derived from the seed, so it has no file of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MandateKey {
    /// That of the trusted surface, which shops know.
    Surface,
    /// That which closes a mandate.
    Agent,
}

impl Signing {
    /// The secret of a key on the curve P-256.
    pub(crate) fn mandate_key(
        &self,
        which: MandateKey,
        vault: &[u8; 16],
        key: &Key,
    ) -> Result<Zeroizing<[u8; 32]>, VaultError> {
        let seed = padded::unseal::<1>(key, &seed_context(vault), &self.sealed)
            .map_err(|Unauthentic| VaultError::SigningDamaged)?;
        let purpose = match which {
            MandateKey::Surface => "mandates of the surface",
            MandateKey::Agent => "mandates of the agent",
        };
        let label = label(purpose);
        let derive = Hkdf::<Sha256>::new(Some(vault), seed.expose());
        // A text of 32 bytes is a secret of the curve but once in four billion.
        for count in 0..=u8::MAX {
            let mut secret = Zeroizing::new([0; 32]);
            let count = [count];
            derive
                .expand_multi_info(&[label.as_bytes(), &count], secret.as_mut())
                .map_err(|_| VaultError::SigningDamaged)?;
            if with_clean_deep_stack(|| p256::SecretKey::from_slice(secret.as_ref()).is_ok()) {
                return Ok(secret);
            }
        }
        Err(VaultError::SigningDamaged)
    }

    /// The public key of the trusted surface: its coordinates.
    pub(crate) fn mandate_public(&self, vault: &[u8; 16], key: &Key) -> Result<[u8; 64], VaultError> {
        let secret = self.mandate_key(MandateKey::Surface, vault, key)?;
        let point = with_clean_deep_stack(|| {
            let secret = p256::SecretKey::from_slice(secret.as_ref());
            secret.map(|secret| secret.public_key().to_sec1_point(false))
        });
        let point = point.map_err(|_| VaultError::SigningDamaged)?;
        // The first byte says that both coordinates follow.
        let coordinates = point.as_bytes().get(1..).and_then(|bytes| bytes.try_into().ok());
        coordinates.ok_or(VaultError::SigningDamaged)
    }
}

/// Decrypts the signing key, which wipes itself when dropped.
fn unseal(sealed: &[u8], vault: &[u8; 16], key: &Key) -> Result<SigningKey, VaultError> {
    let damaged = VaultError::SigningDamaged;
    let plain =
        padded::unseal::<1>(key, &seed_context(vault), sealed).map_err(|Unauthentic| damaged.clone())?;
    let seed: &[u8; SEED] = plain.expose().try_into().map_err(|_| damaged)?;
    Ok(SigningKey::from_bytes(seed))
}

/// The associated data of the seed's ciphertext.
fn seed_context(vault: &[u8; 16]) -> Vec<u8> {
    context(&[label("signing key").as_bytes(), vault])
}
