//! A vault file that was opened, and its vault.

use std::path::Path;

use portcullis::audit::{AuditEvent, SignedHead, VaultAct};
use portcullis::guard::{GuardError, SystemEntropy};
use portcullis::kept_head;
use portcullis::policy::{Policy, Verifier, authority};
use portcullis::vault::{Entropy, Meta, Secret, Vault, VaultError};
use portcullis::vault_file::{VaultFile, VaultFileError};

use super::recorded::{Age, Log, act};
use super::secrets::Source;
use super::{Target, cache, place};
use crate::failure::Failure;

/// A vault whose file is locked against others for as long as this lives.
pub struct Opened {
    file: VaultFile,
    /// The vault, unlocked.
    pub vault: Vault,
    /// The generation of the file.
    saved: u64,
    log: Option<Log>,
}

/// Whether the unlock cache may open the vault, or the passphrase itself is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The cache, unless a passphrase is handed over on a file descriptor.
    Cache,
    /// The cache where a person types. Otherwise lines come, and the first one is the passphrase always: were it
    /// sometimes the value, a script's passphrase would end up as a value.
    CacheIfTyped,
    /// The passphrase.
    Passphrase,
}

impl Opened {
    /// Opens a vault, by its cached key where there is one and it may, else by the passphrase, which is
    /// returned too. Where there is an audit log it must go with the vault, and the opening is recorded.
    pub fn open(target: &Target, source: &mut Source, by: By) -> Result<(Opened, Option<Secret>), Failure> {
        let (mut opened, passphrase) = Opened::without_log(&target.vault, source, by)?;
        if let Some(folder) = &target.audit {
            let mut log = Log::open(folder, &opened.vault, Age::Newest)?;
            log.record(&act(VaultAct::Opened, opened.saved))?;
            opened.log = Some(log);
        }
        Ok((opened, passphrase))
    }

    /// Opens a vault whatever its audit log is.
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

    /// A vault that was unlocked from what the file was given.
    pub fn new(file: VaultFile, vault: Vault, log: Option<Log>) -> Opened {
        let saved = vault.generation();
        Opened { file, vault, saved, log }
    }

    /// Records from now on in this log, whatever the vault knows of it.
    pub fn record_in(&mut self, log: Log) {
        self.log = Some(log);
    }

    /// Writes changed values, and before them what was done to the log. The file as it was stays as a backup.
    pub fn save(&mut self, done: VaultAct) -> Result<(), Failure> {
        let event = act(done, self.generation_to_be());
        self.write(&[event], |file, bytes| file.save(bytes))
    }

    /// Writes what is no value, and before it what was done to the log. No backup is made.
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

    /// The generation that the file will have when it is saved: keeping the log's head is one more change.
    pub fn generation_to_be(&self) -> u64 {
        self.vault.generation() + u64::from(self.log.is_some())
    }

    /// The file.
    pub fn file(&self) -> &VaultFile {
        &self.file
    }

    /// Whether what is done is recorded.
    pub fn is_recorded(&self) -> bool {
        self.log.is_some()
    }
}

/// What an audit log is held against.
pub struct Witness {
    /// The vault's public key.
    pub key: [u8; 32],
    /// The head that it keeps.
    pub head: Option<SignedHead>,
    generation: u64,
}

impl Witness {
    /// Asks a vault, which may be open elsewhere.
    pub fn ask(path: &Path, passphrase_fd: Option<u32>) -> Result<Witness, Failure> {
        let bytes = VaultFile::read_only(path).map_err(|error| place::unusable(path, &error))?;
        let (vault, _) = unlock(path, &bytes, &mut Source::new(passphrase_fd)?, By::Cache)?;
        let head = kept_head::known(&vault).map_err(|error| Failure::Finding(error.to_string()))?;
        Ok(Witness { key: vault.public_key(), head, generation: vault.generation() })
    }

    /// A vault that is older than the newest signed head knows it was put back from a copy.
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
    // Before the passphrase is asked for: a file that is no vault needs none.
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

/// A vault belongs to an authority. This one dies with the command, and with it every grant it could make:
/// the command writes, lists and exports.
pub fn verifier() -> Result<Verifier, Failure> {
    let broken = |error: String| Failure::NotSetUp(format!("the shipped policy does not hold: {error}"));
    let policy = Policy::parse(portcullis::DEFAULT_POLICY).map_err(|error| broken(error.to_string()))?;
    let compiled = policy.compile().map_err(|error| broken(error.to_string()))?;
    let checked = compiled.check().map_err(|_| broken("an invariant".to_owned()))?;
    let mut id = [0; 16];
    SystemEntropy.fill(&mut id);
    Ok(authority(checked, id).1)
}
