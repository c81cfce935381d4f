//! An opened vault file, and its vault.

use std::path::Path;

use portcullis::audit::{AuditEvent, SignedHead, VaultAct};
use portcullis::guard::{GuardError, SystemEntropy};
use portcullis::policy::{Policy, Verifier, authority};
use portcullis::storage::vault_file::{VaultFile, VaultFileError};
use portcullis::stored_head;
use portcullis::vault::{Entropy, Meta, Secret, UnlockKey, Vault, VaultError};

use super::recorded::{Age, Log, act};
use super::secrets::Source;
use super::{Target, cache, place};
use crate::failure::Failure;

/// A vault whose file is locked against others while this exists.
pub struct Opened {
    file: VaultFile,
    /// The vault, unlocked.
    pub vault: Vault,
    /// The generation of the file.
    saved: u64,
    log: Option<Log>,
}

/// The means by which the vault may be opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The cache, unless a file descriptor gives a passphrase.
    Cache,
    /// The cache for a person at a terminal. In a script the first line is always the passphrase: if it were sometimes
    /// a value, the script's passphrase would be stored as a value.
    CacheIfTyped,
    /// The passphrase only.
    Passphrase,
}

impl Opened {
    /// Opens a vault, by its cached key if that is allowed, otherwise by the passphrase, which is returned too. An
    /// audit log must belong to the vault, and the opening is recorded in it.
    pub fn open(target: &Target, source: &mut Source, by: By) -> Result<(Opened, Option<Secret>), Failure> {
        let (mut opened, passphrase) = Opened::without_log(&target.vault, source, by)?;
        if let Some(folder) = &target.audit {
            let mut log = Log::open(folder, &opened.vault, Age::Newest)?;
            log.record(&act(VaultAct::Opened, opened.saved))?;
            opened.log = Some(log);
        }
        Ok((opened, passphrase))
    }

    /// Opens a vault that was open in this command already, by the passphrase that opened it, or else by the cached key.
    pub fn again(target: &Target, passphrase: Option<Secret>) -> Result<Opened, Failure> {
        let by = if passphrase.is_some() { By::Passphrase } else { By::Cache };
        let mut source = match passphrase {
            Some(passphrase) => Source::holding(passphrase),
            None => target.source()?,
        };
        Opened::open(target, &mut source, by).map(|(opened, _)| opened)
    }

    /// Opens a vault without checking its audit log.
    pub fn without_log(
        path: &Path,
        source: &mut Source,
        by: By,
    ) -> Result<(Opened, Option<Secret>), Failure> {
        let file = open_file(path)?;
        let (vault, passphrase) = unlock(path, file.bytes(), source, by)?;
        let saved = vault.generation();
        Ok((Opened { file, vault, saved, log: None }, passphrase))
    }

    /// A vault that was unlocked with the file's key.
    pub fn new(file: VaultFile, vault: Vault, log: Option<Log>) -> Opened {
        let saved = vault.generation();
        Opened { file, vault, saved, log }
    }

    /// The key that opens the file without its passphrase.
    pub fn key(&self, passphrase: &Secret) -> Result<UnlockKey, Failure> {
        Vault::unlock_key(self.file.bytes(), passphrase).map_err(bad)
    }

    /// Records in this log from now on, without checking it against the vault.
    pub fn record_in(&mut self, log: Log) {
        self.log = Some(log);
    }

    /// Writes changed values, after recording the change in the log. The previous file becomes a backup.
    pub fn save(&mut self, done: VaultAct) -> Result<(), Failure> {
        let event = act(done, self.generation_to_be());
        self.write(&[event], |file, bytes| file.save(bytes))
    }

    /// Writes changes of the header, after recording them in the log. No backup is made.
    pub fn refresh(&mut self, events: &[AuditEvent]) -> Result<(), Failure> {
        self.write(events, |file, bytes| file.refresh(bytes))
    }

    fn write(
        &mut self,
        events: &[AuditEvent],
        put: impl FnOnce(&mut VaultFile, &[u8]) -> Result<(), VaultFileError>,
    ) -> Result<(), Failure> {
        if let Some(log) = &mut self.log {
            log.intend(&mut self.vault, self.saved, events)?;
        }
        let bytes = self.vault.to_bytes(&mut SystemEntropy).map_err(bad)?;
        put(&mut self.file, &bytes).map_err(|error| {
            let logged = if self.log.is_some() { ", and the audit log has the intent" } else { "" };
            Failure::Input(format!("{error}; the old file is untouched{logged}"))
        })?;
        self.saved = self.vault.generation();
        if let Some(log) = &mut self.log {
            log.settle(&self.vault);
        }
        Ok(())
    }

    /// The generation of the file when it is saved: storing the log's head is one more change.
    pub fn generation_to_be(&self) -> u64 {
        self.vault.generation() + u64::from(self.log.is_some())
    }

    /// Returns true if changes are recorded.
    pub fn is_recorded(&self) -> bool {
        self.log.is_some()
    }
}

/// The data that an audit log is checked against.
pub struct Witness {
    /// The vault's public key.
    pub key: [u8; 32],
    /// The stored head.
    pub head: Option<SignedHead>,
    generation: u64,
}

impl Witness {
    /// Reads them from a vault, which may be open elsewhere.
    pub fn ask(path: &Path, passphrase_fd: Option<u32>) -> Result<Witness, Failure> {
        let bytes = VaultFile::read_only(path).map_err(|error| place::unusable(path, &error))?;
        let (vault, _) = unlock(path, &bytes, &mut Source::new(passphrase_fd)?, By::Cache)?;
        let head = stored_head::load(&vault).map_err(|error| Failure::Finding(error.to_string()))?;
        Ok(Witness { key: vault.public_key(), head, generation: vault.generation() })
    }

    /// A vault that is older than the newest signed head was restored from a copy.
    pub fn check_age(&self, newest: Option<&SignedHead>) -> Result<(), Failure> {
        match newest.and_then(|head| head.generation) {
            Some(known) if known > self.generation => {
                Err(Failure::Finding(GuardError::OlderVault { found: self.generation, known }.to_string()))
            }
            _ => Ok(()),
        }
    }
}

fn unlock(
    path: &Path,
    bytes: &[u8],
    source: &mut Source,
    by: By,
) -> Result<(Vault, Option<Secret>), Failure> {
    let cached = match by {
        By::Cache => !source.is_handed_over(),
        By::CacheIfTyped => source.is_terminal(),
        By::Passphrase => false,
    };
    if cached
        && let Some(key) = Meta::read(bytes).ok().and_then(|meta| cache::find(meta.id))
        && let Ok(vault) = Vault::unlock_with_key(bytes, &key, verifier()?)
    {
        return Ok((vault, None));
    }
    // This precedes the question for the passphrase, since a file that is not a vault needs none.
    Meta::read(bytes).map_err(|error| named(path, &error))?;
    let passphrase = source.read("Passphrase")?;
    let vault = Vault::unlock(bytes, &passphrase, verifier()?).map_err(|error| named(path, &error))?;
    Ok((vault, Some(passphrase)))
}

/// Unlocks a copy of a vault by its passphrase.
pub fn unlock_copy(path: &Path, bytes: &[u8], source: &mut Source) -> Result<Vault, Failure> {
    unlock(path, bytes, source, By::Passphrase).map(|(vault, _)| vault)
}

fn named(path: &Path, error: &VaultError) -> Failure {
    let path = path.display();
    let way_out = match error {
        VaultError::Damaged { .. } | VaultError::Truncated { .. } => {
            format!(": `portcullis vault restore {path}`")
        }
        _ => String::new(),
    };
    Failure::Input(format!("{path}: {error}{way_out}"))
}

/// Opens and locks the file, without the passphrase.
pub fn open_file(path: &Path) -> Result<VaultFile, Failure> {
    VaultFile::open(path).map_err(|error| place::unusable(path, &error))
}

pub fn bad(error: VaultError) -> Failure {
    Failure::Input(error.to_string())
}

/// A vault belongs to an authority. This one ends with the command, with every grant that it could make: the command
/// only writes, lists and exports.
pub fn verifier() -> Result<Verifier, Failure> {
    let broken = |error: String| Failure::NotSetUp(format!("the shipped policy does not hold: {error}"));
    let policy = Policy::parse(portcullis::DEFAULT_POLICY).map_err(|error| broken(error.to_string()))?;
    let compiled = policy.compile().map_err(|error| broken(error.to_string()))?;
    let checked = compiled.check().map_err(|_| broken("an invariant".to_owned()))?;
    let mut id = [0; 16];
    SystemEntropy.fill(&mut id);
    Ok(authority(checked, id).1)
}
