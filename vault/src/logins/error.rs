//! Why a login cannot be saved or opened.

use policy_dfa::Reason;

use crate::error::VaultError;
use crate::release::error::ReleaseError;

/// An error of a saved login. No message has a part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The site keeps nothing in the browser.
    #[error("the site keeps nothing in this browser, so there is no login to save; log in first")]
    Empty,
    /// The state is too large.
    #[error("the site keeps more than {limit} MiB in the browser, and no more is saved of a login")]
    TooLarge {
        /// The largest, in MiB.
        limit: usize,
    },
    /// The vault has as many logins as it can.
    #[error("the vault has 32 saved logins, and no more; forget one first")]
    Full,
    /// The vault has no such login.
    #[error("no login is saved for this site; save one with `portcullis login`")]
    NotSaved,
    /// Its time is over.
    #[error("the saved login has ended; log in again with `portcullis login`")]
    Ended,
    /// The file is missing, another one, or changed.
    #[error(
        "the file of the saved login is missing or not the newest one; log in again with `portcullis login`"
    )]
    Damaged,
    /// The grant was not accepted.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// The vault is locked, or refuses its list.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl LoginError {
    /// The reason in records.
    pub fn reason(&self) -> Reason {
        match self {
            LoginError::Release(error) => error.reason(),
            LoginError::Vault(VaultError::Locked) => Reason::VaultLocked,
            LoginError::Empty | LoginError::NotSaved | LoginError::Ended => Reason::NoValue,
            LoginError::TooLarge { .. } | LoginError::Full | LoginError::Damaged | LoginError::Vault(_) => {
                Reason::ValueDamaged
            }
        }
    }
}
