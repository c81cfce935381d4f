//! Records changes of a vault in an audit log, if the user names one.

use std::path::{Path, PathBuf};

use portcullis::audit::{AuditEvent, AuditLog, FolderLog, LogError, LogOptions, SessionId, VaultAct};
use portcullis::guard::{GuardError, SystemEntropy};
use portcullis::stored_head;
use portcullis::vault::Vault;

use crate::failure::Failure;

/// The name of the vault's stored head in error messages of the log.
const KNOWN_HEAD: &str = "the known head";

/// An audit log that is open for writing.
pub struct Log {
    log: FolderLog,
    folder: PathBuf,
}

/// The check of the vault's age against the log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Age {
    Newest,
    Any,
}

impl Log {
    /// Opens a log that belongs to the vault, or creates one.
    pub fn open(folder: &Path, vault: &Vault, age: Age) -> Result<Log, Failure> {
        let known = stored_head::load(vault).map_err(|error| misfit(folder, &error))?;
        // This rejects the log before the record of its opening is added to it.
        let log = Log::open_with(folder, LogOptions { known, ..LogOptions::now() })?;
        match stored_head::check(vault, &log.log) {
            Ok(()) => Ok(log),
            Err(GuardError::OlderVault { .. }) if age == Age::Any => Ok(log),
            Err(error) => Err(misfit(folder, &error)),
        }
    }

    /// Opens a log, or creates one, without checking it against the vault.
    pub fn open_any(folder: &Path) -> Result<Log, Failure> {
        Log::open_with(folder, LogOptions::now())
    }

    fn open_with(folder: &Path, opening: LogOptions) -> Result<Log, Failure> {
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

    /// Returns true if the log knows a newer version of the vault.
    pub fn is_newer_than(&self, vault: &Vault) -> bool {
        let newest = self.log.check(None, vault.public_key());
        matches!(newest, Ok(Some(newest)) if newest > vault.generation())
    }

    /// Writes a record to disk.
    pub fn record(&mut self, event: &AuditEvent) -> Result<(), Failure> {
        let written = self.log.append(SessionId::LOG, event, LogOptions::now().unix_ms, true);
        written.map_err(|error| unwritten(&self.folder, &error))
    }

    /// Records the next change on disk, and stores the log's head in the vault, which is saved next. `saved` is the
    /// generation of its file.
    pub fn intend(&mut self, vault: &mut Vault, saved: u64, events: &[AuditEvent]) -> Result<(), Failure> {
        for event in events {
            self.record(event)?;
        }
        let now = LogOptions::now().unix_ms;
        let kept = stored_head::store(vault, saved, &mut self.log, &mut SystemEntropy, now);
        kept.map(drop).map_err(|error| unwritten(&self.folder, &error))
    }

    /// Signs the log's head for the saved vault, so that an older copy of the file can be detected.
    pub fn settle(&mut self, vault: &Vault) {
        if let Err(error) = stored_head::sign_after_save(vault, &mut self.log, LogOptions::now().unix_ms) {
            eprintln!(
                "warning: it was done, and the head of {} was not signed: {error}",
                self.folder.display()
            );
        }
    }
}

/// An event that leaves the vault's file at a generation.
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
