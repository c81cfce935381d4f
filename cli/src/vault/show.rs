//! Lists the contents of a vault without their values.

use std::path::Path;

use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::Meta;

use super::opened::{bad, open_file};
use super::{By, Opened, Target, place};
use crate::failure::Failure;

pub fn list(target: &Target) -> Result<(), Failure> {
    let (opened, _) = Opened::open(target, &mut target.source()?, By::Cache)?;
    let mut entries: Vec<_> = opened.vault.entries().collect();
    entries.sort_by_key(|entry| entry.handle);
    for entry in &entries {
        println!(
            "{}\t{}\t{}\t{}",
            entry.handle,
            entry.field.as_str(),
            entry.field.tier().as_str(),
            entry.binding
        );
    }
    if entries.is_empty() {
        let vault = target.vault.display();
        eprintln!("{vault} is empty; put a value in with `portcullis vault add {vault} address:home street`");
    }
    Ok(())
}

/// The header, which is in clear text. It is not authentic before the passphrase proves it.
pub fn meta(path: &Path) -> Result<(), Failure> {
    let unusable = |error| place::unusable(path, &error);
    let bytes = VaultFile::read_only(path).map_err(unusable)?;
    let meta = Meta::read(&bytes).map_err(bad)?;
    let id: String = meta.id.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("file        {}", path.display());
    println!("vault       {id}");
    println!("format      version {}", meta.format);
    println!("cipher      XChaCha20-Poly1305, subkeys by HKDF-SHA256");
    println!(
        "passphrase  Argon2id: {} MiB, {} passes, {} lanes",
        meta.costs.memory_kib() / 1024,
        meta.costs.passes(),
        meta.costs.lanes()
    );
    println!("size        {} bytes", bytes.len());
    match VaultFile::holder(path).map_err(unusable)? {
        Some(Some(process)) => println!("open in     process {process}"),
        Some(None) => println!("open in     another process"),
        None => {
            let file = open_file(path)?;
            let backups = file.backups().map_err(unusable)?;
            let numbers: Vec<String> = backups.iter().map(ToString::to_string).collect();
            let listed = if numbers.is_empty() { "none yet".to_owned() } else { numbers.join(", ") };
            println!("backups     {listed}");
        }
    }
    Ok(())
}
