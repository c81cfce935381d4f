//! `portcullis mcp` after one of its processes is killed, or without a vault that opens.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Client, guard, portcullis, vault};

/// The time limit for child processes to end after the guard. It is shorter than the guard's timeout for a silent
/// process.
const SECONDS: Duration = Duration::from_secs(60);

/// The time limit on a slow machine for a message to arrive or a death to be noticed.
const A_MOMENT: Duration = Duration::from_secs(2);

/// A folder with a vault in it, an audit log, and a place for temporary files.
struct Place {
    folder: tempfile::TempDir,
    vault: PathBuf,
    passphrase: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("temporary")).unwrap();
        let (vault, passphrase) = vault(folder.path());
        Place { folder, vault, passphrase }
    }

    fn guard(&self, vault: &Path) -> Command {
        let arguments = ["mcp", "--allow", "scripts", "--vault"].map(str::to_owned);
        let log = self.folder.path().join("audit");
        let rest = [vault.display().to_string(), "--audit".to_owned(), log.display().to_string()];
        let mut command = guard(&self.passphrase, &[&arguments[..], &rest].concat());
        command.env("TMPDIR", self.temporary());
        command
    }

    /// A guard with a page open.
    fn open(&self) -> Client {
        let mut client = Client::start(&mut self.guard(&self.vault));
        client.begin();
        client.call("browser_navigate", json!({ "url": "https://127.0.0.1:9/" }));
        let console = client.call("browser_console_messages", json!({ "level": "info" }));
        assert!(console.contains("Result"), "{console}");
        client
    }

    fn temporary(&self) -> PathBuf {
        self.folder.path().join("temporary")
    }

    /// The contents of the folder for temporary files.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.temporary()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    /// The record is unbroken, and its signed head matches the vault.
    fn verify(&self) {
        let log = self.folder.path().join("audit");
        let verified = portcullis().args(["audit", "verify"]).arg(log).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
}

/// The processes below this one, with their command lines.
fn below(process: u32) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(number) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let parent = read("stat").rsplit_once(')').and_then(|(_, rest)| rest.split(' ').nth(2)?.parse().ok());
        all.push((number, parent.unwrap_or(0_u32), read("cmdline").replace('\0', " ")));
    }
    let (mut found, mut parents) = (Vec::new(), vec![process]);
    while let Some(parent) = parents.pop() {
        for (number, above, line) in &all {
            if *above == parent {
                parents.push(*number);
                found.push((*number, line.clone()));
            }
        }
    }
    found
}

fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

fn kill(signal: &str, process: u32) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

/// The only process below the guard that was started with this word.
fn the_one(client: &Client, word: &str, but_not: &str) -> u32 {
    let processes = below(client.child.id());
    let mut fits = processes.iter().filter(|(_, line)| line.contains(word) && !line.contains(but_not));
    fits.next().unwrap_or_else(|| panic!("no {word} in {processes:?}")).0
}

/// The answer of a call during which the process that was started with this word is killed.
fn killed_under_a_call(client: &mut Client, word: &str) -> Value {
    let waits =
        json!({ "name": "browser_evaluate", "arguments": { "function": "() => new Promise(() => 0)" } });
    let under_way = client.post("tools/call", &waits);
    std::thread::sleep(A_MOMENT);
    let killed = Instant::now();
    kill("-9", the_one(client, word, "--type="));
    let answer = client.answer(under_way)["result"].take();
    assert!(killed.elapsed() < SECONDS, "{answer}");
    answer
}

#[test]
fn a_killed_guard_ends_its_browser_and_the_next_one_cleans_up() {
    let place = Place::new();
    let mut client = place.open();
    let processes = below(client.child.id());
    assert!(processes.iter().any(|(_, line)| line.contains("chromium")), "{processes:?}");
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let killed = Instant::now();
    while processes.iter().any(|(number, _)| is_alive(*number)) {
        assert!(killed.elapsed() < SECONDS, "{processes:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!place.left().is_empty(), "a killed process removes nothing");
    place.verify();
    // The vault opens, the record continues, and the dead guard's files are removed.
    let client = place.open();
    assert!(client.end());
    assert_eq!(place.left(), Vec::<String>::new());
    place.verify();
}

#[test]
fn a_guard_that_gets_a_signal_ends_its_record() {
    let place = Place::new();
    for signal in ["-TERM", "-INT"] {
        let mut client = place.open();
        kill(signal, client.child.id());
        assert!(client.ends_well(), "{signal}");
        assert_eq!(place.left(), Vec::<String>::new());
    }
    place.verify();
    let log = portcullis().args(["audit", "show"]).arg(place.folder.path().join("audit")).output().unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert_eq!(log.lines().filter(|line| line.contains(" ended ")).count(), 2, "{log}");
}

#[test]
fn a_killed_browser_is_an_error_and_the_next_page_has_a_new_one() {
    let place = Place::new();
    let mut client = place.open();
    let answer = killed_under_a_call(&mut client, "chromium");
    assert_eq!(answer["isError"], json!(true), "{answer}");
    assert!(answer.to_string().contains("the browser is gone"), "{answer}");
    assert!(client.call("portcullis_status", json!({})).contains("no page is open"));
    // Nothing continues in another container by itself.
    assert!(client.call("browser_take_screenshot", json!({})).contains("no page is open"));
    client.call("browser_navigate", json!({ "url": "https://127.0.0.1:9/" }));
    assert!(client.call("browser_console_messages", json!({ "level": "info" })).contains("Result"));
    // It is also killed between two calls.
    kill("-9", the_one(&client, "chromium", "--type="));
    std::thread::sleep(A_MOMENT);
    assert!(client.call("browser_press_key", json!({ "key": "Tab" })).contains("the browser is gone"));
    client.call("browser_navigate", json!({ "url": "https://127.0.0.1:9/" }));
    assert!(client.call("browser_console_messages", json!({ "level": "info" })).contains("Result"));
    // Only the page's process is killed: the browser stays.
    let browser = the_one(&client, "chromium", "--type=");
    for (number, _) in below(client.child.id()).iter().filter(|(_, line)| line.contains("--type=renderer")) {
        // An unused process may have ended by itself.
        let _gone = Command::new("kill").args(["-9", &number.to_string()]).stderr(Stdio::null()).status();
    }
    std::thread::sleep(A_MOMENT);
    assert!(client.call("browser_snapshot", json!({})).contains("the page's process is gone"));
    client.call("browser_navigate", json!({ "url": "https://127.0.0.1:9/" }));
    assert!(client.call("browser_console_messages", json!({ "level": "info" })).contains("Result"));
    assert_eq!(the_one(&client, "chromium", "--type="), browser);
    assert!(client.end());
    place.verify();
}

#[test]
fn a_vault_that_cannot_be_opened_is_reported_and_nothing_starts() {
    let place = Place::new();
    let good = std::fs::read(&place.vault).unwrap();
    let mut flipped = good.clone();
    let middle = good.len() / 2;
    flipped[middle] ^= 1;
    let wrong = Place { passphrase: place.folder.path().join("wrong"), ..Place::new() };
    std::fs::write(&wrong.passphrase, "another passphrase altogether\n").unwrap();
    let beside = |name: &str, bytes: &[u8]| {
        let path = place.vault.with_file_name(name);
        // The guard makes it readable for its user alone.
        std::fs::copy(&place.vault, &path).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    for (place, vault, says) in [
        (&wrong, wrong.vault.clone(), "the passphrase does not open this vault"),
        (&place, place.vault.with_file_name("nothing"), "there is no vault"),
        (&place, beside("flipped", &flipped), "the vault file is damaged in"),
        (&place, beside("cut", &good[..good.len() - 1]), "ends too early"),
        (&place, beside("empty", b""), "ends too early"),
        (&place, beside("other", b"not a vault at all, but as long as one could be"), "not a vault file"),
    ] {
        let output = place.guard(&vault).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says) && output.stdout.is_empty(), "{said}");
        assert_eq!(place.left(), Vec::<String>::new());
    }
}
