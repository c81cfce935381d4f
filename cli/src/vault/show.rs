//! Showing what a vault holds, never its values.

use std::path::Path;

use portcullis::vault::Header;

use super::opened::{bad, open_file};
use super::{By, Opened, Target};
use crate::failure::Failure;

pub fn list(target: &Target) -> Result<(), Failure> {
    let (opened, _) = Opened::open(&target.vault, &mut target.source()?, By::Cache)?;
    for entry in opened.vault.entries() {
        println!(
            "{}\t{}\t{}\t{}",
            entry.handle,
            entry.field.as_str(),
            entry.field.tier().as_str(),
            entry.binding
        );
    }
    Ok(())
}

/// What stands in the file in clear. It is not authentic before the passphrase proves it.
pub fn meta(path: &Path) -> Result<(), Failure> {
    let file = open_file(path)?;
    let header = Header::parse(file.bytes()).map_err(bad)?;
    let costs = header.params();
    let id: String = header.id().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("file        {}", path.display());
    println!("vault       {id}");
    println!("format      version {}", header.version());
    println!("cipher      XChaCha20-Poly1305, subkeys by HKDF-SHA256");
    println!(
        "passphrase  Argon2id: {} MiB, {} passes, {} lanes",
        costs.memory_kib() / 1024,
        costs.passes(),
        costs.lanes()
    );
    println!("size        {} bytes", file.bytes().len());
    let backups = file.backups().map_err(|error| Failure::Input(error.to_string()))?;
    for backup in &backups {
        println!("backup {}    {}, {} bytes", backup.number, backup.path.display(), backup.length);
    }
    if backups.is_empty() {
        println!("backups     none yet: the file was written once");
    }
    Ok(())
}
