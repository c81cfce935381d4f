//! Changing a vault and its file.

use std::path::Path;
use std::time::Duration;

use portcullis::guard::SystemEntropy;
use portcullis::sirl::Field;
use portcullis::storage::{Disk, SystemDisk};
use portcullis::vault::export::ExportCost;
use portcullis::vault::{Binding, KdfParams, Meta, Secret, StateName, Vault};
use portcullis::vault_file::VaultFile;

use super::opened::{bad, open_file, unwritten, vault_id, verifier};
use super::{By, Opened, Target, cache};
use crate::failure::Failure;

/// The largest exported file that is read, in bytes.
const LARGEST_EXPORT: u64 = 64 << 20;

pub fn init(target: &Target) -> Result<(), Failure> {
    let path = &target.vault;
    if path.exists() {
        return Err(Failure::Input(format!("{} exists already; nothing was changed", path.display())));
    }
    let passphrase = target.source()?.read_new("New passphrase")?;
    let mut entropy = SystemEntropy;
    let vault = Vault::create(&passphrase, &mut entropy, KdfParams::DEFAULT, verifier()?).map_err(bad)?;
    let bytes = vault.to_bytes(&mut entropy).map_err(bad)?;
    VaultFile::create(path, &bytes).map_err(|error| Failure::Input(error.to_string()))?;
    println!("{} is ready; add values with `portcullis vault add {0} address:home street`", path.display());
    Ok(())
}

pub fn add(target: &Target, handle: &str, field: &str, bound_to: &str) -> Result<(), Failure> {
    let Some(field) = Field::from_name(field) else {
        let names: Vec<&str> = Field::ALL.iter().map(|field| field.as_str()).collect();
        return Err(Failure::Input(format!("`{field}` is not a field; use one of {}", names.join(", "))));
    };
    let binding =
        Binding::parse(bound_to).map_err(|error| Failure::Input(format!("`{bound_to}`: {error}")))?;
    let mut source = target.source()?;
    let (mut opened, _) = Opened::open(&target.vault, &mut source, By::Cache)?;
    let value = source.read(&format!("{handle} {}", field.as_str()))?;
    opened.vault.insert(handle, field, value, &binding, &mut SystemEntropy).map_err(bad)?;
    opened.save()?;
    println!("{handle} {} is in {}, for {binding}", field.as_str(), target.vault.display());
    Ok(())
}

pub fn remove(target: &Target, handle: &str) -> Result<(), Failure> {
    let (mut opened, _) = Opened::open(&target.vault, &mut target.source()?, By::Cache)?;
    let removed = opened.vault.remove(handle).map_err(bad)?;
    if removed == 0 {
        return Err(Failure::Input(format!(
            "there is no record `{handle}`; `portcullis vault list` names them"
        )));
    }
    opened.save()?;
    println!("{handle}: {removed} values removed. The backups of the file still have them, encrypted.");
    Ok(())
}

pub fn passphrase(target: &Target) -> Result<(), Failure> {
    let mut source = target.source()?;
    let (mut opened, old) = Opened::open(&target.vault, &mut source, By::Passphrase)?;
    let old = old.ok_or_else(|| Failure::Input("the old passphrase is needed".to_owned()))?;
    let new = source.read_new("New passphrase")?;
    let params = KdfParams::DEFAULT;
    opened.vault.change_passphrase(&old, &new, params, &mut SystemEntropy).map_err(bad)?;
    opened.save()?;
    println!(
        "the passphrase is changed. Backups of the file still open with the old one; if it may be known to"
    );
    println!("others, run `portcullis vault rotate` as well and delete copies of the file.");
    Ok(())
}

pub fn rotate(target: &Target) -> Result<(), Failure> {
    let (mut opened, passphrase) = Opened::open(&target.vault, &mut target.source()?, By::Passphrase)?;
    let passphrase = passphrase.ok_or_else(|| Failure::Input("the passphrase is needed".to_owned()))?;
    opened.vault.rotate(&passphrase, &mut SystemEntropy).map_err(bad)?;
    opened.save()?;
    if let Some(id) = vault_id(opened.file()) {
        // The key that a cache may have kept opens nothing any more.
        let _no_keyring = cache::forget(id);
    }
    println!("every value is encrypted anew under a new key");
    Ok(())
}

pub fn unlock(target: &Target, minutes: u64) -> Result<(), Failure> {
    let file = open_file(&target.vault)?;
    let passphrase = target.source()?.read("Passphrase")?;
    let key = Vault::unlock_key(file.bytes(), &passphrase).map_err(bad)?;
    let id = vault_id(&file).ok_or_else(|| Failure::Input("this is not a vault file".to_owned()))?;
    cache::keep(id, &key, Duration::from_secs(minutes.max(1) * 60))?;
    println!(
        "the key of {} is in the system's keyring for {} minutes",
        target.vault.display(),
        minutes.max(1)
    );
    Ok(())
}

pub fn lock(path: &Path) -> Result<(), Failure> {
    // The file may be in use by the very guard that is to be locked: it is only looked at.
    let bytes = VaultFile::read_only(path).map_err(|error| Failure::Input(error.to_string()))?;
    match cache::forget(Meta::read(&bytes).map_err(bad)?.id) {
        Ok(true) => println!("the key is out of the system's keyring"),
        Ok(false) => println!("the system's keyring has no key of this vault"),
        Err(Failure::NotSetUp(why)) => println!("{why}"),
        Err(failure) => return Err(failure),
    }
    match VaultFile::holder(path).map_err(|error| Failure::Input(error.to_string()))? {
        Some(Some(process)) => {
            let told = portcullis::lock::signal(process);
            told.map_err(|error| {
                Failure::Input(format!("process {process} cannot be told to lock: {error}"))
            })?;
            println!("process {process}, which has the vault open, was told to lock it");
        }
        Some(None) => {
            return Err(Failure::Finding(
                "another process has the vault open and does not say which".to_owned(),
            ));
        }
        None => println!("no process has the vault open"),
    }
    Ok(())
}

pub fn export(target: &Target, path: &Path) -> Result<(), Failure> {
    let mut source = target.source()?;
    let (opened, passphrase) = Opened::open(&target.vault, &mut source, By::Passphrase)?;
    let passphrase = passphrase.ok_or_else(|| Failure::Input("the passphrase is needed".to_owned()))?;
    let of_export = source.read_new("Passphrase for the exported file")?;
    let bytes = opened.vault.export(&passphrase, &of_export, ExportCost::DEFAULT).map_err(bad)?;
    let disk = SystemDisk;
    disk.write_new(path, &bytes)
        .and_then(|()| disk.sync(path))
        .map_err(|error| Failure::Input(format!("{} cannot be written: {error}", path.display())))?;
    println!(
        "{} values are in {}; `age -d` opens it with its own passphrase",
        stored(&opened.vault),
        path.display()
    );
    Ok(())
}

fn stored(vault: &Vault) -> usize {
    vault.entries().filter(|entry| !entry.for_task).count()
}

pub fn import(target: &Target, path: &Path) -> Result<(), Failure> {
    let bytes = SystemDisk
        .read(path, LARGEST_EXPORT)
        .map_err(|error| Failure::Input(format!("{} cannot be read: {error}", path.display())))?;
    let mut source = target.source()?;
    let (mut opened, _) = Opened::open(&target.vault, &mut source, By::Cache)?;
    let of_export: Secret = source.read("Passphrase of the exported file")?;
    let imported = opened
        .vault
        .import(&bytes, &of_export, &mut SystemEntropy)
        .map_err(|error| Failure::Input(format!("{}: {error}; nothing was changed", path.display())))?;
    opened.save()?;
    println!("{} values added, {} replaced", imported.added, imported.replaced);
    Ok(())
}

pub fn restore(path: &Path, backup: u8) -> Result<(), Failure> {
    let mut file = VaultFile::open_to_restore(path).map_err(|error| Failure::Input(error.to_string()))?;
    file.restore(backup).map_err(unwritten)?;
    println!("{} is as backup {backup} was; what it held before is backup 1 now", path.display());
    Ok(())
}

pub fn phrase(target: &Target) -> Result<(), Failure> {
    let mut source = target.source()?;
    let (mut opened, _) = Opened::open(&target.vault, &mut source, By::Cache)?;
    let phrase = source.read_text("Phrase, some words that only you would choose")?;
    opened.vault.set_state(StateName::Phrase, phrase.as_bytes(), &mut SystemEntropy).map_err(bad)?;
    opened.save()?;
    println!("the consent page will show your phrase; a page without it is not ours");
    Ok(())
}
