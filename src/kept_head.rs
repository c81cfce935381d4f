//! The head of the audit log that a vault keeps: by it a log that was cut shows, and a vault that was put back
//! from a copy.

use std::io;

use vault::{Entropy, StateName, Vault};

use crate::audit::{AuditLog, HeadSigner, SignedHead};
use crate::guard::GuardError;

/// The head that a vault keeps, if it keeps one.
///
/// # Errors
/// [`GuardError::Vault`] for a locked vault, [`GuardError::Audit`] for a head that cannot be read.
pub fn known(vault: &Vault) -> Result<Option<SignedHead>, GuardError> {
    let kept = vault.state(StateName::AuditHead).map_err(|error| GuardError::Vault(error.to_string()))?;
    let Some(text) = kept.filter(|text| !text.is_empty()) else { return Ok(None) };
    let head = std::str::from_utf8(&text).ok().and_then(|text| SignedHead::parse(text).ok());
    head.map(Some).ok_or_else(|| GuardError::Audit("the head that the vault keeps is damaged".to_owned()))
}

/// Checks that the log still holds what the vault saw of it, and that the vault is not older than the log.
///
/// # Errors
/// [`GuardError::Audit`], [`GuardError::OlderVault`], or as [`known`].
pub fn check(vault: &Vault, audit: &dyn AuditLog) -> Result<(), GuardError> {
    let newest = audit.check(known(vault)?.as_ref(), vault.public_key()).map_err(GuardError::Audit)?;
    is_not_older(vault, newest)
}

/// Checks that the vault is not older than `newest`, the generation that a log's newest head names.
pub(crate) fn is_not_older(vault: &Vault, newest: Option<u64>) -> Result<(), GuardError> {
    match newest {
        Some(known) if known > vault.generation() => {
            Err(GuardError::OlderVault { found: vault.generation(), known })
        }
        _ => Ok(()),
    }
}

/// Signs the head of the log and keeps it in the vault, which is to be saved after this. Says whether there was a
/// head to sign.
///
/// `saved` is the generation of the vault's file as it lies on the disk: were the head to name a later one, and
/// the save not come about, the file would be taken for an old copy.
///
/// # Errors
/// Those of the log, and of a vault that is locked.
pub fn keep(
    vault: &mut Vault,
    saved: u64,
    audit: &mut dyn AuditLog,
    entropy: &mut dyn Entropy,
    unix_ms: u64,
) -> io::Result<bool> {
    let Some(head) = audit.sign_head(&AsSaved { vault, saved }, unix_ms)? else { return Ok(false) };
    let kept = vault.set_state(StateName::AuditHead, head.to_text().as_bytes(), entropy);
    kept.map(|()| true).map_err(io::Error::other)
}

/// Signs the head of the log for a vault that was just saved, so that an older copy of its file shows.
///
/// # Errors
/// Those of the log.
pub fn settle(vault: &Vault, audit: &mut dyn AuditLog, unix_ms: u64) -> io::Result<()> {
    audit.sign_head(&AsSaved { vault, saved: vault.generation() }, unix_ms).map(drop)
}

/// Forgets the head, for a user who says that the log is another one than before. Whatever log is shown to the
/// vault next is taken for its own if its heads are signed by it.
///
/// # Errors
/// [`GuardError::Vault`] for a locked vault.
pub fn forget(vault: &mut Vault, entropy: &mut dyn Entropy) -> Result<(), GuardError> {
    let forgotten = vault.set_state(StateName::AuditHead, b"", entropy);
    forgotten.map_err(|error| GuardError::Vault(error.to_string()))
}

/// A vault that may have changes which are not in its file yet.
struct AsSaved<'a> {
    vault: &'a Vault,
    saved: u64,
}

impl HeadSigner for AsSaved<'_> {
    fn public_key(&self) -> [u8; 32] {
        self.vault.public_key()
    }

    fn sign(&self, message: &[u8]) -> Option<[u8; 64]> {
        self.vault.sign(message).ok()
    }

    fn generation(&self) -> Option<u64> {
        Some(self.saved)
    }
}
