//! The source of the task of `portcullis mcp`, and the other programs that can read it there.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;
use support::{Client, portcullis};

const EMAIL: &str = "zebrina.quarrywood@mail.example";
/// A word of the task that is not a value, so the agent is shown it.
const WORD: &str = "zebrawood";

fn task() -> String {
    format!("Order the {WORD} stool at https://shop.example for {EMAIL}\n")
}

/// A file that only its owner can read.
fn closed(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("task.txt");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// The command lines and environments of a process and all processes below it.
fn told_to_all(process: u32) -> String {
    let mut waiting = vec![process];
    let mut told = String::new();
    while let Some(process) = waiting.pop() {
        for file in ["cmdline", "environ"] {
            let bytes = fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
            told.push_str(&String::from_utf8_lossy(&bytes));
            told.push('\n');
        }
        for thread in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            waiting.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    told
}

/// The data that a gateway with these arguments shows to the machine once its browser runs.
fn shown(command: &mut Command) -> String {
    let mut client = Client::start(command);
    client.begin();
    // The task starts with the first call; its site does not answer.
    client.call("browser_navigate", json!({ "url": "https://shop.example/" }));
    let status = client.call("portcullis_status", json!({}));
    assert!(status.contains(WORD) && !status.contains(EMAIL), "{status}");
    let told = told_to_all(client.child.id());
    assert!(
        told.contains("mcp") && told.contains("--headless"),
        "gateway and browser are among them: {told}"
    );
    assert!(client.end());
    told
}

#[test]
fn a_task_from_a_file_or_descriptor_is_in_no_command_line_and_no_environment() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed(folder.path(), task().as_bytes());
    let in_file = shown(portcullis().arg("mcp").arg("--task-file").arg(&path));
    assert!(!in_file.contains(EMAIL) && !in_file.contains(WORD), "{in_file}");
    // A pipe that is empty after it was read.
    let mut piped = Command::new("sh");
    piped.args(["-c", "exec 9<&0; cat \"$0\" | { exec 3<&0 0<&9 9<&-; exec \"$@\"; }"]).arg(&path);
    piped.arg(env!("CARGO_BIN_EXE_portcullis")).args(["mcp", "--task-fd", "3"]);
    let by_pipe = shown(&mut piped);
    assert!(!by_pipe.contains(EMAIL) && !by_pipe.contains(WORD), "{by_pipe}");
    // The positive control: every program can read the command line.
    let argued = shown(portcullis().arg("mcp").arg("--task").arg(task().trim()));
    assert!(argued.contains(EMAIL) && argued.contains(WORD), "{argued}");
}

/// A gateway whose client disconnects at once.
fn ended(arguments: &[&str]) -> Output {
    portcullis().arg("mcp").args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_value_on_the_command_line_causes_a_warning_with_its_kind() {
    let said = |text: &str| String::from_utf8(ended(&["--task", text]).stderr).unwrap();
    let warned = said(&task());
    assert!(warned.contains("`--task` seems to hold a value (email)"), "{warned}");
    assert!(warned.contains("--task-file FILE") && !warned.contains("quarrywood"), "{warned}");
    let silent = said("Look for a stool at https://shop.example");
    assert!(!silent.contains("seems to hold"), "{silent}");
}

#[test]
fn errors_of_a_task_are_reported_with_their_position_and_without_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no.txt").display().to_string();
    for (arguments, code, words) in [
        (vec!["--task", "a", "--task-file", "b"], 2, "cannot be used with"),
        (vec!["--task", "a", "--task-fd", "3"], 2, "cannot be used with"),
        (vec!["--task-file", "b", "--task-fd", "3"], 2, "cannot be used with"),
        (vec!["--task-fd", "1"], 2, "--task-fd"),
        (vec!["--task-fd", "987"], 2, "not read from `--task-fd 987`"),
        (vec!["--task-file", missing.as_str()], 2, "no.txt"),
    ] {
        let output = ended(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    for (bytes, words) in [
        (b" \n".to_vec(), "is empty"),
        (b"zebrawood \xff".to_vec(), "is not UTF-8"),
        (vec![b'z'; 65 * 1024], "is longer than 65536 bytes"),
    ] {
        let path = closed(folder.path(), &bytes).display().to_string();
        let output = ended(&["--task-file", &path]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words) && !said.contains("zebra") && !said.contains("zzzz"), "{said}");
    }
    let open = closed(folder.path(), task().as_bytes());
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let said = String::from_utf8(ended(&["--task-file", &open.display().to_string()]).stderr).unwrap();
    assert!(said.contains("can be read by others") && !said.contains(WORD), "{said}");
}
