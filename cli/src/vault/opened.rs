//! A vault file that was opened, and its vault.

use std::path::Path;

use portcullis::guard::SystemEntropy;
use portcullis::policy::{Policy, Verifier, authority};
use portcullis::vault::{Entropy, Meta, Secret, Vault};
use portcullis::vault_file::VaultFile;

use super::cache;
use super::secrets::Source;
use crate::failure::Failure;

/// A vault whose file is locked against others for as long as this lives.
pub struct Opened {
    file: VaultFile,
    /// The vault, unlocked.
    pub vault: Vault,
}

/// Whether the unlock cache may open the vault, or the passphrase itself is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    Cache,
    Passphrase,
}

impl Opened {
    /// Opens a vault, by its cached key where there is one and it may, else by the passphrase, which is
    /// returned too.
    pub fn open(path: &Path, source: &mut Source, by: By) -> Result<(Opened, Option<Secret>), Failure> {
        let file = open_file(path)?;
        let named =
            |error: portcullis::vault::VaultError| Failure::Input(format!("{}: {error}", path.display()));
        if by == By::Cache
            && let Some(key) = vault_id(&file).and_then(cache::find)
            && let Ok(vault) = Vault::unlock_with_key(file.bytes(), &key, verifier()?)
        {
            return Ok((Opened { file, vault }, None));
        }
        let passphrase = source.read("Passphrase")?;
        let vault = Vault::unlock(file.bytes(), &passphrase, verifier()?).map_err(named)?;
        Ok((Opened { file, vault }, Some(passphrase)))
    }

    /// Writes what was changed. The file as it was stays as a backup.
    pub fn save(&mut self) -> Result<(), Failure> {
        let bytes = self.vault.to_bytes(&mut SystemEntropy).map_err(bad)?;
        self.file.save(&bytes).map_err(unwritten)
    }

    /// The file.
    pub fn file(&self) -> &VaultFile {
        &self.file
    }
}

/// Opens and locks the file, without the passphrase.
pub fn open_file(path: &Path) -> Result<VaultFile, Failure> {
    VaultFile::open(path).map_err(|error| Failure::Input(error.to_string()))
}

/// The vault's id, which stands in the file in clear.
pub fn vault_id(file: &VaultFile) -> Option<[u8; 16]> {
    Meta::read(file.bytes()).ok().map(|meta| meta.id)
}

pub fn bad(error: portcullis::vault::VaultError) -> Failure {
    Failure::Input(error.to_string())
}

pub fn unwritten(error: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("{error}; the old file is untouched"))
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
