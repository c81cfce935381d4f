//! A login that the person makes by hand, with a second factor, and saves by `portcullis login`. `xdotool` is the person's hands.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process::{Failure, Place};
use crate::real::Run;
use crate::real::person::{self, PASSPHRASE, PASSWORD, SEED, USER};
use crate::real::programs::{Library, SetUp};
use crate::real::screen::Screen;

/// The words in the title of MediaWiki's pages, and of the one for logging in.
const WIKI: &str = "House wiki";
const LOG_IN: &str = "Log in.*House wiki";

/// The vault with the saved login, and no other.
pub fn vault(run: &Run) -> PathBuf {
    run.folder.join("private/vault-saved")
}

fn failed(why: impl std::fmt::Display) -> Failure {
    Failure::not_set_up(format!("portcullis login: {why}"))
}

/// Logs in to a wiki and saves the login in a new vault.
pub fn save(place: &Place, run: &Run, library: &Library, wiki: &SetUp) -> Result<(), Failure> {
    let screen = Screen::start()?;
    person::said_to(place, &vault(run), &["init"], &[], &format!("{PASSPHRASE}\n"))?;
    let mut login = Command::new(place.binary("portcullis"));
    login.args(["login", &wiki.address(), "--private-hosts", &wiki.host(), "--vault"]).arg(vault(run));
    login.envs(run.environment.iter().cloned()).env("HOME", run.folder.join("home"));
    login.env("DISPLAY", &screen.display).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut login = login.spawn().map_err(failed)?;
    let mut to = login.stdin.take().ok_or_else(|| failed("it reads nothing"))?;
    writeln!(to, "{PASSPHRASE}").map_err(failed)?;

    let Ok(window) = screen.window(WIKI) else {
        let _ended = login.kill();
        let said = login.wait_with_output().map(|output| output.stderr).unwrap_or_default();
        return Err(failed(format!("the wiki is not shown; {}", String::from_utf8_lossy(&said))));
    };
    screen.xdotool(&["windowfocus", "--sync", &window]);
    // A title does not tell whether the page takes keys yet. Who was too fast begins again, more slowly.
    let is_in = (2..10).any(|seconds| {
        log_in(&screen, wiki, &|| code(run, library).unwrap_or_default(), Duration::from_secs(seconds));
        screen.xdotool(&["search", "--onlyvisible", "--name", LOG_IN]).trim().is_empty()
    });
    if !is_in {
        return Err(failed("the wiki lets nobody in"));
    }
    screen.window(WIKI)?;
    writeln!(to).map_err(failed)?;
    drop(to);
    let output = login.wait_with_output().map_err(failed)?;
    eprint!("{}", String::from_utf8_lossy(&output.stdout));
    if output.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&output.stderr))) }
}

/// Goes to the page for logging in, and types name, password and code, with this pause before each. The wiki puts the cursor into the first
/// box of each page.
fn log_in(screen: &Screen, wiki: &SetUp, code: &dyn Fn() -> String, pause: Duration) {
    let typed = |text: &str, key: &str| {
        screen.xdotool(&["type", "--delay", "30", text]);
        screen.xdotool(&["key", key]);
    };
    screen.xdotool(&["key", "ctrl+l"]);
    typed(&format!("{}/index.php?title=Special:UserLogin", wiki.address()), "Return");
    std::thread::sleep(pause);
    typed(USER, "Tab");
    typed(PASSWORD, "Return");
    std::thread::sleep(pause);
    typed(&code(), "Return");
    std::thread::sleep(pause);
}

/// The person's one-time code of now.
fn code(run: &Run, library: &Library) -> Result<String, Failure> {
    let output =
        Command::new(library.python()).arg(run.sources.join("agent.py")).args(["code", SEED]).output();
    Ok(String::from_utf8_lossy(&output.map_err(failed)?.stdout).trim().to_owned())
}
