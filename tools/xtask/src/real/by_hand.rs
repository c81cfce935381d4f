//! A login that the person makes by hand, with a second factor, and saves by `portcullis login`, and its end. `xdotool` is the person's hands.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::process::{Failure, Place};
use crate::real::Run;
use crate::real::person::{self, PASSPHRASE, PASSWORD, SEED, USER};
use crate::real::programs::{Library, LoginPage, SetUp, SignOut};
use crate::real::screen::Screen;

/// The vault with the saved login at a program, and no other.
pub fn vault(run: &Run, program: &str) -> PathBuf {
    run.folder.join(format!("private/vault-saved-{program}"))
}

fn failed(why: impl std::fmt::Display) -> Failure {
    Failure::not_set_up(format!("a login by hand: {why}"))
}

/// Logs in to a program and saves the login in a new vault.
pub fn save(
    place: &Place,
    run: &Run,
    library: &Library,
    program: &SetUp,
    page: &LoginPage,
) -> Result<(), Failure> {
    let screen = Screen::start()?;
    let vault = vault(run, program.program.name);
    person::said_to(place, &vault, &["init"], &[], &format!("{PASSPHRASE}\n"))?;
    let mut login = Command::new(place.binary("portcullis"));
    login.args(["login", &program.address(), "--private-hosts", &program.host(), "--vault"]).arg(vault);
    let (mut login, mut to) = started(login, run, &screen)?;
    let window = shown(&mut login, &screen, page)?;
    screen.xdotool(&["windowfocus", "--sync", &window]);
    let address = format!("{}{}", program.address(), page.path);
    // A title does not tell whether the page takes keys yet. Who was too fast begins again, more slowly.
    let is_in = (2..10).any(|seconds| {
        log_in(&screen, &address, &|| code(run, library).unwrap_or_default(), Duration::from_secs(seconds));
        screen.xdotool(&["search", "--onlyvisible", "--name", page.title]).trim().is_empty()
    });
    if !is_in {
        return Err(failed(format!("{} lets nobody in", page.everywhere)));
    }
    screen.window(page.everywhere)?;
    writeln!(to).map_err(failed)?;
    drop(to);
    ended(login)
}

/// Forgets the saved login, with a window in which the person signs out first, and checks that the program forgot it too.
pub fn sign_out(
    place: &Place,
    run: &Run,
    library: &Library,
    program: &SetUp,
    (page, sign_out): (&LoginPage, &SignOut),
) -> Result<(), Failure> {
    let known = || count(library, program, sign_out);
    let before = known()?;
    let screen = Screen::start()?;
    let mut forget = Command::new(place.binary("portcullis"));
    forget.args(["vault", "forget-login"]).arg(vault(run, program.program.name)).arg(program.address());
    forget
        .args(["--sign-out", "--private-hosts", &program.host(), "--audit"])
        .arg(run.folder.join("audit-saved"));
    let (mut forget, mut to) = started(forget, run, &screen)?;
    let window = shown(&mut forget, &screen, page)?;
    screen.xdotool(&["windowfocus", "--sync", &window]);
    let address = format!("{}{}", program.address(), sign_out.path);
    let is_out = (2..10).any(|seconds| {
        screen.xdotool(&["key", "ctrl+l"]);
        screen.xdotool(&["type", "--delay", "30", &address]);
        for key in ["Return", "Return"] {
            screen.xdotool(&["key", key]);
            std::thread::sleep(Duration::from_secs(seconds));
        }
        !screen.xdotool(&["search", "--onlyvisible", "--name", sign_out.title]).trim().is_empty()
    });
    if !is_out {
        return Err(failed(format!("{} does not sign out", page.everywhere)));
    }
    writeln!(to).map_err(failed)?;
    drop(to);
    ended(forget)?;
    let after = known()?;
    if after + 1 == before {
        Ok(())
    } else {
        Err(failed(format!("{before} logins were there, and {after} are")))
    }
}

/// The number of logins that a program knows.
fn count(library: &Library, program: &SetUp, sign_out: &SignOut) -> Result<u32, Failure> {
    let (file, select) = sign_out.count;
    let script =
        "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])";
    let output = Command::new(library.python())
        .args(["-c", script])
        .arg(program.folder.join(file))
        .arg(select)
        .output()
        .map_err(failed)?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(failed)
}

/// Starts a command that shows a window and reads the passphrase.
fn started(mut command: Command, run: &Run, screen: &Screen) -> Result<(Child, ChildStdin), Failure> {
    command.envs(run.environment.iter().cloned()).env("HOME", run.folder.join("home"));
    command.env("DISPLAY", &screen.display);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut to = child.stdin.take().ok_or_else(|| failed("it reads nothing"))?;
    writeln!(to, "{PASSPHRASE}").map_err(failed)?;
    Ok((child, to))
}

/// Waits for the window of a command.
fn shown(child: &mut Child, screen: &Screen, page: &LoginPage) -> Result<String, Failure> {
    screen.window(page.everywhere).map_err(|_| {
        let _ended = child.kill();
        let mut said = String::new();
        let _unread = child.stderr.take().map(|mut errors| errors.read_to_string(&mut said));
        failed(format!("no page of {} is shown; {said}", page.everywhere))
    })
}

/// Waits for the end of a command, and shows what it said.
fn ended(child: Child) -> Result<(), Failure> {
    let output = child.wait_with_output().map_err(failed)?;
    eprint!("{}", String::from_utf8_lossy(&output.stdout));
    if output.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&output.stderr))) }
}

/// Goes to the page for logging in, and types name, password and code, with this pause before each.
fn log_in(screen: &Screen, address: &str, code: &dyn Fn() -> String, pause: Duration) {
    let typed = |text: &str, key: &str| {
        screen.xdotool(&["type", "--delay", "30", text]);
        screen.xdotool(&["key", key]);
    };
    screen.xdotool(&["key", "ctrl+l"]);
    typed(address, "Return");
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
