//! What a guard keeps in the vault beside a person's values: standing consents, the head of the audit log,
//! the phrase that its consent page shows, settings, what it withheld from the model, and how often agents guessed a
//! value. Encrypted and authenticated with the values, and never released or searched for.

use zeroize::Zeroizing;

use crate::cipher::{Format, Key, OVERHEAD, Unauthentic, context};
use crate::entropy::Entropy;
use crate::padded::{self, Plain};
use crate::{Vault, VaultError};

/// The longest state, in bytes.
const LONGEST_STATE: usize = 64 * 1024;
/// The shortest padded text.
const SHORTEST_PADDED: usize = 512;
/// The length's own bytes.
const PREFIX: usize = 4;

/// What a state is about. There are no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateName {
    /// Consents that outlive a session.
    Consents,
    /// The end of the audit log, so that a cut shows.
    AuditHead,
    /// The user's own phrase, by which a true consent page is known.
    Phrase,
    /// Settings that must not be changed behind the user's back.
    Settings,
    /// Words of pages that were withheld from the model as an attack, for the user to look at.
    Quarantine,
    /// How often an agent wrote a value that it did not get from the guard.
    Guesses,
}

impl StateName {
    /// Every name, in the order of the file's numbers.
    pub const ALL: [StateName; 6] = [
        StateName::Consents,
        StateName::AuditHead,
        StateName::Phrase,
        StateName::Settings,
        StateName::Quarantine,
        StateName::Guesses,
    ];

    /// The name in words, for messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            StateName::Consents => "consents",
            StateName::AuditHead => "audit head",
            StateName::Phrase => "phrase",
            StateName::Settings => "settings",
            StateName::Quarantine => "quarantine",
            StateName::Guesses => "guesses",
        }
    }

    /// The state's number in a file. Numbers are never given anew.
    pub(crate) fn code(self) -> u8 {
        match self {
            StateName::Consents => 1,
            StateName::AuditHead => 2,
            StateName::Phrase => 3,
            StateName::Settings => 4,
            StateName::Quarantine => 5,
            StateName::Guesses => 6,
        }
    }
}

/// One encrypted state.
pub(crate) struct State {
    pub(crate) name: StateName,
    pub(crate) sealed: Vec<u8>,
}

/// Whether a state's sealed form can have this length.
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
        let sealed = padded::seal::<PREFIX>(key, &bound(name, vault), text, SHORTEST_PADDED, entropy)
            .map_err(|Unauthentic| too_long)?;
        Ok(State { name, sealed })
    }

    /// Decrypts the text.
    pub(crate) fn unseal(&self, vault: &[u8; 16], key: &Key) -> Result<Plain, VaultError> {
        padded::unseal::<PREFIX>(key, &bound(self.name, vault), &self.sealed)
            .map_err(|Unauthentic| VaultError::StateDamaged(self.name))
    }
}

/// What a state's ciphertext is bound to.
fn bound(name: StateName, vault: &[u8; 16]) -> Vec<u8> {
    context(&[Format::V2.label("state").as_bytes(), vault, name.as_str().as_bytes()])
}

impl Vault {
    /// What is kept under `name`, if anything ever was.
    ///
    /// # Errors
    /// [`VaultError::Locked`], and [`VaultError::StateDamaged`] where memory was changed.
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

    /// Keeps `text` under `name`, in place of what was there: at most 64 KiB of any bytes, also none. Counts
    /// as a change of the vault.
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
}
