//! A change of a log is detected, and the record is named.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Verifier, VerifyingKey};
use portcullis::audit::{
    AuditEvent, AuditLog, FolderLog, LogError, LogId, LogOptions, Problem, SessionId, SignedHead, VaultAct,
    verify,
};
use sha2::{Digest, Sha256};

const SEGMENTS: [&str; 2] = ["000001.jsonl", "000002.jsonl"];

/// A log of nine records in two segments, with a signed head over eight.
fn sample() -> (tempfile::TempDir, PathBuf, SignedHead) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("audit");
    let mut log = FolderLog::open_with(&folder, opening(5)).unwrap().log;
    log.append(SessionId::LOG, &AuditEvent::Vault { act: VaultAct::Opened, generation: 41 }, 1, false)
        .unwrap();
    log.append(session(1), &AuditEvent::Started { policy: [3; 32] }, 2, true).unwrap();
    log.append(session(1), &verb(), 3, false).unwrap();
    log.append(session(1), &intent(1), 4, true).unwrap();
    log.append(session(2), &intent(1), 5, true).unwrap();
    log.append(session(1), &outcome(1), 6, true).unwrap();
    log.append(session(2), &outcome(1), 7, true).unwrap();
    let head = log.sign_head(&Signer::new(9), 8).unwrap().unwrap();
    assert_eq!((head.records, head.segment, head.generation), (8, 2, Some(41)));
    (home, folder, head)
}

fn key() -> [u8; 32] {
    Signer::new(9).key()
}

/// The problem, with its file and line.
fn found(
    folder: &Path,
    known: Option<&SignedHead>,
    key: Option<[u8; 32]>,
) -> Option<(String, usize, Problem)> {
    match verify(folder, known, key) {
        Ok(_) => None,
        Err(LogError::Broken { broken, .. }) => {
            Some((broken.file, broken.place.map_or(0, |place| place.line), broken.problem))
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn an_undamaged_log_verifies() {
    let (_home, folder, head) = sample();
    let report = verify(&folder, Some(&head), Some(key())).unwrap();
    assert_eq!((report.records, report.segments, report.log), (9, 2, Some(LogId([5; 16]))));
    assert_eq!(report.signed, Some(head));
    assert_eq!(report.unfinished, []);
}

#[test]
fn every_changed_byte_is_found() {
    let (_home, folder, head) = sample();
    for name in ["000001.jsonl", "000002.jsonl", "head.note"] {
        let path = folder.join(name);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            {
                let bit = 1 << (at % 8);
                let mut bytes = whole.clone();
                bytes[at] ^= bit;
                fs::write(&path, &bytes).unwrap();
                let (file, line, _) = found(&folder, None, Some(key()))
                    .unwrap_or_else(|| panic!("{name}: byte {at} changed by {bit} unseen"));
                assert_eq!(file, name);
                if name != "head.note" {
                    let lines_before = whole[..at].iter().filter(|byte| **byte == b'\n').count();
                    assert_eq!(line, lines_before + 1, "{name}: byte {at}");
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(found(&folder, Some(&head), Some(key())), None);
}

#[test]
fn nothing_is_added_to_a_damaged_log() {
    let (_home, folder, _) = sample();
    let path = folder.join(SEGMENTS[0]);
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let second = fs::read(folder.join(SEGMENTS[1])).unwrap();
        let error = FolderLog::open_with(&folder, opening(5)).err().unwrap().to_string();
        assert!(error.contains("000001.jsonl"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(fs::read(folder.join(SEGMENTS[1])).unwrap(), second);
    }
}

/// All lines of a log, with the number of those in the first segment.
fn lines(folder: &Path) -> (Vec<String>, usize) {
    let read = |name| fs::read_to_string(folder.join(name)).unwrap();
    let split = |text: String| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (mut first, second) = (split(read(SEGMENTS[0])), split(read(SEGMENTS[1])));
    let count = first.len();
    first.extend(second);
    (first, count)
}

fn write(folder: &Path, lines: &[String], first: usize) {
    fs::write(folder.join(SEGMENTS[0]), lines[..first.min(lines.len())].concat()).unwrap();
    fs::write(folder.join(SEGMENTS[1]), lines[first.min(lines.len())..].concat()).unwrap();
}

#[test]
fn a_removed_a_doubled_and_a_moved_record_is_named() {
    let (_home, folder, _) = sample();
    fs::remove_file(folder.join("head.note")).unwrap();
    let (all, first) = lines(&folder);
    let at = |number: usize| match number < first {
        true => (SEGMENTS[0].to_owned(), number + 1),
        false => (SEGMENTS[1].to_owned(), number + 1 - first),
    };
    let place = |folder: &Path| found(folder, None, None).map(|(file, line, _)| (file, line)).unwrap();
    for number in 0..all.len() - 1 {
        let mut without = all.clone();
        without.remove(number);
        write(&folder, &without, first);
        assert_eq!(place(&folder), at(number), "record {number} removed");
        let mut twice = all.clone();
        twice.insert(number, all[number].clone());
        write(&folder, &twice, first);
        assert_eq!(place(&folder), at(number + 1), "record {number} twice");
        let mut swapped = all.clone();
        swapped.swap(number, number + 1);
        write(&folder, &swapped, first);
        assert_eq!(place(&folder), at(number), "record {number} swapped");
        // Moving records to another segment is detected where a head names the segment of the last one.
    }
    write(&folder, &all, first);
    fs::rename(folder.join(SEGMENTS[0]), folder.join("aside")).unwrap();
    assert_eq!(found(&folder, None, None), Some((SEGMENTS[0].into(), 0, Problem::Missing)));
    fs::write(folder.join(SEGMENTS[0]), "").unwrap();
    assert_eq!(found(&folder, None, None), Some((SEGMENTS[0].into(), 0, Problem::Empty)));
    fs::rename(folder.join("aside"), folder.join(SEGMENTS[0])).unwrap();
    fs::rename(folder.join(SEGMENTS[1]), folder.join("000003.jsonl")).unwrap();
    assert_eq!(found(&folder, None, None), Some((SEGMENTS[1].into(), 0, Problem::Missing)));
}

#[test]
fn a_record_of_another_log_is_found_in_its_place() {
    let (_home, folder, _) = sample();
    let (_other_home, other, _) = sample();
    // The other log has the same events at other times: each record has the right number and its own right hash.
    let mut log = FolderLog::open_with(&folder, opening(5)).unwrap().log;
    log.append(session(1), &verb(), 50, true).unwrap();
    log.append(session(1), &verb(), 51, true).unwrap();
    let mut log = FolderLog::open_with(&other, opening(5)).unwrap().log;
    log.append(session(1), &verb(), 60, true).unwrap();
    log.append(session(1), &verb(), 61, true).unwrap();
    let third = "000003.jsonl";
    let (ours, theirs) = (folder.join(third), other.join(third));
    let (ours_text, theirs) = (fs::read_to_string(&ours).unwrap(), fs::read_to_string(theirs).unwrap());
    let (first, _) = ours_text.split_once('\n').unwrap();
    let (_, second) = theirs.split_once('\n').unwrap();
    fs::write(&ours, format!("{first}\n{second}")).unwrap();
    assert_eq!(found(&folder, None, None), Some((third.to_owned(), 2, Problem::Unlinked)));
}

#[test]
fn a_truncation_is_detected_where_a_head_stored_elsewhere_covers_it() {
    let (_home, folder, head) = sample();
    let (all, first) = lines(&folder);
    let note = fs::read(folder.join("head.note")).unwrap();
    let whole = all.concat();
    let split = all[..first].concat().len();
    let covered = all[..8].concat().len();
    for cut in 1..whole.len() {
        fs::write(folder.join(SEGMENTS[0]), &whole[..cut.min(split)]).unwrap();
        let second = folder.join(SEGMENTS[1]);
        if cut > split {
            fs::write(&second, &whole[split..cut]).unwrap();
        } else if second.exists() {
            fs::remove_file(&second).unwrap();
        }
        let at_a_line = whole[..cut].ends_with('\n');
        // An attacker who truncates the log can remove its note too; the rest is a shorter, undamaged log.
        let _ = fs::remove_file(folder.join("head.note"));
        assert_eq!(found(&folder, None, Some(key())).is_some(), !at_a_line, "cut at {cut}, no head");
        let shows = !at_a_line || cut < covered;
        assert_eq!(found(&folder, Some(&head), Some(key())).is_some(), shows, "cut at {cut}, known head");
        // Opening the log with that head is refused too.
        if at_a_line && cut < covered {
            let knowing = LogOptions { known: Some(head.clone()), ..opening(5) };
            assert!(FolderLog::open_with(&folder, knowing).is_err(), "cut at {cut}");
        }
        fs::write(folder.join("head.note"), &note).unwrap();
        assert_eq!(found(&folder, None, None).is_some(), shows, "cut at {cut}, the note left");
    }
}

#[test]
fn a_log_written_anew_is_detected_with_a_known_head_alone() {
    let (_home, folder, head) = sample();
    // The forged log has the same id and number of records, other content, and the signature of the forger's own key.
    fs::remove_dir_all(&folder).unwrap();
    let mut log = FolderLog::open_with(&folder, opening(5)).unwrap().log;
    for at in 0..7 {
        log.append(session(1), &verb(), at, true).unwrap();
    }
    log.sign_head(&Signer::new(1), 8).unwrap().unwrap();
    drop(log);
    assert_eq!(found(&folder, None, None), None);
    assert_eq!(found(&folder, None, Some(key())).unwrap().2, Problem::Signature);
    assert_eq!(found(&folder, Some(&head), None).unwrap().2, Problem::Differs(7));
}

#[test]
fn a_head_of_another_time_log_or_key_is_recognised() {
    let (_home, folder, head) = sample();
    let old = fs::read(folder.join("head.note")).unwrap();
    let mut log = FolderLog::open_with(&folder, opening(5)).unwrap().log;
    assert_eq!(log.sign_head(&LockedSigner, 9).unwrap(), None);
    let newer = log.sign_head(&Signer::new(9), 9).unwrap().unwrap();
    drop(log);
    assert!(newer.records > head.records && newer.is_signed_by(key()) && !newer.is_signed_by([9; 32]));
    assert_eq!(found(&folder, Some(&newer), Some(key())), None);
    assert_eq!(found(&folder, Some(&head), Some(key())), None);
    fs::write(folder.join("head.note"), old).unwrap();
    assert_eq!(found(&folder, None, Some(key())), None);
    assert_eq!(found(&folder, Some(&newer), None), Some(("head.note".into(), 0, Problem::Older)));
    fs::remove_file(folder.join("head.note")).unwrap();
    assert_eq!(found(&folder, None, None), Some(("head.note".into(), 0, Problem::NoNote)));

    let (_other_home, other, _) = {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("audit");
        let made = LogOptions { log: LogId([6; 16]), ..opening(5) };
        drop(FolderLog::open_with(&folder, made).unwrap());
        (home, folder, ())
    };
    assert_eq!(found(&other, Some(&head), None).unwrap().2, Problem::HeadOfOther);
}

/// Checks the note against the specification without the library's own functions.
#[test]
fn the_head_is_a_signed_note() {
    let (_home, folder, head) = sample();
    let note = fs::read_to_string(folder.join("head.note")).unwrap();
    assert_eq!(note, head.to_text());
    let (text, signatures) = note.rsplit_once("\n\n").unwrap();
    let text = format!("{text}\n");
    let mut words = signatures.strip_suffix('\n').unwrap().split(' ');
    let (dash, name, encoded) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    assert_eq!((dash, words.next()), ("\u{2014}", None));
    let signed = STANDARD.decode(encoded).unwrap();
    let (hash, signature) = signed.split_at(4);
    let typed = [&[1u8][..], &key()].concat();
    let named = [name.as_bytes(), b"\n", &typed].concat();
    assert_eq!(hash, &Sha256::digest(named)[..4]);
    let verifier = VerifyingKey::from_bytes(&key()).unwrap();
    verifier.verify(text.as_bytes(), &Signature::from_slice(signature).unwrap()).unwrap();

    let lines: Vec<&str> = text.lines().collect();
    let covered = lines_of(&folder).nth(7).unwrap();
    let (_, rest) = covered.split_once("\"hash\":\"").unwrap();
    let digits = &rest[..64];
    let unsealed = covered.replace(&format!("\"hash\":\"{digits}\","), "");
    let computed = Sha256::digest(unsealed.trim_end());
    assert_eq!(lines[0], format!("portcullis audit {}", "05".repeat(16)));
    assert_eq!(lines[1..], ["8", &STANDARD.encode(computed), "segment 000002", "generation 41", "time 8"]);
    let key_text = format!("{name}+{}+{}", digits_of(hash), STANDARD.encode(typed));
    assert_eq!(head.verifier_key(key()), key_text);
    assert_eq!(portcullis::audit::parse_key(&key_text), Some(key()));
}

fn lines_of(folder: &Path) -> std::vec::IntoIter<String> {
    lines(folder).0.into_iter()
}

fn digits_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
