//! Saved logins: listing and forgetting them.

use portcullis::audit::VaultAct;
use portcullis::guard::SystemEntropy;
use portcullis::signals::Origin;
use portcullis::storage::login_folder::LoginFolder;
use portcullis::vault::Vault;

use super::opened::bad;
use super::{By, Opened, Target};
use crate::failure::Failure;

/// Lists the saved logins: the site, the day of the login, and its end.
pub fn list(target: &Target) -> Result<(), Failure> {
    let (opened, _) = Opened::open(target, &mut target.source()?, By::CacheIfTyped)?;
    let saved = opened.vault.saved_logins().map_err(bad)?;
    for login in &saved {
        let ended = if login.ends_ms <= now_ms() { "ended" } else { "until" };
        println!("{}\tfrom {}\t{ended} {}", login.origin, day(login.made_ms), day(login.ends_ms));
    }
    if saved.is_empty() {
        eprintln!(
            "no login is saved; save one with `portcullis login https://shop.example --vault {}`",
            target.vault.display()
        );
    }
    Ok(())
}

/// Forgets a saved login: its key, and then its file.
pub fn forget(target: &Target, site: &str) -> Result<(), Failure> {
    let origin = Origin::parse(site).map_err(|error| Failure::Input(format!("`{site}`: {error}")))?;
    let (mut opened, _) = Opened::open(target, &mut target.source()?, By::CacheIfTyped)?;
    let saved = opened.vault.saved_logins().map_err(bad)?;
    let Some(login) = saved.into_iter().find(|login| login.origin == origin) else {
        let vault = target.vault.display();
        return Err(Failure::Input(format!(
            "no login is saved for {origin}; `portcullis vault logins {vault}` lists them"
        )));
    };
    let forgotten = opened.vault.forget_login(login.id, &mut SystemEntropy);
    forgotten.map_err(|error| Failure::Input(error.to_string()))?;
    opened.save(VaultAct::LoginForgotten)?;
    sweep(&LoginFolder::beside(&target.vault), &opened.vault);
    println!(
        "the login at {origin} is forgotten here, and the site is not told. To end it there too, log in at {origin} yourself and sign \
         out; many sites have a button that signs out all devices"
    );
    Ok(())
}

/// Removes the files of logins that the vault does not have.
pub fn sweep(folder: &LoginFolder, vault: &Vault) {
    // Without the list no file is known to be needless.
    let Ok(saved) = vault.saved_logins() else { return };
    let files: Vec<_> = saved.iter().map(|login| login.file).collect();
    if let Err(error) = folder.keep_only(&files) {
        eprintln!(
            "warning: a file in {} that opens nothing any more stays: {error}",
            folder.path().display()
        );
    }
}

/// The day of a time in milliseconds since 1970, in UTC.
pub fn day(unix_ms: u64) -> String {
    let at = i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map_or_else(|| "a day out of range".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// The present time in milliseconds since 1970.
pub fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}
