//! `portcullis init`, answered as a person does.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs it in this home with these lines as the answers; whether it succeeds, and all that it says.
fn init(home: &Path, arguments: &[&str], answers: &str) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    // No program of this machine's, such as a password manager, adds a question.
    command.arg("init").args(arguments).env_clear().env("HOME", home).env("PATH", "/nonexistent");
    command.current_dir(home).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that asks nothing more ends before it reads all.
    let _ended = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// A home with a client, and two policies.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cursor")).unwrap();
    fs::write(home.path().join("mine.policy"), portcullis::APPROACH_C_POLICY).unwrap();
    let broken =
        portcullis::APPROACH_C_POLICY.replace("consent every time, naming payee and amount", "consent nver");
    assert_ne!(broken, portcullis::APPROACH_C_POLICY);
    fs::write(home.path().join("broken.policy"), broken).unwrap();
    home
}

#[test]
fn the_user_names_a_policy_and_is_asked_again_where_it_is_wrong() {
    let home = home();
    let configuration = home.path().join(".cursor/mcp.json");
    // No vault; a policy that is broken, one that is not there, and one that holds; write.
    let (worked, said) = init(home.path(), &[], "n\nbroken.policy\nnone.policy\nmine.policy\ny\n");
    assert!(worked, "{said}");
    assert!(said.contains("nver") && said.contains("none.policy"), "what is wrong with them is said: {said}");
    let written = fs::read_to_string(&configuration).unwrap();
    let whole = fs::canonicalize(home.path().join("mine.policy")).unwrap();
    let arguments = format!("\"--policy\",\n        \"{}\"", whole.display());
    let arguments = arguments.split_whitespace().collect::<String>();
    let compact: String = written.split_whitespace().collect();
    assert!(compact.contains(&arguments), "{written}");

    let (worked, said) = init(home.path(), &["--undo"], "");
    assert!(worked && said.contains("taken out"), "{said}");
    assert!(!fs::read_to_string(&configuration).unwrap().contains("portcullis"), "{said}");
}

#[test]
fn an_empty_answer_takes_the_shipped_policy_and_a_dry_run_writes_nothing() {
    let home = home();
    let (worked, said) = init(home.path(), &["--dry-run"], "n\n\n");
    assert!(worked && said.contains("nothing was written") && !said.contains("--policy"), "{said}");
    assert!(!home.path().join(".cursor/mcp.json").exists());
    let (worked, said) = init(home.path(), &["--dry-run"], "n\n");
    assert!(!worked && said.contains("the input ended"), "{said}");
}

#[test]
fn a_policy_of_an_option_is_not_asked_about_and_must_hold() {
    let home = home();
    let (worked, said) = init(home.path(), &["--yes", "--dry-run", "--policy", "mine.policy"], "");
    assert!(worked && said.contains("mine.policy"), "{said}");
    let (worked, said) = init(home.path(), &["--yes", "--dry-run", "--policy", "broken.policy"], "");
    assert!(!worked && said.contains("nver"), "{said}");
    // The guard reads the text form alone.
    let policy = portcullis::policy::Policy::parse(portcullis::APPROACH_C_POLICY).unwrap();
    fs::write(home.path().join("mine.json"), policy.to_json()).unwrap();
    let (worked, said) = init(home.path(), &["--yes", "--dry-run", "--policy", "mine.json"], "");
    assert!(!worked && said.contains("policy convert mine.json --to text"), "{said}");
}
