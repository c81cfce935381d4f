//! The command as a person types it: its output, its side effects, and its exit codes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn portcullis(arguments: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that needs no input may have ended before the input is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
}

fn shipped_policy() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies/default.policy")).unwrap()
}

#[test]
fn the_shipped_policy_holds() {
    let ran = portcullis(&["policy", "check", "-"], &shipped_policy());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("statements hold"), "{}", ran.out);
}

#[test]
fn a_policy_that_grants_too_much_gets_a_counterexample() {
    let careless = shipped_policy().replace("container covers the fields", "container T0");
    let ran = portcullis(&["policy", "check", "-"], &careless);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("container is T0"), "{}", ran.err);
}

#[test]
fn a_mistake_in_a_policy_is_shown_with_its_position() {
    let ran = portcullis(&["policy", "check", "-"], &shipped_policy().replace("tls valid", "tls vald"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("vald"), "{}", ran.err);
    assert!(ran.err.contains("tls vald"), "the line is shown: {}", ran.err);
}

#[test]
fn a_block_is_printed_in_canonical_form() {
    let paper = "REQ.purchase ctx={origin_request:\"website\", total:64.15, currency:\"USD\"}\nREQ.end\n";
    let ran = portcullis(&["sirl", "check", "-"], paper);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let canonical =
        "REQ.purchase ctx={\"origin_request\":\"website\",\"total\":64.15,\"currency\":\"USD\"}\nREQ.end\n";
    assert_eq!(ran.out, canonical);
}

#[test]
fn a_bad_block_has_a_place_and_exit_code_2() {
    let ran = portcullis(&["sirl", "check", "-"], "REQ.adress\nREQ.end\n");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("adress"), "{}", ran.err);
    assert_eq!(portcullis(&["sirl", "check", "/nowhere/at/all"], "").code, 2);
}

#[test]
fn host_rules_that_are_none_are_named() {
    let ran = portcullis(&["mcp", "--host-rules", "MAP shop.test to my machine"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("to my machine") || ran.err.contains("MAP shop.test"), "{}", ran.err);
}

#[test]
fn a_log_that_was_changed_is_a_finding() {
    use portcullis::audit::{AuditEvent, AuditLog, FolderLog, SessionId};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let mut log = FolderLog::open(&path).unwrap().log;
    let session = SessionId::new([0xab; 8]);
    log.append(session, &AuditEvent::Started { policy: [3; 32] }, 1, true).unwrap();
    log.append(session, &AuditEvent::Ended, 2, true).unwrap();
    let name = path.to_str().unwrap();
    let whole = portcullis(&["audit", "verify", name], "");
    assert_eq!(whole.code, 0, "{}", whole.err);
    assert!(whole.out.contains("3 records"), "{}", whole.out);
    let shown = portcullis(&["audit", "show", name], "");
    assert!(shown.out.contains("started") && shown.out.contains("ended"), "{}", shown.out);
    let segment = path.join("000001.jsonl");
    fs::write(&segment, fs::read_to_string(&segment).unwrap().replace("\"time\":2", "\"time\":3")).unwrap();
    let changed = portcullis(&["audit", "verify", name], "");
    assert_eq!(changed.code, 1);
    assert!(changed.err.contains("000001.jsonl: record 2 (line 3)"), "{}", changed.err);
}
