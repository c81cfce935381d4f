//! One-time codes that the guard makes from a seed of the user's (TOTP, RFC 6238).
//!
//! | module | subject |
//! |---|---|
//! | `seed` | the seed as a site shows it, and the code of a step |
//! | `steps` | the steps whose codes were given, so that none is given twice |
//!
//! A seed is stored as the `one_time_code` of a `login:` or `otp:` record. It never leaves the vault: a grant releases the code of the
//! present step alone, which is then a value for one task.

mod seed;
mod steps;
#[cfg(test)]
mod tests;

use browser_signals::Origin;
use policy_dfa::{Grant, MayHoldT2, Reason};
use sirl::{Field, FieldSet, Kind};

use crate::content::binding::Binding;
use crate::content::handle::name_of_host;
use crate::crypto::cipher::Entropy;
use crate::crypto::secret::Secret;
use crate::error::VaultError;
use crate::release::ReleaseError;
use crate::state_name::StateName;
use crate::store::vault::Vault;

pub use seed::SeedError;
pub(crate) use seed::{CodeSeed, secret_of};
use steps::Steps;

/// The time for which a code must still be good when it is made, in seconds. The agent has yet to send the form.
const LEAST_LEFT: u64 = 4;

/// A step whose code is to be given.
pub(crate) struct Given {
    /// The name under which it is noted.
    pub(crate) name: [u8; 8],
    pub(crate) step: u64,
    /// The seconds that are left of it.
    pub(crate) left: u64,
}

/// Why no code could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// The code of this step was given already, or the step is about to end.
    #[error("the next one-time code is there in {seconds} seconds")]
    Wait {
        /// The seconds until the next step.
        seconds: u64,
    },
    /// The seed or the steps could not be read or noted.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The seed could not be read.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

impl CodeError {
    /// The reason.
    pub fn reason(&self) -> Reason {
        match self {
            CodeError::Wait { .. } => Reason::CodeUsed,
            CodeError::Vault(VaultError::Locked) => Reason::VaultLocked,
            CodeError::Vault(_) => Reason::CodeNotKept,
            CodeError::Release(error) => error.reason(),
        }
    }
}

impl Vault {
    /// Makes the one-time code that a grant places, at this time in milliseconds since 1970, as a value for the task, and notes its
    /// step. Returns true if the vault changed, and false if the grant places no code, or one that was given for the task.
    /// The caller writes the vault's file before the grant is redeemed, so that no crash lets a code be given twice.
    ///
    /// # Errors
    /// [`CodeError`]; then no code is made.
    pub fn make_code<A: MayHoldT2>(
        &mut self,
        grant: &Grant<A>,
        unix_ms: u64,
        entropy: &mut dyn Entropy,
    ) -> Result<bool, CodeError> {
        let terms = grant.terms();
        let placed: FieldSet = terms.placements.iter().map(|placement| placement.field).collect();
        if !placed.contains(Field::OneTimeCode) {
            return Ok(false);
        }
        let destination = terms.destination.clone().ok_or(ReleaseError::DestinationUnknown)?;
        let receivers: [&Origin; 2] = [&terms.origin, &destination.origin];
        let supply = self.supply(terms.kind, placed, &receivers);
        let Some(handle) = supply.record(Field::OneTimeCode).map(|record| record.handle.clone()) else {
            return Ok(false);
        };
        let of_handle = |record: &&crate::content::record::Record| {
            record.handle == handle && record.field == Field::OneTimeCode && record.admits(&receivers)
        };
        let Some(record) = self.records.iter().find(of_handle) else { return Ok(false) };
        let (binding, plain) = (record.binding.clone(), self.decrypt(record)?);
        let text = std::str::from_utf8(plain.expose()).unwrap_or_default();
        let seed = CodeSeed::parse(text).map_err(|_| ReleaseError::Damaged(Field::OneTimeCode))?;
        drop(plain);
        let code = self.give(&seed, unix_ms, entropy)?;
        self.insert_for_task(&handle, Field::OneTimeCode, code, &binding, entropy)?;
        Ok(true)
    }

    /// The code of the present step of a seed, which is noted as given.
    pub(crate) fn give(
        &mut self,
        seed: &CodeSeed,
        unix_ms: u64,
        entropy: &mut dyn Entropy,
    ) -> Result<Secret, CodeError> {
        let (step, left) = seed.step(unix_ms / 1000);
        self.note_given(&Given { name: seed.name(), step, left }, entropy)?;
        let code = seed.code(step);
        Ok(Secret::filled(code.len(), |out| out.copy_from_slice(code.as_bytes())))
    }

    /// Notes that the code of a step is given, unless one of this step or a later one was.
    pub(crate) fn note_given(&mut self, given: &Given, entropy: &mut dyn Entropy) -> Result<(), CodeError> {
        let mut steps = Steps::read(self.state(StateName::CodeSteps)?.as_deref());
        if !steps.is_new(given.name, given.step) || given.left < LEAST_LEFT {
            return Err(CodeError::Wait { seconds: given.left });
        }
        steps.note(given.name, given.step);
        Ok(self.set_state(StateName::CodeSteps, &steps.to_bytes(), entropy)?)
    }

    /// Keeps a code that the user typed for one task: with the login of this origin, or as a record of its own.
    ///
    /// # Errors
    /// Those of [`Vault::insert_for_task`].
    pub fn keep_typed_code(
        &mut self,
        to: &Origin,
        code: Secret,
        entropy: &mut dyn Entropy,
    ) -> Result<(), VaultError> {
        let password = FieldSet::EMPTY.with(Field::Password);
        let logins = self.suppliers(Kind::Login, password, to);
        let login = logins.into_iter().find(|(_, field)| *field == Field::Password).map(|(handle, _)| handle);
        let handle = login.unwrap_or_else(|| format!("otp:{}", name_of_host(to.host())));
        self.insert_for_task(&handle, Field::OneTimeCode, code, &Binding::Origin(to.clone()), entropy)
    }

    /// Forgets the codes of this task, where the vault's file could not be written. Their steps stay noted.
    pub fn forget_codes(&mut self) {
        self.task.records.retain(|record| record.field != Field::OneTimeCode);
    }

    /// Returns true if the record has a seed of one-time codes.
    pub fn makes_codes(&self, handle: &str) -> bool {
        self.records.iter().any(|record| record.handle == handle && record.field == Field::OneTimeCode)
    }
}
