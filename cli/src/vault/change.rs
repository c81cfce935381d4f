//! Changing a vault and its file.

use std::path::Path;
use std::time::Duration;

use portcullis::audit::VaultAct;
use portcullis::guard::SystemEntropy;
use portcullis::sirl::Field;
use portcullis::storage::vault_file::VaultFile;
use portcullis::storage::{Disk, SafeFolder, SystemDisk};
use portcullis::vault::export::ExportCost;
use portcullis::vault::{Binding, KdfParams, Meta, Secret, StateName, Vault, VaultError};

use super::opened::{bad, verifier};
use super::recorded::{Age, Log, act};
use super::{By, Opened, Target, cache, count, from_file, place};
use crate::failure::Failure;

/// The size limit of an exported file, in bytes.
const LARGEST_EXPORT: u64 = 64 << 20;

pub fn init(target: &Target) -> Result<(), Failure> {
    let path = &target.vault;
    place::check_new(path)?;
    let passphrase = target.source()?.read_new("New passphrase")?;
    let mut entropy = SystemEntropy;
    let mut vault = Vault::create(&passphrase, &mut entropy, KdfParams::DEFAULT, verifier()?).map_err(bad)?;
    let mut log = None;
    if let Some(folder) = &target.audit {
        // The log may be in the vault's own folder.
        SafeFolder::open_or_make(place::folder(path)).map_err(|error| Failure::Input(error.to_string()))?;
        let mut opened = Log::open(folder, &vault, Age::Newest)?;
        let created = act(VaultAct::Created, vault.generation() + 1);
        let saved = vault.generation();
        opened.intend(&mut vault, saved, &[created])?;
        log = Some(opened);
    }
    let bytes = vault.to_bytes(&mut entropy).map_err(bad)?;
    VaultFile::create(path, &bytes).map_err(|error| place::unusable(path, &error))?;
    if let Some(log) = &mut log {
        log.settle(&vault);
    }
    println!("{} is ready; add values with `portcullis vault add {0} address:home street`", path.display());
    Ok(())
}

pub fn add(
    target: &Target,
    (handle, field): (&str, &str),
    bound_to: &str,
    from: Option<&Path>,
) -> Result<(), Failure> {
    let field = named_field(field)?;
    let binding =
        Binding::parse(bound_to).map_err(|error| Failure::Input(format!("`{bound_to}`: {error}")))?;
    check_place(handle, field, &binding)?;
    let mut source = target.source()?;
    let (mut opened, _) = Opened::open(target, &mut source, By::CacheIfTyped)?;
    let value = match from {
        Some(file) => from_file::read(file, field)?,
        None if field == Field::OneTimeCode => source.read(&format!("{handle}: the seed of its codes"))?,
        None => source.read(&format!("{handle} {}", field.as_str()))?,
    };
    opened.vault.insert(handle, field, value, &binding, &mut SystemEntropy).map_err(bad)?;
    opened.save(VaultAct::Saved)?;
    let (field, vault) = (field.as_str(), target.vault.display());
    match binding {
        bound if field == "one_time_code" => {
            println!("the seed of {handle} is in {vault}; its codes go to {bound} alone, each once");
        }
        Binding::Anywhere => println!("{handle} {field} is in {vault}, for any site that you agree to"),
        bound => println!("{handle} {field} is in {vault}, for {bound}"),
    }
    Ok(())
}

fn named_field(name: &str) -> Result<Field, Failure> {
    match Field::from_name(name) {
        Some(Field::CardCode) => {
            Err(Failure::Input("card_code is never stored: you are asked for it at each payment".to_owned()))
        }
        Some(field) => Ok(field),
        None => {
            let stored = Field::ALL.into_iter().filter(|field| *field != Field::CardCode);
            let names: Vec<&str> = stored.map(Field::as_str).collect();
            Err(Failure::Input(format!("`{name}` is not a field; use one of {}", names.join(", "))))
        }
    }
}

/// Rejects a record, field and place that do not fit together, before any question: by the vault's own rules, in a
/// temporary vault.
fn check_place(handle: &str, field: Field, binding: &Binding) -> Result<(), Failure> {
    let entropy = &mut SystemEntropy;
    let mut trial = Vault::ephemeral(entropy, verifier()?);
    let value = if field == Field::OneTimeCode { "AAAAAAAAAAAAAAAA" } else { "x" };
    match trial.insert(handle, field, Secret::new(value), binding, entropy) {
        Err(VaultError::NeedsBinding(field)) => Err(Failure::Input(format!(
            "{handle} {} needs the place it is for: add `--bound-to https://shop.example`, with the site's own \
             address",
            field.as_str()
        ))),
        tried => tried.map_err(|error| Failure::Input(format!("`{handle}`: {error}"))),
    }
}

pub fn remove(target: &Target, handle: &str) -> Result<(), Failure> {
    let (mut opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let removed = opened.vault.remove(handle).map_err(bad)?;
    if removed == 0 {
        return Err(Failure::Input(format!(
            "there is no record `{handle}`; `portcullis vault list {}` names them",
            target.vault.display()
        )));
    }
    opened.save(VaultAct::Saved)?;
    println!(
        "{} removed. The backups of the file still have what was removed, encrypted.",
        count(removed, "value")
    );
    Ok(())
}

pub fn passphrase(target: &Target) -> Result<(), Failure> {
    let mut source = target.source()?;
    let (mut opened, old) = Opened::open(target, &mut source, By::Passphrase)?;
    let old = old.ok_or_else(|| Failure::Input("the old passphrase is needed".to_owned()))?;
    let new = source.read_new("New passphrase")?;
    let params = KdfParams::DEFAULT;
    opened.vault.change_passphrase(&old, &new, params, &mut SystemEntropy).map_err(bad)?;
    opened.save(VaultAct::PassphraseChanged)?;
    println!(
        "the passphrase is changed. Backups and copies of the file still open with the old one: if others"
    );
    println!("may know it, run `portcullis vault rotate` as well and delete them.");
    Ok(())
}

pub fn rotate(target: &Target) -> Result<(), Failure> {
    let (mut opened, passphrase) = Opened::open(target, &mut target.source()?, By::Passphrase)?;
    let passphrase = passphrase.ok_or_else(|| Failure::Input("the passphrase is needed".to_owned()))?;
    opened.vault.rotate(&passphrase, &mut SystemEntropy).map_err(bad)?;
    opened.save(VaultAct::Rotated)?;
    // The key that a cache may have stored is useless now.
    let _no_keyring = cache::forget(opened.vault.id());
    println!(
        "every value is encrypted anew under a new key. Backups and copies of the file have the old one."
    );
    Ok(())
}

pub fn unlock(target: &Target, minutes: u64) -> Result<(), Failure> {
    // A guard whose vault was locked may be using the file, which is only read here.
    let bytes =
        VaultFile::read_only(&target.vault).map_err(|error| place::unusable(&target.vault, &error))?;
    let id = Meta::read(&bytes).map_err(bad)?.id;
    let passphrase = target.source()?.read("Passphrase")?;
    let key = Vault::unlock_key(&bytes, &passphrase).map_err(bad)?;
    let minutes = minutes.max(1);
    cache::keep(id, &key, Duration::from_secs(minutes.saturating_mul(60)))?;
    let vault = target.vault.display();
    println!(
        "the key of {vault} is in the system's keyring for {}",
        count(usize::try_from(minutes).unwrap_or(usize::MAX), "minute")
    );
    Ok(())
}

pub fn lock(path: &Path) -> Result<(), Failure> {
    // The guard that is to be locked may be using the file, so it is only inspected.
    let bytes = VaultFile::read_only(path).map_err(|error| place::unusable(path, &error))?;
    match cache::forget(Meta::read(&bytes).map_err(bad)?.id) {
        Ok(true) => println!("the key is out of the system's keyring"),
        Ok(false) => println!("the system's keyring has no key of this vault"),
        Err(Failure::NotSetUp(why)) => println!("{why}"),
        Err(failure) => return Err(failure),
    }
    match VaultFile::holder(path).map_err(|error| place::unusable(path, &error))? {
        Some(Some(process)) => {
            let signalled = portcullis::storage::vault_lock::signal(process);
            signalled.map_err(|error| {
                Failure::Input(format!("process {process} cannot be signalled to lock: {error}"))
            })?;
            println!(
                "process {process}, which has the vault open, was signalled to lock it; a program without a \
                 handler for the signal ends"
            );
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
    if path.symlink_metadata().is_ok() {
        return Err(Failure::Input(format!("{} exists already; name a new file", path.display())));
    }
    let mut source = target.source()?;
    let (mut opened, passphrase) = Opened::open(target, &mut source, By::Passphrase)?;
    let passphrase = passphrase.ok_or_else(|| Failure::Input("the passphrase is needed".to_owned()))?;
    let of_export = source.read_new("Passphrase for the exported file")?;
    let bytes = opened.vault.export(&passphrase, &of_export, ExportCost::DEFAULT).map_err(bad)?;
    if opened.is_recorded() {
        let event = act(VaultAct::Exported, opened.generation_to_be());
        opened.refresh(&[event])?;
    }
    let disk = SystemDisk;
    disk.write_new(path, &bytes)
        .and_then(|()| disk.sync(path))
        .map_err(|error| Failure::Input(format!("{} cannot be written: {error}", path.display())))?;
    let stored = opened.vault.entries().filter(|entry| !entry.for_task).count();
    println!(
        "{} written to {1}; `age -d {1}` opens it with its own passphrase",
        count(stored, "value"),
        path.display()
    );
    Ok(())
}

pub fn import(target: &Target, path: &Path) -> Result<(), Failure> {
    let bytes = SystemDisk
        .read(path, LARGEST_EXPORT)
        .map_err(|error| Failure::Input(format!("{} cannot be read: {error}", path.display())))?;
    let mut source = target.source()?;
    let (mut opened, _) = Opened::open(target, &mut source, By::CacheIfTyped)?;
    let of_export: Secret = source.read("Passphrase of the exported file")?;
    let imported = opened
        .vault
        .import(&bytes, &of_export, &mut SystemEntropy)
        .map_err(|error| Failure::Input(format!("{}: {error}; nothing was changed", path.display())))?;
    opened.save(VaultAct::Imported)?;
    println!("{} added, {} replaced", count(imported.added, "value"), imported.replaced);
    Ok(())
}

pub fn phrase(target: &Target) -> Result<(), Failure> {
    let mut source = target.source()?;
    let (mut opened, _) = Opened::open(target, &mut source, By::CacheIfTyped)?;
    let phrase = source.read_text("Phrase, some words that only you would choose")?;
    opened.vault.set_state(StateName::Phrase, phrase.as_bytes(), &mut SystemEntropy).map_err(bad)?;
    let event = act(VaultAct::Saved, opened.generation_to_be());
    opened.refresh(&[event])?;
    println!("the consent page will show your phrase; a page without it is not ours");
    Ok(())
}
