//! The path of a vault's file, and its problems in words for the owner.

use std::path::{Path, PathBuf};

use portcullis::storage::vault_file::VaultFileError;
use portcullis::storage::{AtomicFileError, FolderError, LockError, SafeFolder};

use crate::failure::Failure;

/// Rejects the path of a new vault before any question or change.
pub fn check_new(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() {
        return Err(Failure::Input(format!("{} exists already; nothing was changed", path.display())));
    }
    match SafeFolder::open(folder(path)) {
        Ok(_) => Ok(()),
        // The folder will be created, closed to others.
        Err(error) if error.is_missing() => Ok(()),
        Err(FolderError::Open { path: folder, mode, .. }) => {
            let named = if folder == Path::new(".") {
                "this folder".to_owned()
            } else {
                format!("the folder {}", folder.display())
            };
            Err(Failure::Input(format!(
                "{named} is open to others (mode {mode:04o}), and a vault needs a folder that only you can open; \
                 name one that is not there yet and it is made so: `portcullis vault init ~/.portcullis/vault`"
            )))
        }
        Err(other) => Err(Failure::Input(other.to_string())),
    }
}

/// The usual place of the vault, or of its log, in the user's home folder.
pub fn usual(name: &str) -> PathBuf {
    discovery::variable("HOME").map(PathBuf::from).unwrap_or_default().join(".portcullis").join(name)
}

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The problem with the file of a vault that should exist.
pub fn unusable(path: &Path, error: &VaultFileError) -> Failure {
    Failure::Input(trouble(path, error))
}

/// What to do about a vault that another program has open.
const IN_USE: &str =
    "end that program first, or let several clients share one guard (`portcullis mcp --port`)";

/// The same as text.
pub fn trouble(path: &Path, error: &VaultFileError) -> String {
    let vault = path.display();
    match error {
        VaultFileError::File(AtomicFileError::Missing { .. }) => no_vault(path),
        VaultFileError::Folder(error) if error.is_missing() => no_vault(path),
        VaultFileError::File(AtomicFileError::NoBackup { number, .. }) => {
            format!("{vault} has no backup {number}; `portcullis vault show-meta {vault}` names those it has")
        }
        VaultFileError::File(AtomicFileError::OnlyBackups { .. }) => {
            format!(
                "{vault} is gone and its backups are there; put one back: `portcullis vault restore {vault}`"
            )
        }
        VaultFileError::Lock(LockError::InUse { pid: Some(pid), .. }) => {
            format!("{vault} is in use by process {pid}; {IN_USE}")
        }
        VaultFileError::Lock(LockError::InUse { pid: None, .. }) => {
            format!("{vault} is in use by another program; {IN_USE}")
        }
        other => other.to_string(),
    }
}

fn no_vault(path: &Path) -> String {
    format!("there is no vault {0}; `portcullis vault init {0}` makes one", path.display())
}

/// A count with its noun: `1 value`, `2 values`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
