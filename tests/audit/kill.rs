//! A guard that is killed while it writes its log, five hundred times.
//!
//! The test starts itself again as a guard that writes without end and prints which records are on disk, and kills it at
//! some moment.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::*;
use portcullis::audit::{AuditLog, FolderLog, SessionId, verify, verify_text};

const ROLE: &str = "AUDIT_KILL_ROLE";
const ROUNDS: u32 = 500;
/// The number of kills for one log before the next is begun: reading a long log takes long.
const EACH: u32 = 20;

/// The guard's process. In an ordinary test run it does nothing.
#[test]
fn the_guard_that_is_killed() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (round, folder) = role.split_once(' ').unwrap();
    let session = SessionId::new(u64::from(round.parse::<u32>().unwrap()).to_be_bytes());
    let mut log = FolderLog::open_with(Path::new(folder), opening(7)).unwrap().log;
    // Each number is printed in one piece: a number that is cut in two would be another number.
    let mut out = std::io::stderr();
    for request in 0..10_000 {
        log.append(session, &verb(), 1, false).unwrap();
        log.append(session, &intent(request), 1, true).unwrap();
        out.write_all(format!("begun {request}\n").as_bytes()).unwrap();
        log.append(session, &outcome(request), 1, true).unwrap();
        out.write_all(format!("done {request}\n").as_bytes()).unwrap();
        if request % 3 == 2 {
            log.sign_head(&Signer::new(9), 1).unwrap();
        }
    }
}

/// Runs a guard until it has printed `words` words and a while longer; returns all that it printed.
fn run_and_kill(folder: &Path, round: u32, words: u32) -> Vec<String> {
    let mut guard = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_guard_that_is_killed", "--nocapture"])
        .env(ROLE, format!("{round} {}", folder.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(guard.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut all: Vec<String> = said.by_ref().take(words as usize).collect();
    // The kill falls into the next step or two, at another moment each time.
    std::thread::sleep(Duration::from_micros(u64::from(round) * 37 % 1500));
    guard.kill().unwrap();
    all.extend(said);
    guard.wait().unwrap();
    all
}

fn rounds(numbers: std::ops::Range<u32>) -> (u32, u32) {
    let (mut unfinished, mut done) = (0, 0);
    let mut home = tempfile::tempdir().unwrap();
    for round in numbers {
        if round % EACH == 0 {
            home = tempfile::tempdir().unwrap();
        }
        let folder = home.path().join("audit");
        let said = run_and_kill(&folder, round, round % 5);
        let session = SessionId::new(u64::from(round).to_be_bytes());
        let opened =
            FolderLog::open_with(&folder, opening(7)).unwrap_or_else(|error| panic!("{round}: {error}"));
        drop(opened.log);
        let report = verify(&folder, None, Some(Signer::new(9).key())).unwrap();
        assert_eq!(report.unfinished, []);
        let names: Vec<_> = (1..=report.segments).map(|n| folder.join(format!("{n:06}.jsonl"))).collect();
        let text: String = names.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let (records, _) = verify_text(&text).unwrap();
        let has = |event: &str, request: u64| {
            let mut of_session = records.iter().filter(|record| record.session == session);
            of_session.any(|record| record.event == event && record.body["request"] == request)
        };
        for line in &said {
            let (word, request) = line.split_once(' ').unwrap();
            let request = request.parse().unwrap();
            let event = if word == "begun" { "intent" } else { "outcome" };
            assert!(has(event, request), "round {round}: {line}, and the log has it not");
            done += 1;
        }
        for open in &opened.unfinished {
            assert_eq!(open.session, session);
            assert!(has("unknown_outcome", open.request) && !has("outcome", open.request));
            unfinished += 1;
        }
    }
    (unfinished, done)
}

#[test]
fn a_log_survives_its_guard_being_killed_anywhere() {
    // Most of the time is spent waiting for the disk, so two run at a time.
    let half = ROUNDS / 2;
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| rounds(0..half));
        let other = scope.spawn(|| rounds(half..ROUNDS));
        (one.join().unwrap(), other.join().unwrap())
    });
    let (unfinished, done) = (one.0 + other.0, one.1 + other.1);
    println!("{unfinished} releases were cut off, {done} steps were told");
    assert!(unfinished > 20, "{unfinished}: the guard was never killed between intent and outcome");
    assert!(done > ROUNDS, "{done}: the guard was killed too early");
}
