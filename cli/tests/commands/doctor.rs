//! `portcullis doctor` on a complete machine, and with parts removed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the doctor in a home folder of its own, from a folder that is not the workspace.
fn doctor(home: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    command.arg("doctor").args(arguments).env("HOME", home).env_remove("XDG_CACHE_HOME").current_dir(home);
    command.envs(environment.iter().copied());
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
}

fn line<'a>(out: &'a str, name: &str) -> &'a str {
    let of = |line: &&str| line.split_once(' ').is_some_and(|(_, rest)| rest.trim_start().starts_with(name));
    out.lines().find(of).unwrap_or_else(|| panic!("no line of `{name}` in\n{out}"))
}

#[test]
fn a_complete_machine_works_and_reports_files_that_are_not_yet_made() {
    let home = tempfile::tempdir().unwrap();
    let ran = doctor(home.path(), &[], &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for name in ["node", "playwright-core", "chromium", "browser starts", "core dumps", "policy B"] {
        assert!(line(&ran.out, name).starts_with("ok "), "{}", ran.out);
    }
    assert!(line(&ran.out, "vault").starts_with("missing "), "{}", ran.out);
    assert!(line(&ran.out, "vault").contains("portcullis vault init"), "the way to mend it: {}", ran.out);
    assert!(line(&ran.out, "audit log").starts_with("missing "), "{}", ran.out);
    let lines: Vec<&str> = ran.out.lines().collect();
    let (last, before) = lines.split_last().unwrap();
    let mut words = before.iter().map(|line| line.split(' ').next().unwrap());
    assert!(words.all(|word| ["ok", "missing", "problem"].contains(&word)), "{}", ran.out);
    assert!(last.starts_with("next: vault: ") && last.contains("portcullis vault init"), "{}", ran.out);
}

#[test]
fn the_same_in_json() {
    let home = tempfile::tempdir().unwrap();
    let ran = doctor(home.path(), &["--json", "--quick"], &[]);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &told["works"], &told["problems"]), (0, &Value::Bool(true), &Value::from(0)));
    let checks = told["checks"].as_array().unwrap();
    for (name, needed) in [("chromium", true), ("node", !cfg!(unix))] {
        let one = checks.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!((&one["status"], &one["needed"]), (&Value::from("ok"), &Value::Bool(needed)), "{name}");
    }
    assert!(!checks.iter().any(|one| one["name"] == "browser starts"), "--quick starts nothing");
}

#[test]
fn a_missing_part_is_a_failure() {
    let home = tempfile::tempdir().unwrap();
    let ran = doctor(home.path(), &["--quick"], &[("PORTCULLIS_CHROMIUM", "/nowhere/chromium")]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(line(&ran.out, "chromium").starts_with("missing "), "{}", ran.out);
    assert!(ran.err.contains("does not work yet: chromium"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn without_playwright_the_browser_starts() {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("cli.js");
    fs::write(&script, "").unwrap();
    fs::write(home.path().join("package.json"), "{\"version\": \"1.10.0\"}").unwrap();
    let ran = doctor(home.path(), &[], &[("PLAYWRIGHT_CLI_JS", script.to_str().unwrap())]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(line(&ran.out, "playwright-core").starts_with("problem "), "{}", ran.out);
    assert!(line(&ran.out, "playwright-core").contains("npm install"), "{}", ran.out);
    assert!(line(&ran.out, "browser starts").starts_with("ok "), "{}", ran.out);
    assert!(ran.err.contains("1 problem; a guarded browser works"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_browser_that_does_not_start_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let chromium = home.path().join("chromium");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Chromium 156.0.1.2' && exit 0\nexit 1\n";
    fs::write(&chromium, script).unwrap();
    fs::set_permissions(&chromium, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = doctor(home.path(), &[], &[("PORTCULLIS_CHROMIUM", chromium.to_str().unwrap())]);
    assert!(line(&ran.out, "chromium").starts_with("ok "), "{}", ran.out);
    assert!(line(&ran.out, "browser starts").starts_with("problem "), "{}", ran.out);
    assert_eq!(ran.code, 3);
}

#[test]
fn vault_log_and_policy_are_checked_without_a_passphrase() {
    use portcullis::audit::{AuditEvent, AuditLog, FolderLog, SessionId};
    let home = tempfile::tempdir().unwrap();
    let vault = home.path().join(".portcullis/vault");
    let mut init = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    init.args(["vault", "init"]).arg(&vault).stdin(std::process::Stdio::piped());
    let mut init = init.stdout(std::process::Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(
        &mut init.stdin.take().unwrap(),
        b"a passphrase of the test\na passphrase of the test\n",
    )
    .unwrap();
    assert!(init.wait().unwrap().success());
    let audit = home.path().join(".portcullis/audit");
    let mut log = FolderLog::open(&audit).unwrap().log;
    log.append(SessionId::new([7; 8]), &AuditEvent::Ended, 1, true).unwrap();
    drop(log);
    let policy = home.path().join("mine.policy");
    fs::write(&policy, portcullis::DEFAULT_POLICY).unwrap();

    let mine = ["--quick", "--policy", policy.to_str().unwrap()];
    let ran = doctor(home.path(), &mine, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(line(&ran.out, "vault").contains("free"), "{}", ran.out);
    assert!(line(&ran.out, "audit log").contains("2 records, the chain is whole"), "{}", ran.out);
    assert!(line(&ran.out, "policy  ").contains("statements hold"), "{}", ran.out);

    let held = portcullis::storage::vault_file::VaultFile::open(&vault).unwrap();
    let ran = doctor(home.path(), &["--quick"], &[]);
    assert!(line(&ran.out, "vault").contains("open in process"), "{}", ran.out);
    drop(held);

    let segment = audit.join("000001.jsonl");
    fs::write(&segment, fs::read_to_string(&segment).unwrap().replace("\"time\":1}", "\"time\":2}")).unwrap();
    fs::write(&vault, "no vault").unwrap();
    let careless = portcullis::DEFAULT_POLICY.replace("container covers the fields", "container T0");
    fs::write(&policy, careless).unwrap();
    let ran = doctor(home.path(), &mine, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("3 problems"), "{}", ran.err);
    for name in ["vault", "audit log", "policy  "] {
        assert!(line(&ran.out, name).starts_with("problem "), "{}", ran.out);
    }
}

#[test]
fn named_files_must_exist() {
    let home = tempfile::tempdir().unwrap();
    let ran = doctor(home.path(), &["--quick", "--audit", "/nowhere/audit"], &[]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(line(&ran.out, "audit log").starts_with("problem "), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn a_file_of_options_is_checked() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("guard.toml");
    let look = |options: &str| {
        fs::write(&file, options).unwrap();
        doctor(home.path(), &["--quick", "--config", file.to_str().unwrap()], &[])
    };
    fs::write(home.path().join("mine.policy"), portcullis::DEFAULT_POLICY).unwrap();
    let good = "policy = \"mine.policy\"\naudit = \"log\"\nconsent = \"window\"\nprivate-hosts = [\"localhost:8080\"]\n";
    let ran = look(good);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(line(&ran.out, "options").contains("4 in "), "{}", ran.out);
    assert!(line(&ran.out, "policy  ").contains("statements hold"), "{}", ran.out);

    for (options, says) in [
        ("headed = true\nprot = 1\n", "line 2: `portcullis mcp` has no option `--prot`"),
        ("vault = \"vault\"\n", "--audit"),
        ("policy = \"other.policy\"\n", "other.policy, which is not there"),
        ("policy = \"guard.toml\"\n", "guard.toml"),
        ("consent = \"never\"\n", "possible values: client, window, terminal"),
    ] {
        let ran = look(options);
        assert_eq!(ran.code, 1, "{options}{}{}", ran.out, ran.err);
        assert!(ran.out.contains("problem") && ran.out.contains(says), "{options}{}", ran.out);
    }
    look(good);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(look(good).out.contains("others can change"));

    // The command itself names the place as well.
    let mut mcp = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    fs::write(&file, "headed = \"yes\"\n").unwrap();
    let ran = mcp.args(["mcp", "--config"]).arg(&file).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("`headed` takes true or false") && said.contains("guard.toml"), "{said}");
}
