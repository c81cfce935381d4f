//! The head of the audit log that a vault stores. It reveals a log that was truncated, and a vault that was restored
//! from an older copy.

use std::io;

use vault::{Entropy, StateName, Vault};

use super::opening::{GuardError, Replaced};
use crate::audit::{AuditLog, HeadSigner, SignedHead};

/// The head that a vault stores, if it stores one.
///
/// # Errors
/// [`GuardError::Vault`] for a locked vault, [`GuardError::Audit`] for a head that cannot be read.
pub fn load(vault: &Vault) -> Result<Option<SignedHead>, GuardError> {
    let stored = vault.state(StateName::AuditHead).map_err(|error| GuardError::Vault(error.to_string()))?;
    let Some(text) = stored.filter(|text| !text.is_empty()) else { return Ok(None) };
    let head = std::str::from_utf8(&text).ok().and_then(|text| SignedHead::parse(text).ok());
    head.map(Some).ok_or_else(|| GuardError::Audit("the head that the vault stores is damaged".to_owned()))
}

/// Checks that the log still contains the stored head, and that the vault is not older than the log.
///
/// # Errors
/// [`GuardError::Audit`], [`GuardError::OlderVault`], or as [`load`].
pub fn check(vault: &Vault, audit: &dyn AuditLog) -> Result<(), GuardError> {
    let newest = audit.check(load(vault)?.as_ref(), vault.public_key()).map_err(GuardError::Audit)?;
    is_not_older(vault, newest)
}

/// Checks as [`check`] does, except for the file that the user replaced.
pub(super) fn check_unless_replaced(
    vault: &Vault,
    audit: &dyn AuditLog,
    replaced: Replaced,
) -> Result<(), GuardError> {
    match replaced {
        Replaced::Nothing => check(vault, audit),
        Replaced::Vault => {
            let stored = load(vault)?;
            audit.check(stored.as_ref(), vault.public_key()).map(drop).map_err(GuardError::Audit)
        }
        Replaced::Log => {
            let newest = audit.check(None, vault.public_key()).map_err(GuardError::Audit)?;
            is_not_older(vault, newest)
        }
    }
}

/// Checks that the vault is not older than `newest`, the generation that a log's newest head names.
fn is_not_older(vault: &Vault, newest: Option<u64>) -> Result<(), GuardError> {
    match newest {
        Some(known) if known > vault.generation() => {
            Err(GuardError::OlderVault { found: vault.generation(), known })
        }
        _ => Ok(()),
    }
}

/// Signs the head of the log and stores it in the vault, which the caller must save after this. Returns whether there
/// was a head to sign.
///
/// `saved` is the generation of the vault's file on the disk. If the head named a later one and the save failed, the
/// file would look like an old copy.
///
/// # Errors
/// Those of the log, and of a vault that is locked.
pub fn store(
    vault: &mut Vault,
    saved: u64,
    audit: &mut dyn AuditLog,
    entropy: &mut dyn Entropy,
    unix_ms: u64,
) -> io::Result<bool> {
    let Some(head) = audit.sign_head(&HeadOfSavedVault { vault, saved }, unix_ms)? else { return Ok(false) };
    let stored = vault.set_state(StateName::AuditHead, head.to_text().as_bytes(), entropy);
    stored.map(|()| true).map_err(io::Error::other)
}

/// Signs the head of the log for a vault that was just saved, so that an older copy of its file is detected.
///
/// # Errors
/// Those of the log.
pub fn sign_after_save(vault: &Vault, audit: &mut dyn AuditLog, unix_ms: u64) -> io::Result<()> {
    audit.sign_head(&HeadOfSavedVault { vault, saved: vault.generation() }, unix_ms).map(drop)
}

/// Clears the stored head, for a user who confirms that the log is a new one. The vault then accepts any log whose
/// heads it signed.
///
/// # Errors
/// [`GuardError::Vault`] for a locked vault.
pub fn clear(vault: &mut Vault, entropy: &mut dyn Entropy) -> Result<(), GuardError> {
    let cleared = vault.set_state(StateName::AuditHead, b"", entropy);
    cleared.map_err(|error| GuardError::Vault(error.to_string()))
}

/// Signs heads for a vault that may have changes which are not in its file yet.
struct HeadOfSavedVault<'a> {
    vault: &'a Vault,
    saved: u64,
}

impl HeadSigner for HeadOfSavedVault<'_> {
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
