//! `portcullis sirl` and the other forms of a policy, as a person types them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const DEFAULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../policies/default.policy");
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sirl/schemas/default.schema");

fn portcullis(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not read its input.
    let _closed = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Exit code, standard output, standard error.
fn said(arguments: &[&str], input: &str) -> (i32, String, String) {
    let output = portcullis(arguments, input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

#[test]
fn blocks_and_plans_are_read_under_a_schema() {
    let (code, out, _) = said(&["sirl", "check", "-"], "REQ.address fields=[zip]\nREQ.end");
    assert_eq!((code, out.as_str()), (0, "REQ.address fields=[\"postal_code\"]\nREQ.end\n"));
    let (code, out, _) = said(&["sirl", "check", "-", "--json", "--schema", SCHEMA], "PLAN.otp\nPLAN.end");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, value["form"].as_str()), (0, Some("plan")));
    let folder = tempfile::tempdir().unwrap();
    let narrow = write(folder.path(), "narrow.schema", "kind contact { email }");
    let (code, _, err) = said(&["sirl", "check", "-", "--schema", &narrow], "REQ.address\nREQ.end");
    assert_eq!(code, 2);
    assert!(err.contains("address"), "{err}");
    let broken = write(folder.path(), "broken.schema", "kind contcat { email }");
    let (code, _, err) = said(&["sirl", "check", "-", "--schema", &broken], "REQ.contact\nREQ.end");
    assert_eq!(code, 2);
    assert!(err.contains("contact"), "{err}");
}

#[test]
fn a_scan_reports_blocks_with_their_positions() {
    let text = "Sure!\nREQ.otp\nREQ.end\nand then\nREQ.nothing\nREQ.end\n";
    let (code, out, err) = said(&["sirl", "scan", "-"], text);
    assert_eq!(code, 1, "{err}");
    let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["span"], serde_json::json!([6, 21]));
    assert_eq!(lines[1]["malformed"]["line"], 5);
    assert!(err.contains("one block cannot be read"), "{err}");
}

#[test]
fn masks_are_measured_and_grammars_exported() {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary = write(folder.path(), "v.tiktoken", "UkVR 0\nLm90cA== 1\nLmVuZA== 2\nCg== 3\n");
    let (code, out, err) = said(&["sirl", "mask-info", &vocabulary, "--kinds", "otp", "--json"], "");
    assert_eq!(code, 0, "{err}");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["tokens"], 4);
    assert!(value["masks"].as_u64().unwrap() > 1);
    let (code, out, _) = said(&["sirl", "export", "lark", "--kinds", "otp,contact"], "");
    assert!(code == 0 && out.contains("contact") && !out.contains("purchase"), "{out}");
    let (code, out, _) = said(&["sirl", "export", "json-schema", "--kinds", "otp"], "");
    assert!(code == 0 && serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
    let (code, _, err) = said(&["sirl", "export", "lark", "--kinds", "pin"], "");
    assert_eq!(code, 2);
    assert!(err.contains("`pin` is no kind of request"), "{err}");
}

#[test]
fn a_policy_goes_through_all_its_forms() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text, _) = said(&["policy", "convert", DEFAULT, "--to", "text"], "");
    assert_eq!(code, 0);
    let (_, json, _) = said(&["policy", "convert", DEFAULT], "");
    let json = write(folder.path(), "p.json", &json);
    let bytes = folder.path().join("p.bytes").display().to_string();
    let (code, out, err) = said(&["policy", "compile", &json, "-o", &bytes, "--json"], "");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("policy_hash"));
    for form in [&json, &bytes] {
        assert_eq!(said(&["policy", "convert", form, "--to", "text"], "").1, text);
    }
    assert_eq!(said(&["policy", "check", &json], "").0, 0);
    let mut damaged = std::fs::read(&bytes).unwrap();
    damaged[200] ^= 1;
    std::fs::write(&bytes, damaged).unwrap();
    assert_eq!(said(&["policy", "convert", &bytes], "").0, 2);
}

#[test]
fn a_policy_that_does_not_hold_is_not_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(DEFAULT).unwrap();
    let careless = text.replace("container T2\n", "container T0\n");
    let policy = write(folder.path(), "careless.policy", &careless);
    let bytes = folder.path().join("careless.bytes");
    let (code, _, err) = said(&["policy", "compile", &policy, "-o", &bytes.display().to_string()], "");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("container is T") && !bytes.exists(), "{err}");
}

#[test]
fn a_reader_that_closes_the_stream_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis"))
        .args(["policy", "convert", DEFAULT])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), b"".as_slice()));
}
