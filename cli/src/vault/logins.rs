//! Saved logins: listing and forgetting them.

use portcullis::audit::VaultAct;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::signals::{Origin, Verb};
use portcullis::storage::login_folder::LoginFolder;
use portcullis::vault::logins::SavedLogin;
use portcullis::vault::{UnlockKey, Vault};
use portcullis::{Action, Session};

use super::opened::bad;
use super::sources::SourceArguments;
use super::{By, Guarded, Opened, Target};
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

/// Forgets a saved login: its key, and then its file. With `sign_out` the user signs out at the site before, in a window with the login that
/// may open these private hosts.
pub fn forget(target: &Target, site: &str, sign_out: Option<Vec<String>>) -> Result<(), Failure> {
    let origin = Origin::parse(site).map_err(|error| Failure::Input(format!("`{site}`: {error}")))?;
    let is_signed_out = sign_out.is_some();
    let (mut opened, passphrase) = Opened::open(target, &mut target.source()?, By::CacheIfTyped)?;
    let mut login = saved_at(&opened.vault, &origin, target)?;
    if let Some(private_hosts) = sign_out {
        let settings = crate::login::window(None, private_hosts)?;
        let key = passphrase.as_ref().map(|passphrase| opened.key(passphrase)).transpose()?;
        // The guard of the window takes the file.
        drop(opened);
        crate::serve::runtime()?.block_on(sign_out_by_hand(target, key, &origin, settings))?;
        opened = Opened::again(target, passphrase)?;
        // The login may have been renewed or have ended meanwhile.
        login = saved_at(&opened.vault, &origin, target)?;
    }
    let forgotten = opened.vault.forget_login(login.id, &mut SystemEntropy);
    forgotten.map_err(|error| Failure::Input(error.to_string()))?;
    opened.save(VaultAct::LoginForgotten)?;
    sweep(&LoginFolder::beside(&target.vault), &opened.vault);
    if is_signed_out {
        println!(
            "the login at {origin} is forgotten here; the site has ended it if it said that you signed out"
        );
    } else {
        println!(
            "the login at {origin} is forgotten here, and the site is not told. To end it there too, log in at {origin} yourself and sign \
             out; many sites have a button that signs out all devices. Next time `--sign-out` opens a window for that first"
        );
    }
    Ok(())
}

fn saved_at(vault: &Vault, origin: &Origin, target: &Target) -> Result<SavedLogin, Failure> {
    let saved = vault.saved_logins().map_err(bad)?;
    saved.into_iter().find(|login| login.origin == *origin).ok_or_else(|| {
        let vault = target.vault.display();
        Failure::Input(format!(
            "no login is saved for {origin}; `portcullis vault logins {vault}` lists them"
        ))
    })
}

/// Shows the site with the saved login, as a task of an agent uses it, until the user has signed out and presses Enter.
async fn sign_out_by_hand(
    target: &Target,
    key: Option<UnlockKey>,
    origin: &Origin,
    settings: BrowserSettings,
) -> Result<(), Failure> {
    let failed = |error: String| Failure::NotSetUp(format!("{origin}: {error}; the login is still saved"));
    let audit = target.audit.clone().ok_or_else(|| failed("`--audit` is missing".to_owned()))?;
    let opened = Guarded::open(target, &audit, key)?;
    // The user acts in the window, and no agent does.
    let user = ScriptedAnswerer(|_: &ConsentPrompt| Answer::Once);
    let guard =
        opened.guard(portcullis::DEFAULT_POLICY, Box::new(user), &SourceArguments::default(), None)?;
    let browser = Browser::launch_on_pipe(settings).await.map_err(|error| failed(error.to_string()))?;
    let begun = Session::begin(guard, &browser, &format!("Log in at {origin}/")).await;
    let mut session = begun.map_err(|error| failed(error.to_string()))?;
    let shown = match session.logged_in().is_some() {
        true => session.act(Action::Verb(Verb::Open { url: format!("{origin}/") })).await.is_done(),
        false => false,
    };
    let ended = if shown {
        eprintln!("Sign out at {origin} in the window that opened, and press Enter here.");
        until_signed_out(&mut session).await
    } else {
        Err("the saved login does not open there".to_owned())
    };
    session.finish().await;
    browser.close().await;
    ended.map_err(failed)
}

/// Waits for Enter, and lets the requests of the page go on meanwhile that wait for the session.
async fn until_signed_out(session: &mut Session) -> Result<(), String> {
    let mut entered = std::pin::pin!(crate::login::enter());
    loop {
        tokio::select! {
            entered = &mut entered => return entered,
            () = tokio::time::sleep(crate::login::LOOK_AGAIN) => {
                if session.is_gone() {
                    return Err("the window was closed before anybody pressed Enter".to_owned());
                }
                session.rest().await;
            }
        }
    }
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
