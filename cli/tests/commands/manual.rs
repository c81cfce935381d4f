//! Completions and manual pages, tested with the programs that read them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn portcullis(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_portcullis")).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A program of this system, or `None` if it is not installed.
fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(program).args(arguments).output().ok()
}

/// The completions of bash after these words, the last of which is being typed.
fn offered(script: &Path, words: &[&str]) -> Option<Vec<String>> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let asked = format!(
        "source '{}' && COMP_WORDS=({}) COMP_CWORD={} COMPREPLY=() && _portcullis portcullis '{}' '{}' && printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
        words.len() - 1,
        words.last().unwrap(),
        words.iter().rev().nth(1).unwrap(),
    );
    let done = run("bash", &["--noprofile", "--norc", "-c", &asked])?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8(done.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_commands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("portcullis.bash");
    fs::write(&script, portcullis(&["completions", "bash"])).unwrap();
    let Some(commands) = offered(&script, &["portcullis", "vau"]) else { return };
    assert_eq!(commands, ["vault"]);
    let of_vault = offered(&script, &["portcullis", "vault", "ro"]).unwrap();
    assert_eq!(of_vault, ["rotate"]);
    let options = offered(&script, &["portcullis", "doctor", "--j"]).unwrap();
    assert_eq!(options, ["--json"]);
}

#[test]
fn every_shell_gets_a_script() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = portcullis(&["completions", shell]);
        assert!(script.contains("portcullis") && script.contains("quarantine"), "{shell}");
    }
    let other = Command::new(env!("CARGO_BIN_EXE_portcullis")).args(["completions", "csh"]).output().unwrap();
    assert_eq!(other.status.code(), Some(2));
}

#[test]
fn the_pages_are_read_by_the_systems_own_reader() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    portcullis(&["man", pages.to_str().unwrap()]);
    let names: Vec<String> =
        pages.read_dir().unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    for name in ["portcullis.1", "portcullis-doctor.1", "portcullis-vault.1", "portcullis-vault-add.1"] {
        assert!(names.iter().any(|one| one == name), "{name} is not in {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");

    // groff reports errors on standard error, and renders the rest.
    for name in &names {
        let page = pages.join(name);
        let Some(read) =
            run("groff", &["-man", "-Kutf8", "-Tutf8", "-ww", "-P-cbou", page.to_str().unwrap()])
        else {
            return;
        };
        let text = String::from_utf8_lossy(&read.stdout).into_owned();
        assert!(
            read.status.success() && read.stderr.is_empty(),
            "{name}: {}",
            String::from_utf8_lossy(&read.stderr)
        );
        assert!(text.contains("SYNOPSIS") && text.contains("DESCRIPTION"), "{name}: {text}");
    }
    let page = pages.join("portcullis-vault-add.1");
    if let Some(read) = run("man", &["-l", page.to_str().unwrap()]).filter(|read| read.status.success()) {
        let text = String::from_utf8_lossy(&read.stdout).into_owned();
        // Bold is a letter, a backspace, and the letter again.
        let mut plain = String::new();
        for letter in text.chars() {
            if letter == '\u{8}' {
                plain.pop();
            } else {
                plain.push(letter);
            }
        }
        assert!(
            plain.contains("portcullis-vault-add") && plain.contains("asked for, or read as a line"),
            "{text}"
        );
    }
}
