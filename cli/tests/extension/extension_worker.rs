//! The extension's worker with message sequences that a real browser does not produce on demand.

use std::fs;
use std::process::Command;

use portcullis::policy::Policy;
use serde_json::json;

use crate::browser::node;
use crate::files::{extension, granting_signals, named, repository};

#[test]
fn cancelled_fills_are_not_done_and_the_whole_site_is_restricted() {
    let compiled = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy"), compiled.to_bytes()).unwrap();
    fs::write(folder.path().join("best.json"), json!(named(&granting_signals())).to_string()).unwrap();
    let done = Command::new(node())
        .arg(repository().join("cli/tests/extension/extension_worker.mjs"))
        .arg(folder.path())
        .arg(extension())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
