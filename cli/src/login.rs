//! `portcullis login`: the user logs in to a site by hand, and the vault keeps the login for later tasks.

use std::path::PathBuf;
use std::time::Duration;

use portcullis::audit::VaultAct;
use portcullis::guard::SystemEntropy;
use portcullis::session::LoginByHand;
use portcullis::signals::login::LoginState;
use portcullis::signals::playwright::login::NotTaken;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::signals::{Origin, this_machine};
use portcullis::storage::login_folder::LoginFolder;

use crate::failure::Failure;
use crate::vault::{By, Opened, Target, day, now_ms};

/// How often the window is looked at while the user logs in.
pub const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The answer where nobody can press Enter.
const NO_ENTER: &str = "the input ended before anybody pressed Enter; start this in a terminal, and give the passphrase by another \
                        descriptor than 0";

#[derive(clap::Args)]
pub struct Arguments {
    /// The site, such as `https://shop.example`.
    site: String,
    /// The vault's file, which keeps the login. No guard may use it meanwhile.
    #[arg(long, value_name = "FILE")]
    vault: PathBuf,
    /// Forget the login after this many days; 30 at most. It ends earlier where the site's own cookie does.
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=30))]
    days: u32,
    /// Read the vault's passphrase from this file descriptor instead of the terminal.
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<u32>,
    /// Record the change in this audit log, which belongs to the vault.
    #[arg(long, value_name = "FOLDER")]
    audit: Option<PathBuf>,
    /// Chromium; by default `PORTCULLIS_CHROMIUM`, or the one on the path.
    #[arg(long, value_name = "FILE")]
    chromium: Option<PathBuf>,
    /// Private hosts (`host` or `host:port`) that may be opened nevertheless.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    private_hosts: Vec<String>,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { site, vault, days, passphrase_fd, audit, chromium, private_hosts } = arguments;
    let origin = Origin::parse(&site).map_err(|error| Failure::Input(format!("`{site}`: {error}")))?;
    if origin.scheme() != "https" && !this_machine::sites(&private_hosts).contains(&origin) {
        return Err(Failure::Input(format!(
            "`{site}` is not encrypted, and a login there is read on the way; write https://, or list a site of this machine with \
             `--private-hosts`"
        )));
    }
    // A display and the vault first: nobody logs in for nothing.
    let settings = window(chromium, private_hosts)?;
    let target = Target { vault, passphrase_fd, audit };
    let (mut opened, _) = Opened::open(&target, &mut target.source()?, By::CacheIfTyped)?;

    let (state, not_taken) = crate::serve::runtime()?.block_on(by_hand(settings, &origin))?;

    let folder = LoginFolder::beside(&target.vault);
    let bad = |error: String| Failure::Input(format!("{error}; nothing was changed"));
    let sealed = opened
        .vault
        .save_login(&state, days, now_ms(), &mut SystemEntropy)
        .map_err(|error| bad(error.to_string()))?;
    folder
        .write(sealed.login.file, &sealed.bytes)
        .map_err(|error| bad(format!("{} cannot be written: {error}", folder.path().display())))?;
    opened.save(VaultAct::LoginSaved)?;
    crate::vault::sweep(&folder, &opened.vault);
    println!(
        "your login at {origin} is saved until {}; you are asked each time a task wants to use it",
        day(sealed.login.ends_ms)
    );
    left_behind(not_taken).iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// The settings of a browser whose window the user sees.
pub fn window(chromium: Option<PathBuf>, private_hosts: Vec<String>) -> Result<BrowserSettings, Failure> {
    let chromium = chromium.or_else(|| Some(discovery::chromium().ok()?.path)).ok_or_else(|| {
        Failure::NotSetUp(
            "no Chromium was found; name one with `--chromium` or PORTCULLIS_CHROMIUM".to_owned(),
        )
    })?;
    if !has_display() {
        return Err(Failure::NotSetUp("there is no display to show the browser's window on".to_owned()));
    }
    let mut settings = BrowserSettings::new(&chromium);
    settings.sandbox = discovery::chromium_sandbox();
    settings.headless = false;
    settings.private_hosts = private_hosts;
    Ok(settings)
}

/// Waits until the user presses Enter. The error is that nobody can press it.
pub async fn enter() -> Result<(), String> {
    // A thread of its own: nobody waits for it where the window is closed.
    let (sender, line) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let read = std::io::stdin().read_line(&mut String::new());
        let _nobody_waits = sender.send(read.is_ok_and(|length| length > 0));
    });
    if line.await.unwrap_or(false) { Ok(()) } else { Err(NO_ENTER.to_owned()) }
}

/// Lets the user log in, until they press Enter.
async fn by_hand(settings: BrowserSettings, origin: &Origin) -> Result<(LoginState, NotTaken), Failure> {
    let failed = |error: String| Failure::NotSetUp(format!("{origin}: {error}"));
    let browser = Browser::launch_on_pipe(settings).await.map_err(|error| failed(error.to_string()))?;
    let login = LoginByHand::begin(&browser, origin).await.map_err(|error| failed(error.to_string()))?;
    eprintln!(
        "Log in at {origin} in the window that opened. No agent sees it. When the site shows that you are logged in, press Enter \
         here; close the window to save nothing."
    );
    let mut entered = std::pin::pin!(enter());
    let ended = loop {
        tokio::select! {
            entered = &mut entered => break entered,
            () = tokio::time::sleep(LOOK_AGAIN) => {
                if login.is_closed() || !browser.is_connected() {
                    break Err("the window was closed before anybody pressed Enter".to_owned());
                }
            }
        }
    };
    if let Err(why) = ended {
        browser.close().await;
        return Err(Failure::Input(format!("{why}; no login was saved")));
    }
    let taken = login.take().await.map_err(|error| failed(error.to_string()));
    browser.close().await;
    taken
}

/// What the saved login lacks, a line each.
fn left_behind(NotTaken { other_cookies, session_entries, records, databases }: NotTaken) -> Vec<String> {
    let line = |number: usize, what: &str| (number > 0).then(|| format!("not saved: {number} {what}"));
    [
        line(
            other_cookies,
            "cookies of other sites, such as of an identity provider: the site may ask you again sooner",
        ),
        line(
            session_entries,
            "entries of the tab's own storage: a site that keeps its login there forgets it",
        ),
        line(records, "entries of the site's storage that cannot leave the browser, such as keys"),
        line(databases, "databases of the site that are too large, or that the browser does not read"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn has_display() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_behind_is_said_and_nothing_else() {
        assert!(left_behind(NotTaken::default()).is_empty());
        let lost = NotTaken { other_cookies: 2, records: 1, ..NotTaken::default() };
        let lines = left_behind(lost);
        assert_eq!(lines.len(), 2);
        assert!(lines.concat().contains("2 cookies of other sites") && lines.concat().contains("1 entries"));
    }
}
