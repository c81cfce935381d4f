//! One encrypted state of the guard. States are authenticated with the values, and never released or searched for.

use crate::crypto::cipher::{Entropy, Key, OVERHEAD, Unauthentic, context, label};
use crate::crypto::padded::{self, Plaintext};
use crate::error::VaultError;
use crate::state_name::StateName;

/// The longest state, in bytes.
const LONGEST_STATE: usize = 64 * 1024;
/// The shortest padded text, in bytes.
const SHORTEST_PADDED: usize = 512;
/// The bytes that a text's length takes.
const PREFIX: usize = 4;

/// One encrypted state.
pub(crate) struct State {
    pub(crate) name: StateName,
    pub(crate) sealed: Vec<u8>,
}

/// Tells if a state's sealed form can have this length.
pub(crate) fn is_sealed_length(length: usize) -> bool {
    length.checked_sub(OVERHEAD).is_some_and(|padded| {
        padded.is_power_of_two() && (SHORTEST_PADDED..=2 * LONGEST_STATE).contains(&padded)
    })
}

impl State {
    /// Encrypts `text`.
    pub(crate) fn seal(
        name: StateName,
        vault: &[u8; 16],
        key: &Key,
        text: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<State, VaultError> {
        let too_long = VaultError::StateTooLong { name, limit: LONGEST_STATE };
        if text.len() > LONGEST_STATE {
            return Err(too_long);
        }
        let sealed = padded::seal::<PREFIX>(key, &state_context(name, vault), text, SHORTEST_PADDED, entropy)
            .map_err(|Unauthentic| too_long)?;
        Ok(State { name, sealed })
    }

    /// Decrypts the text.
    pub(crate) fn unseal(&self, vault: &[u8; 16], key: &Key) -> Result<Plaintext, VaultError> {
        padded::unseal::<PREFIX>(key, &state_context(self.name, vault), &self.sealed)
            .map_err(|Unauthentic| VaultError::StateDamaged(self.name))
    }
}

/// The associated data of a state's ciphertext.
fn state_context(name: StateName, vault: &[u8; 16]) -> Vec<u8> {
    context(&[label("state").as_bytes(), vault, name.as_str().as_bytes()])
}
