//! The opening of a guard: the user's own vault, and the errors.

use policy_dfa::{PolicyError, Violations};
use vault::{Secret, UnlockKey};

/// The user's own vault: its bytes, the key that opens them, and the place that stores them.
pub struct UserVault<'a> {
    /// The file's content.
    pub bytes: &'a [u8],
    /// The key that opens it.
    pub key: VaultKey<'a>,
    /// Saves the vault when a standing consent or the audit log's head changes. Without a keeper, neither outlives
    /// the guard.
    pub keeper: Option<Box<dyn VaultKeeper>>,
    /// The file that the user says they replaced. Every other mismatch counts as tampering.
    pub replaced: Replaced,
}

/// The file that the user replaced since the vault and its audit log were last used together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replaced {
    /// Neither file.
    #[default]
    Nothing,
    /// The user restored the vault's file from a backup.
    Vault,
    /// The user started another log, or restored one from a copy.
    Log,
}

/// A key that opens a vault.
pub enum VaultKey<'a> {
    /// The vault's passphrase.
    Passphrase(&'a Secret),
    /// The key that an unlock cache stored.
    Cached(&'a UnlockKey),
}

pub use crate::storage::vault_file::VaultKeeper;

/// Why a guard could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The policy text has errors. Each has its place in the text.
    #[error("the policy cannot be read: {0}")]
    Policy(#[from] PolicyError),
    /// The policy breaks an invariant, with a case for each.
    #[error("the policy is refused, because it breaks an invariant: {0}")]
    Refused(#[from] Violations),
    /// A model or a list that ships with the guard cannot be read.
    #[error("a part of the guard cannot be read: {0}")]
    Part(String),
    /// The vault could not be opened.
    #[error("the vault cannot be opened: {0}")]
    Vault(String),
    /// The audit log does not match the head that the vault stores.
    #[error(
        "the audit log does not go with the vault: {0}; look at it with `portcullis audit verify`, and if you \
         replaced it yourself, say so with `portcullis vault accept`"
    )]
    Audit(String),
    /// The audit log names a newer vault.
    #[error(
        "the vault's file is an older copy (change {found}, and the audit log knows change {known}); restore the \
         newer one, or if you put it back yourself, say so with `portcullis vault accept`"
    )]
    OlderVault {
        /// The file's generation.
        found: u64,
        /// The newest generation that the log names.
        known: u64,
    },
}
