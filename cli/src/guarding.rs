//! The guard of a program between an agent and a browser, with the user's vault and log or without.

use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis::Guard;
use portcullis::audit::{AuditLog, FolderLog, MemoryLog};
use portcullis::consent::Answerer;
use portcullis::guard::SystemEntropy;

use crate::failure::Failure;
use crate::vault::{Guarded, SourceArguments, Target, pinentry};

/// The parts of a guard.
#[derive(clap::Args)]
pub struct Guarding {
    /// The vault's file. Without one there are no values, and nothing is released.
    #[arg(long, value_name = "FILE", requires = "audit")]
    pub vault: Option<PathBuf>,
    /// Read the vault's passphrase from this file descriptor. Without it the vault must be unlocked first (`portcullis
    /// vault unlock FILE`).
    #[arg(long, value_name = "NUMBER", requires = "vault")]
    pub passphrase_fd: Option<u32>,
    /// Where the vault is locked, you are asked for its passphrase in a window (`pinentry`), and its key stays in the system's keyring for
    /// this time, also if the client starts again; with 0 it does not.
    #[arg(long, value_name = "MINUTES", default_value_t = 15, requires = "vault")]
    pub keep_unlocked: u64,
    /// Lock the vault once you have neither begun a task nor answered a question for this time. It is locked also by `portcullis vault
    /// lock`, when you lock the screen, and when the system sleeps; it opens again with `portcullis vault unlock`, or at your next task.
    #[arg(long, value_name = "MINUTES", requires = "vault", value_parser = clap::value_parser!(u64).range(1..))]
    pub idle: Option<u64>,
    /// Record decisions in this audit log, which is created if it does not exist.
    #[arg(long, value_name = "FOLDER")]
    pub audit: Option<PathBuf>,
    #[command(flatten)]
    pub sources: SourceArguments,
    /// The policy; by default the shipped policy of approach B.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

impl Guarding {
    /// Opens the vault by its cached key or the file descriptor. Standard input is never read, since it may belong to
    /// the agent.
    pub fn unlock(&self) -> Result<Option<Guarded>, Failure> {
        let (Some(vault), Some(audit)) = (&self.vault, &self.audit) else { return Ok(None) };
        let mut key = None;
        if self.passphrase_fd.is_none() && crate::vault::cached_key(vault)?.is_none() {
            let keep = Duration::from_secs(self.keep_unlocked.saturating_mul(60));
            key = pinentry::unlock(vault, keep)?;
            if key.is_none() {
                return Err(Failure::NotSetUp(format!(
                    "{0} is locked: run `portcullis vault unlock {0}` first, or hand the passphrase over with \
                     `--passphrase-fd`; with a display and the program `pinentry` you are asked in a window",
                    vault.display()
                )));
            }
        }
        let target = Target { vault: vault.clone(), passphrase_fd: self.passphrase_fd, audit: None };
        Guarded::open(&target, audit, key).map(Some)
    }

    /// The policy's text.
    pub fn policy(&self) -> Result<String, Failure> {
        let read = self.policy.as_deref().map(crate::read_text).transpose()?;
        Ok(read.unwrap_or_else(|| portcullis::DEFAULT_POLICY.to_owned()))
    }

    /// The guard.
    pub fn guard(&self, opened: Option<Guarded>, answerer: Box<dyn Answerer>) -> Result<Guard, Failure> {
        let policy = self.policy()?;
        if let Some(opened) = opened {
            let keep = Duration::from_secs(self.keep_unlocked.saturating_mul(60));
            let guard = opened.guard(&policy, answerer, &self.sources, Some(keep))?;
            return Ok(match self.idle {
                Some(minutes) => guard.with_idle_lock(Duration::from_secs(minutes.saturating_mul(60))),
                None => guard,
            });
        }
        let log = self.log()?;
        let made = Guard::new(&policy, log, answerer, Box::new(SystemEntropy));
        made.map_err(|error| Failure::Input(error.to_string()))
    }

    /// Opens the log of a guard without a vault.
    pub fn log(&self) -> Result<Box<dyn AuditLog>, Failure> {
        Ok(match self.audit.as_deref() {
            Some(folder) => Box::new(in_folder(folder)?),
            None => Box::new(MemoryLog::default()),
        })
    }
}

/// Opens the log of a folder, and reports releases that an earlier run left unfinished.
fn in_folder(folder: &Path) -> Result<FolderLog, Failure> {
    let opened = FolderLog::open(folder).map_err(|error| Failure::Input(error.to_string()))?;
    for release in &opened.unfinished {
        eprintln!("it is not known how this ended: {release}");
    }
    Ok(opened.log)
}
