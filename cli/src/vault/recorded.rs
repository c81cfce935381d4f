//! Recording what is done to a vault in an audit log, where the user names one.

use std::path::{Path, PathBuf};

use portcullis::audit::{AuditEvent, AuditLog, FolderLog, LogError, Opening, SessionId, VaultAct};
use portcullis::guard::{GuardError, SystemEntropy};
use portcullis::kept_head;
use portcullis::vault::Vault;

use crate::failure::Failure;

/// What a log calls the head that its vault keeps, where it says which head it does not fit.
const KNOWN_HEAD: &str = "the known head";

/// An audit log, open to write to.
pub struct Log {
    log: FolderLog,
    folder: PathBuf,
}

/// Whether a vault may be older than what the log knows of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Age {
    Newest,
    Any,
}

impl Log {
    /// Opens a log that goes with the vault, or makes one.
    pub fn open(folder: &Path, vault: &Vault, age: Age) -> Result<Log, Failure> {
        let known = kept_head::known(vault).map_err(|error| misfit(folder, &error))?;
        // By this the log is refused before the record of its opening is added to it.
        let log = Log::open_with(folder, Opening { known, ..Opening::now() })?;
        match kept_head::check(vault, &log.log) {
            Ok(()) => Ok(log),
            Err(GuardError::OlderVault { .. }) if age == Age::Any => Ok(log),
            Err(error) => Err(misfit(folder, &error)),
        }
    }

    /// Opens a log, or makes one, whatever the vault knows of it.
    pub fn open_any(folder: &Path) -> Result<Log, Failure> {
        Log::open_with(folder, Opening::now())
    }

    fn open_with(folder: &Path, opening: Opening) -> Result<Log, Failure> {
        let opened = FolderLog::open_with(folder, opening).map_err(|error| match error {
            LogError::Broken { broken, .. } if broken.file == KNOWN_HEAD => {
                misfit(folder, &GuardError::Audit(broken.problem.to_string()))
            }
            other => Failure::Input(format!("{other}; nothing was changed")),
        })?;
        for release in &opened.unfinished {
            eprintln!("warning: it is not known how this ended, and the log now says so: {release}");
        }
        Ok(Log { log: opened.log, folder: folder.to_owned() })
    }

    /// Whether the log knows a newer vault than this.
    pub fn is_newer_than(&self, vault: &Vault) -> bool {
        let newest = self.log.check(None, vault.public_key());
        matches!(newest, Ok(Some(newest)) if newest > vault.generation())
    }

    /// Puts a record on the disk.
    pub fn record(&mut self, event: &AuditEvent) -> Result<(), Failure> {
        let written = self.log.append(SessionId::LOG, event, Opening::now().unix_ms, true);
        written.map_err(|error| unwritten(&self.folder, &error))
    }

    /// Puts on the disk what is about to be done, and the log's head into the vault, which is to be saved next.
    /// `saved` is the generation of its file.
    pub fn intend(&mut self, vault: &mut Vault, saved: u64, events: &[AuditEvent]) -> Result<(), Failure> {
        for event in events {
            self.record(event)?;
        }
        let now = Opening::now().unix_ms;
        let kept = kept_head::keep(vault, saved, &mut self.log, &mut SystemEntropy, now);
        kept.map(drop).map_err(|error| unwritten(&self.folder, &error))
    }

    /// Signs the log's head for the vault as it was saved, so that an older copy of the file shows.
    pub fn settle(&mut self, vault: &Vault) {
        if let Err(error) = kept_head::settle(vault, &mut self.log, Opening::now().unix_ms) {
            eprintln!(
                "warning: it was done, and the head of {} was not signed: {error}",
                self.folder.display()
            );
        }
    }
}

/// An act that leaves the vault's file at a generation.
pub fn act(act: VaultAct, generation: u64) -> AuditEvent {
    AuditEvent::Vault { act, generation }
}

fn unwritten(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::Input(format!(
        "the audit log {} cannot be written: {error}; nothing was changed",
        folder.display()
    ))
}

fn misfit(folder: &Path, error: &GuardError) -> Failure {
    Failure::Input(format!("{}: {error} and `--audit {0}`; nothing was changed", folder.display()))
}
