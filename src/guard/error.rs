//! Errors of making a guard.

/// Why a guard could not be made.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The policy text has errors.
    #[error("the policy cannot be read: {0}")]
    Policy(String),
    /// The policy breaks an invariant.
    #[error("the policy is refused, because it breaks an invariant: {0}")]
    Refused(String),
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
