//! The end of a session: its report, or why it could not begin.

use browser_signals::Container;
use browser_signals::playwright::BridgeError;

use crate::guard::GuardError;
use crate::session::core::replies::SessionCounts;

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The prompt names no web address, so the task has no site to act on.
    #[error("the prompt names no web address; say where to go, such as https://shop.example")]
    NoOrigin,
    /// The task that an agent proposes names more sites than one prompt can show.
    #[error("the task names more sites than the user can be asked about at once; name eight at most")]
    TooManySites,
    /// The audit record cannot be written.
    #[error("the audit record cannot be written, so nothing is begun")]
    Audit,
    /// A value of the prompt could not be moved into the vault.
    #[error("a value of the prompt could not be moved into the vault: {0}")]
    Vault(String),
    /// The container's proxy could not be started.
    #[error("the container's proxy could not be started: {0}")]
    Proxy(String),
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// The guard failed.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

/// The report of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReport {
    /// The session's counts.
    pub counts: SessionCounts,
    /// The container that the user agreed to.
    pub container: Container,
}
