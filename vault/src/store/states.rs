//! States that a guard keeps in the vault alongside a user's values, and signatures with the vault's key.

use zeroize::Zeroizing;

use super::vault::Vault;
use crate::content::state::State;
use crate::crypto::cipher::Entropy;
use crate::error::VaultError;
use crate::state_name::StateName;

impl Vault {
    /// Reads the state `name`, if it was ever set.
    ///
    /// # Errors
    /// [`VaultError::Locked`], and [`VaultError::StateDamaged`] if memory was changed.
    ///
    /// ```no_run
    /// # fn f(vault: &mut vault::Vault, entropy: &mut dyn vault::Entropy) -> Result<(), vault::VaultError> {
    /// use vault::StateName;
    ///
    /// vault.set_state(StateName::Phrase, b"seven green kettles", entropy)?;
    /// assert_eq!(vault.state(StateName::Phrase)?.as_deref(), Some(&b"seven green kettles".to_vec()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn state(&self, name: StateName) -> Result<Option<Zeroizing<Vec<u8>>>, VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let Some(state) = self.states.iter().find(|state| state.name == name) else {
            return Ok(None);
        };
        let plain = state.unseal(&self.id, &keys.states)?;
        Ok(Some(Zeroizing::new(plain.expose().to_vec())))
    }

    /// Replaces the state `name` by `text`: any bytes, at most 64 KiB, also none. Counts as a change of the vault.
    ///
    /// # Errors
    /// [`VaultError::StateTooLong`], [`VaultError::Locked`].
    pub fn set_state(
        &mut self,
        name: StateName,
        text: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        let new = State::seal(name, &self.id, &keys.states, text, entropy)?;
        match self.states.iter_mut().find(|state| state.name == name) {
            Some(slot) => *slot = new,
            None => self.states.push(new),
        }
        self.generation += 1;
        Ok(())
    }

    /// The public half of the vault's signing key, which is no secret.
    pub fn public_key(&self) -> [u8; 32] {
        self.signing.public
    }

    /// Signs `message` with Ed25519, so that [`Vault::public_key`] verifies it. The same message gives the same
    /// signature.
    ///
    /// # Errors
    /// [`VaultError::Locked`], and [`VaultError::SigningDamaged`] if memory was changed.
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], VaultError> {
        let keys = self.keys.as_ref().ok_or(VaultError::Locked)?;
        self.signing.sign(message, &self.id, &keys.signing)
    }
}
