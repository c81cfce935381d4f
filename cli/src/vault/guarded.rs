//! A vault that is opened for a guard, which then owns it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use portcullis::audit::{FolderLog, LogOptions};
use portcullis::consent::Answerer;
use portcullis::guard::{Replaced, SystemEntropy, UserVault, VaultKey};
use portcullis::storage::login_folder::LoginFolder;
use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::{Meta, Secret, StateName, UnlockKey, Vault};
use portcullis::{Guard, stored_head};

use super::opened::{bad, open_file, verifier};
use super::sources::{Connections, SourceArguments};
use super::{Target, cache, locking};
use crate::failure::Failure;

/// A vault's file, what opens it, and its audit log.
pub struct Guarded {
    file: VaultFile,
    key: Key,
    phrase: Option<String>,
    connections: Connections,
    logins: LoginFolder,
    log: FolderLog,
    path: PathBuf,
}

enum Key {
    Cached(UnlockKey),
    Passphrase(Secret),
}

impl Guarded {
    /// Opens the file, by this key or the cached one if there is one, otherwise by the passphrase, and the log that belongs to it.
    pub fn open(target: &Target, audit: &Path, key: Option<UnlockKey>) -> Result<Guarded, Failure> {
        let bad = |error: String| Failure::Input(format!("{}: {error}", target.vault.display()));
        let file = open_file(&target.vault)?;
        let meta = Meta::read(file.bytes()).map_err(|error| bad(error.to_string()))?;
        let mut source = target.source()?;
        let is_typed = !source.is_handed_over();
        let cached = key.or_else(|| cache::find(meta.id).filter(|_| is_typed));
        let by_cache = cached.and_then(|key| {
            let vault = Vault::unlock_with_key(file.bytes(), &key, verifier().ok()?).ok()?;
            Some((vault, Key::Cached(key)))
        });
        let (vault, key) = match by_cache {
            Some(opened) => opened,
            None => {
                let passphrase = source.read("Passphrase")?;
                let vault = Vault::unlock(file.bytes(), &passphrase, verifier()?);
                (vault.map_err(|error| bad(error.to_string()))?, Key::Passphrase(passphrase))
            }
        };
        let misfit =
            |error: String| Failure::Input(format!("{}: {error}; nothing was changed", audit.display()));
        let known = stored_head::load(&vault).map_err(|error| misfit(error.to_string()))?;
        let opened = FolderLog::open_with(audit, LogOptions { known, ..LogOptions::now() });
        let opened = opened.map_err(|error| misfit(error.to_string()))?;
        for release in &opened.unfinished {
            eprintln!("warning: it is not known how this ended, and the log now says so: {release}");
        }
        let phrase = vault.state(StateName::Phrase).ok().flatten();
        let phrase = phrase.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        let connections = Connections::of(&vault);
        let logins = LoginFolder::beside(&target.vault);
        Ok(Guarded { file, key, phrase, connections, logins, log: opened.log, path: target.vault.clone() })
    }

    /// The phrase that identifies the consent page to the user.
    pub fn phrase(&self) -> Option<String> {
        self.phrase.clone()
    }

    /// The guard under a policy, with the saved logins and the chosen password managers. Its vault is locked when the user ends its use; it
    /// needs a runtime for that. With `keep` a new task asks for the passphrase of a locked vault in a window, and its key is kept for this
    /// time.
    pub fn guard(
        self,
        policy: &str,
        answerer: Box<dyn Answerer>,
        sources: &SourceArguments,
        keep: Option<Duration>,
    ) -> Result<Guard, Failure> {
        let Guarded { file, key, log, connections, logins, path, .. } = self;
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
        let guard = Guard::with_vault(policy, vault, Box::new(log), answerer, Box::new(SystemEntropy));
        let guard = guard.map_err(|error| Failure::Input(error.to_string()))?;
        let id = Meta::read(&bytes).map_err(bad)?.id;
        locking::watch(guard.lock_handle(), id);
        let guard = guard.with_key_from(Arc::new(locking::UserKey {
            vault: path,
            id,
            keep,
            gave_none: false.into(),
        }));
        connections.offered(guard.with_logins(logins), sources)
    }
}
