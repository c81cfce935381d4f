//! Why a source gives nothing. No message has a word of the source's own: it may be a value.

use policy_dfa::Reason;

use crate::codes::CodeError;
use crate::error::VaultError;

/// Why a source gives nothing, in words for the user, after its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The program is not there, or does not run.
    #[error("it does not run; start it")]
    NotRunning,
    /// Its program or its store is not there.
    #[error("its program or its store is not there")]
    Missing,
    /// It is locked.
    #[error("it is locked; unlock it in its own window")]
    Locked,
    /// It does not know this guard.
    #[error("it does not know this guard; connect it with `portcullis vault connect`")]
    NotConnected,
    /// The user refused in the source's own window.
    #[error("the request was refused in its own window")]
    Refused,
    /// Others may have made its socket, or may replace it.
    #[error(
        "its socket is not yours alone, so nothing was asked; close it, remove the socket, and start it as yourself"
    )]
    Unsafe,
    /// It has more accounts for the site than a question shows.
    #[error(
        "it has more than nine accounts for this site; move those that the guard does not need elsewhere"
    )]
    TooMany,
    /// A person could not tell several of its accounts for the site apart.
    #[error(
        "it has several accounts for this site that look alike, or whose names are too long to show; rename them"
    )]
    Alike,
    /// Its entry names no site.
    #[error(
        "its entry does not say for which site it is; write the site's address into the entry (in `pass` a line such as `url: https://shop.example`), or name the site of an entry of `pass` when you start the guard"
    )]
    WithoutSite,
    /// It has an entry and does not say whether the entry is for this site.
    #[error(
        "it does not say whether its entry is for this site; give the entry an additional attribute `KPH: portcullis` with the value `{{URL}}`"
    )]
    Unproven,
    /// It gave nothing, and does not say whether it has nothing.
    #[error("it gave no login: it has none for this site, or the request was refused there")]
    NotGiven,
    /// It did not answer in time.
    #[error("it did not answer in time; look whether it waits for you")]
    TimedOut,
    /// GnuPG did not decrypt its entry.
    #[error(
        "GnuPG did not decrypt its entry: the key is locked, missing or refused; unlock it, such as by `pass show`"
    )]
    NotDecrypted,
    /// A value has characters that no box of a form takes, or is too long.
    #[error("a value of its entry has characters that no box of a form takes, or is too long")]
    Unusable,
    /// It gave nothing several times in this task.
    #[error(
        "it gave nothing for this site three times in this task, and is not asked again; begin a new task once you have looked at it"
    )]
    GivenUp,
    /// Its answer is not understood.
    #[error("its answer is not understood; the version of the program may be another one")]
    Answer,
}

impl SourceError {
    /// The reason.
    pub const fn reason(self) -> Reason {
        Reason::SourceUnavailable
    }
}

/// Why the values of a source are not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// No wanted field has a value.
    #[error("the source has no value for the wanted fields")]
    NoValue,
    /// A value has characters that no such field has, or no seed can be read.
    #[error("a value of the source is damaged")]
    Damaged,
    /// The code could not be given.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The vault does not take the value.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl KeepError {
    /// The reason.
    pub fn reason(&self) -> Reason {
        match self {
            KeepError::NoValue => Reason::NoValue,
            KeepError::Damaged => Reason::ValueDamaged,
            KeepError::Code(error) => error.reason(),
            KeepError::Vault(VaultError::Locked) => Reason::VaultLocked,
            KeepError::Vault(_) => Reason::ValueDamaged,
        }
    }
}
