//! `portcullis audit`: output, findings, and exit codes.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ed25519_dalek::{Signer as _, SigningKey};
use portcullis::audit::{
    AuditEvent, AuditLog, BlockedByBrowser, FolderLog, HeadSigner, LogOptions, SessionId, SignedHead,
};

struct Signer(SigningKey);

impl HeadSigner for Signer {
    fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    fn sign(&self, message: &[u8]) -> Option<[u8; 64]> {
        Some(self.0.sign(message).to_bytes())
    }
}

const EVENTS: u64 = 6;

/// A log of eight records in three segments, the first seven under a head.
fn log() -> (tempfile::TempDir, PathBuf, SignedHead) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("audit");
    let opening = LogOptions { segment_records: 3, unix_ms: 1_795_276_947_123, ..LogOptions::now() };
    let mut log = FolderLog::open_with(&folder, opening).unwrap().log;
    for number in 0..EVENTS {
        let event = match number {
            0 => AuditEvent::Started { policy: [3; 32] },
            5 => AuditEvent::Ended,
            _ => AuditEvent::Browser { what: BlockedByBrowser::Popup },
        };
        log.append(SessionId::new([(number % 2) as u8; 8]), &event, number, true).unwrap();
    }
    let head = log.sign_head(&Signer(SigningKey::from_bytes(&[9; 32])), 9).unwrap().unwrap();
    (home, folder, head)
}

/// Exit code, standard output, standard error.
fn run(arguments: &[&str], log: &Path) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    let ran = command.arg("audit").arg(arguments[0]).arg(log).args(&arguments[1..]).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code().unwrap(), text(ran.stdout), text(ran.stderr))
}

#[test]
fn records_are_shown_selected_and_checked() {
    let (_home, folder, _) = log();
    let (code, out, err) = run(&["show"], &folder);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 9, "{out}");
    assert!(
        lines[0].starts_with("2026-11-21T16:02:27.123Z 0     -") && lines[0].contains("log_opened"),
        "{out}"
    );
    assert!(lines[2].contains("0101010101010101 browser") && lines[2].contains("what=popup"), "{out}");
    assert!(lines[8].starts_with("8 records in 3 segments, the chain is whole"), "{out}");
    let count = |arguments: &[&str]| run(arguments, &folder).1.lines().count();
    assert_eq!(count(&["show", "--json"]), 8);
    assert_eq!(count(&["show", "--json", "--session", "0101010101010101"]), 3);
    assert_eq!(count(&["show", "--json", "--session", "-"]), 2);
    assert_eq!(count(&["show", "--json", "--event", "browser"]), 4);
    assert_eq!(count(&["show", "--json", "--event", "browser", "--last", "2"]), 2);
    assert_eq!(count(&["tail", "--last", "3"]), 3);
    let (_, out, _) = run(&["show", "--json", "--last", "1"], &folder);
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&record["event"], &record["number"]), (&"head_signed".into(), &7.into()));
    assert_eq!(run(&["show", "--session", "zz"], &folder).0, 2);
}

#[test]
fn an_external_head_and_key_are_checked_against_the_log() {
    let (home, folder, head) = log();
    let kept = home.path().join("kept.note");
    fs::write(&kept, head.to_text()).unwrap();
    let public = Signer(SigningKey::from_bytes(&[9; 32])).public_key();
    let (key, kept) = (head.verifier_key(public), kept.to_str().unwrap().to_owned());
    let (code, out, err) = run(&["verify", "--head", &kept, "--key", &key], &folder);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("covers 7 records"), "{out}");
    let (code, out, _) = run(&["verify", "--json", "--key", &key], &folder);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["whole"], &report["records"]), (0, &true.into(), &8.into()));

    assert_eq!(run(&["verify", "--key", &"07".repeat(32)], &folder).0, 1);
    assert_eq!(run(&["verify", "--key", "what"], &folder).0, 2);
    assert_eq!(run(&["verify", "--head", "/none"], &folder).0, 2);
    assert_eq!(run(&["verify"], Path::new("/no/such/log")).0, 2);

    // The last segment and the note are missing: the rest is unbroken, and only an owner of the head notices.
    fs::remove_file(folder.join("000003.jsonl")).unwrap();
    fs::remove_file(folder.join("head.note")).unwrap();
    assert_eq!(run(&["verify"], &folder).0, 0);
    let (code, _, err) = run(&["verify", "--head", &kept], &folder);
    assert_eq!(code, 1);
    assert!(err.contains("the log has 6 records and had 7"), "{err}");

    let segment = folder.join("000002.jsonl");
    fs::write(&segment, fs::read_to_string(&segment).unwrap().replacen("popup", "popuq", 1)).unwrap();
    for command in ["verify", "show", "tail"] {
        let (code, _, err) = run(&[command], &folder);
        assert_eq!(code, 1, "{command}");
        assert!(err.contains("000002.jsonl: record 3 (line 1)"), "{err}");
    }
    let (_, out, _) = run(&["verify", "--json"], &folder);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&report["whole"], &report["file"], &report["record"]),
        (&false.into(), &"000002.jsonl".into(), &3.into())
    );
}

#[test]
fn a_forged_record_does_not_reach_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("log.jsonl");
    fs::write(&file, "{\"event\":\"\u{1b}[2J\"}\n\u{1b}[2J\n").unwrap();
    let (code, out, err) = run(&["show"], &file);
    assert_eq!(code, 1);
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{out:?} {err:?}");
}

#[test]
fn following_shows_new_records_and_ends_with_its_reader() {
    let (_home, folder, _) = log();
    let mut tail = Command::new(env!("CARGO_BIN_EXE_portcullis"))
        .args(["audit", "tail", "--follow", "--json", "--last", "1"])
        .arg(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(tail.stdout.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        line
    };
    assert!(line().contains("head_signed"));
    let opening = LogOptions { segment_records: 3, ..LogOptions::now() };
    let mut log = FolderLog::open_with(&folder, opening).unwrap().log;
    assert!(line().contains("log_opened"));
    for _ in 0..4 {
        log.append(SessionId::new([4; 8]), &AuditEvent::Ended, 3, false).unwrap();
        assert!(line().contains("0404040404040404"));
    }
    drop(out);
    let started = Instant::now();
    while tail.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "it goes on without a reader");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut err = String::new();
    tail.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((tail.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}
