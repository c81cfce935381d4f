//! Declarations that only the owner can make: that a backup replaces the file, and that another log is the current one.

use std::path::PathBuf;

use portcullis::audit::VaultAct;
use portcullis::guard::SystemEntropy;
use portcullis::storage::vault_file::VaultFile;
use portcullis::stored_head;

use super::opened::unlock_copy;
use super::recorded::{Age, Log, act};
use super::{By, Opened, Target, place};
use crate::failure::Failure;

pub fn restore(target: &Target, backup: u8) -> Result<(), Failure> {
    let path = &target.vault;
    let unusable = |error| place::unusable(path, &error);
    let mut file = VaultFile::open_to_restore(path).map_err(unusable)?;
    let bytes = file.read_backup(backup).map_err(unusable)?;
    let restored = format!(
        "{} is as backup {backup} was, with the passphrase of that time; what it held before is backup 1 now",
        path.display()
    );
    let Some(folder) = &target.audit else {
        file.restore(backup).map_err(unusable)?;
        println!("{restored}");
        println!("if an audit log goes with it, say that it is older now: `portcullis vault accept`");
        return Ok(());
    };
    let named = PathBuf::from(format!("{}, backup {backup}", path.display()));
    let vault = unlock_copy(&named, &bytes, &mut target.source()?)?;
    let mut log = Log::open(folder, &vault, Age::Any)?;
    let event = act(VaultAct::Restored, vault.generation() + 1);
    log.record(&event)?;
    file.restore(backup).map_err(unusable)?;
    Opened::new(file, vault, Some(log)).refresh(&[])?;
    println!("{restored}");
    Ok(())
}

pub fn accept(target: &Target) -> Result<(), Failure> {
    let (mut opened, _) = Opened::without_log(&target.vault, &mut target.source()?, By::Cache)?;
    let vault = target.vault.display();
    let Some(folder) = &target.audit else {
        let unreadable = |error: portcullis::GuardError| Failure::Input(error.to_string());
        stored_head::clear(&mut opened.vault, &mut SystemEntropy).map_err(unreadable)?;
        opened.refresh(&[])?;
        println!(
            "{vault} no longer knows an audit log; the next one that is used with it is taken as it is."
        );
        println!("The log still detects an older copy of the vault: name it with `--audit` to accept both.");
        return Ok(());
    };
    let log = Log::open_any(folder)?;
    let done = if log.is_newer_than(&opened.vault) { VaultAct::Restored } else { VaultAct::Opened };
    opened.record_in(log);
    let event = act(done, opened.generation_to_be());
    opened.refresh(&[event])?;
    println!("{vault} and the audit log {} go together from now on.", folder.display());
    println!("What was cut off either of them before no longer shows.");
    Ok(())
}
