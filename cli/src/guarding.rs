//! A guard for a program that stands between an agent and a browser: with the user's vault and log, or without.

use std::path::{Path, PathBuf};

use portcullis::Guard;
use portcullis::audit::{AuditLog, FolderLog, MemoryLog};
use portcullis::consent::Answerer;
use portcullis::guard::{Replaced, SystemEntropy, UserVault, VaultKey};
use portcullis::vault::{Secret, StateName, UnlockKey};
use portcullis::vault_file::VaultFile;

use crate::failure::Failure;
use crate::vault::{By, Opened, Target};

/// What a guard is made from.
#[derive(clap::Args)]
pub struct Guarding {
    /// The vault's file. Without one there are no values, and nothing is released.
    #[arg(long, value_name = "FILE")]
    pub vault: Option<PathBuf>,
    /// Read the vault's passphrase from this file descriptor. Without it the vault must be unlocked first
    /// (`portcullis vault unlock FILE`).
    #[arg(long, value_name = "NUMBER", requires = "vault")]
    pub passphrase_fd: Option<u32>,
    /// Record what is decided in this audit log, which is made where there is none.
    #[arg(long, value_name = "FOLDER")]
    pub audit: Option<PathBuf>,
    /// The policy; approach B's, which is shipped, by default.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// A vault that was opened for a guard.
pub struct Unlocked {
    file: VaultFile,
    key: Key,
    /// The words by which the user knows the consent page.
    pub phrase: Option<String>,
}

/// What opened it.
enum Key {
    Cached(UnlockKey),
    Passphrase(Secret),
}

impl Guarding {
    /// Opens the vault, by its cached key or the file descriptor. Standard input is never read: it may be the agent's.
    pub fn unlock(&self) -> Result<Option<Unlocked>, Failure> {
        let Some(vault) = &self.vault else { return Ok(None) };
        let target = Target { vault: vault.clone(), passphrase_fd: self.passphrase_fd, audit: None };
        if self.passphrase_fd.is_none() && crate::vault::cached_key(vault)?.is_none() {
            return Err(locked(vault));
        }
        let (opened, passphrase) = Opened::without_log(&target.vault, &mut target.source()?, By::Cache)?;
        let phrase = opened.vault.state(StateName::Phrase).ok().flatten();
        let phrase = phrase.and_then(|words| String::from_utf8(words.to_vec()).ok());
        let key = match passphrase {
            Some(passphrase) => Key::Passphrase(passphrase),
            None => Key::Cached(crate::vault::cached_key(vault)?.ok_or_else(|| locked(vault))?),
        };
        Ok(Some(Unlocked { file: opened.into_file(), key, phrase }))
    }

    /// The guard.
    pub fn guard(&self, unlocked: Option<Unlocked>, answerer: Box<dyn Answerer>) -> Result<Guard, Failure> {
        let policy = self.policy.as_deref().map(crate::read_text).transpose()?;
        let policy = policy.as_deref().unwrap_or(portcullis::DEFAULT_POLICY);
        let log = match self.audit.as_deref() {
            Some(folder) => log(folder)?,
            None => Box::new(MemoryLog::default()),
        };
        let entropy = Box::new(SystemEntropy);
        let made = match unlocked {
            None => Guard::new(policy, log, answerer, entropy),
            Some(Unlocked { file, key, .. }) => {
                let bytes = file.bytes().to_vec();
                let vault = UserVault {
                    bytes: &bytes,
                    key: match &key {
                        Key::Cached(key) => VaultKey::Cached(key),
                        Key::Passphrase(passphrase) => VaultKey::Passphrase(passphrase),
                    },
                    keeper: Some(Box::new(file)),
                    replaced: Replaced::Nothing,
                };
                Guard::with_vault(policy, vault, log, answerer, entropy)
            }
        };
        made.map_err(|error| Failure::Input(error.to_string()))
    }
}

fn locked(vault: &Path) -> Failure {
    Failure::NotSetUp(format!(
        "{0} is locked: run `portcullis vault unlock {0}` first, or hand the passphrase over with `--passphrase-fd`",
        vault.display()
    ))
}

/// The log of a folder. What an earlier run left unfinished is said.
fn log(folder: &Path) -> Result<Box<dyn AuditLog>, Failure> {
    let opened = FolderLog::open(folder).map_err(|error| Failure::Input(error.to_string()))?;
    for release in &opened.unfinished {
        eprintln!("it is not known how this ended: {release}");
    }
    Ok(Box::new(opened.log))
}
