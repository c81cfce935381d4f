//! Every test of the workspace, as `cargo test --workspace` runs it, but several test programs at a time.
//!
//! Cargo runs one after the other, and many of them wait: for a browser, for a disk, for a time that has to
//! pass. What one says is kept in a file, and shown where it fails.

use crate::process::{Failure, Place, run, without_our_package};
use crate::setup::Tools;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A test program that Cargo has built.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    /// Its source, within the workspace: `vault/tests/keys.rs`.
    name: String,
    executable: PathBuf,
    /// The folder of its package, in which Cargo starts it.
    folder: PathBuf,
}

/// What a program did.
struct Ended {
    name: String,
    passed: bool,
    log: PathBuf,
}

/// Builds and runs all of them, whatever fails, and then the examples in the documentation.
pub fn run_all(place: &Place, tools: &Tools) -> Result<(), Failure> {
    let start = Instant::now();
    let programs = build(place, tools)?;
    println!("{} test programs, built in {:.1} s", programs.len(), start.elapsed().as_secs_f32());
    let logs = place.target.join("test-logs");
    fs::create_dir_all(&logs).map_err(|error| unusable(&logs, &error))?;
    let left = Mutex::new(programs);
    let ended = thread::scope(|scope| {
        let worker = || -> Result<Vec<Ended>, Failure> {
            let mut ended = Vec::new();
            loop {
                let next = left.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some(program) = next else { return Ok(ended) };
                ended.push(start_and_wait(tools, &program, &logs)?);
            }
        };
        let at_a_time = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..at_a_time).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err(Failure::not_set_up("a thread of ours panicked".to_owned())))
        });
        joined.collect::<Result<Vec<Vec<Ended>>, Failure>>()
    })?;
    let failed: Vec<String> = ended
        .into_iter()
        .flatten()
        .filter(|ended| !ended.passed)
        .map(|ended| format!("{}: FAILED, log: {}", ended.name, ended.log.display()))
        .collect();
    let documented = run(place.cargo().args(["test", "--workspace", "--doc"]).envs(tools.environment()));
    if failed.is_empty() { documented } else { Err(Failure::finding(failed.join("\n"))) }
}

/// Builds every test program; the largest is the last, and so is taken first. Those hold the bridge to the
/// browser and take longest, and what takes long should not be started when all else is done.
fn build(place: &Place, tools: &Tools) -> Result<Vec<Program>, Failure> {
    let mut cargo = place.cargo();
    cargo.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    let output = cargo
        .envs(tools.environment())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::not_set_up(format!("`cargo test` does not start: {error}")))?;
    if !output.status.success() {
        return Err(Failure::finding("the tests cannot be built: Cargo's message is above".to_owned()));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let mut programs: Vec<Program> =
        said.lines().filter_map(|message| program(message, &place.root)).collect();
    if programs.is_empty() {
        return Err(Failure::not_set_up("Cargo names no test program".to_owned()));
    }
    programs.sort_by_key(|program| {
        (fs::metadata(&program.executable).map_or(0, |about| about.len()), program.name.clone())
    });
    Ok(programs)
}

/// The test program of one of Cargo's messages, if it is about one.
fn program(message: &str, root: &Path) -> Option<Program> {
    let (_, profile) = message.split_once(r#""profile":{"#)?;
    let (profile, _) = profile.split_once('}')?;
    if !profile.contains(r#""test":true"#) {
        return None;
    }
    let source = PathBuf::from(member(message, "src_path")?);
    Some(Program {
        name: source.strip_prefix(root).unwrap_or(&source).display().to_string(),
        executable: member(message, "executable")?.into(),
        folder: Path::new(&member(message, "manifest_path")?).parent()?.to_path_buf(),
    })
}

/// The first member of this name in a JSON text, if it is a text. Cargo writes no space between the parts.
fn member(json: &str, name: &str) -> Option<String> {
    let (_, rest) = json.split_once(&format!(r#""{name}":""#))?;
    let mut text = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return Some(text),
            // Paths hold no other escapes than of themselves: `\\` and `\"`.
            '\\' => text.push(characters.next().filter(|c| matches!(c, '\\' | '"' | '/'))?),
            c => text.push(c),
        }
    }
}

/// Runs one program to its end, says how it went, and if it failed, all that it said.
fn start_and_wait(tools: &Tools, program: &Program, logs: &Path) -> Result<Ended, Failure> {
    let log = logs.join(format!("{}.log", program.name.replace(['/', '\\'], "-")));
    // A file and not a pipe: what a test leaves behind would keep a pipe open.
    let sink = File::create(&log).map_err(|error| unusable(&log, &error))?;
    let same = sink.try_clone().map_err(|error| unusable(&log, &error))?;
    let mut command = Command::new(&program.executable);
    without_our_package(&mut command);
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
    command.envs(tools.environment()).stdin(Stdio::null()).stdout(sink).stderr(same);
    let start = Instant::now();
    let status = command.status().map_err(|error| {
        Failure::not_set_up(format!("`{}` does not start: {error}", program.executable.display()))
    })?;
    let said = fs::read(&log).map_err(|error| unusable(&log, &error))?;
    let said = String::from_utf8_lossy(&said);
    let line = line(&program.name, &said, status.success(), start.elapsed());
    // In one piece, since others report too.
    if status.success() {
        println!("{line}")
    } else {
        println!("{line}\n{said}\n{}: {status}", program.name)
    }
    Ok(Ended { name: program.name.clone(), passed: status.success(), log })
}

/// `  12.3 s  vault/tests/keys.rs: 7 passed`.
fn line(name: &str, said: &str, passed: bool, took: Duration) -> String {
    let counts = said.lines().filter_map(|line| line.strip_prefix("test result: ")?.split_once(". "));
    let counts: Vec<&str> = counts
        .flat_map(|(_, counts)| counts.split("; "))
        .filter(|count| ["passed", "failed", "ignored"].iter().any(|word| count.ends_with(word)))
        .filter(|count| !count.starts_with("0 ") || count.ends_with("passed"))
        .collect();
    let how = if passed { "" } else { "FAILED, " };
    let counts = if counts.is_empty() { "no result".to_owned() } else { counts.join(", ") };
    format!("{:>6.1} s  {name}: {how}{counts}", took.as_secs_f32())
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::not_set_up(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = concat!(
        r#"{"reason":"compiler-artifact","package_id":"path+file:///w/vault#0.1.0","#,
        r#""manifest_path":"/w/vault/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"#,
        r#""name":"keys","src_path":"/w/vault/tests/keys.rs","edition":"2024","doc":false,"#,
        r#""doctest":false,"test":true},"profile":{"opt_level":"0","debuginfo":1,"debug_assertions":true,"#,
        r#""overflow_checks":true,"test":true},"features":["export"],"#,
        r#""filenames":["/w/target/debug/deps/keys-1"],"executable":"/w/target/debug/deps/keys-1","#,
        r#""fresh":true}"#
    );

    #[test]
    fn a_message_about_a_test_program_is_read() {
        let expected = Program {
            name: Path::new("vault").join("tests").join("keys.rs").display().to_string(),
            executable: "/w/target/debug/deps/keys-1".into(),
            folder: "/w/vault".into(),
        };
        assert_eq!(program(MESSAGE, Path::new("/w")), Some(expected));
    }

    /// A command that tests start is built too, and is no test, though its target may have some.
    #[test]
    fn other_messages_name_no_test_program() {
        let command = MESSAGE
            .replace(r#""overflow_checks":true,"test":true"#, r#""overflow_checks":true,"test":false"#);
        assert_ne!(command, MESSAGE);
        let library =
            MESSAGE.replace(r#""executable":"/w/target/debug/deps/keys-1""#, r#""executable":null"#);
        let finished = r#"{"reason":"build-finished","success":true}"#.to_owned();
        for message in [command, library, finished, String::new()] {
            assert_eq!(program(&message, Path::new("/w")), None, "{message}");
        }
    }

    #[test]
    fn a_path_with_quotes_and_backslashes_is_read() {
        assert_eq!(member(r#"{"a":"C:\\x \"y\"","b":"z"}"#, "a").as_deref(), Some(r#"C:\x "y""#));
        assert_eq!(member(r#"{"a":"not ended"#, "a"), None);
    }

    #[test]
    fn a_line_says_what_was_run() {
        let second = Duration::from_secs(1);
        let said = "running 3 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
        assert_eq!(line("a.rs", said, true, second), "   1.0 s  a.rs: 2 passed, 1 ignored");
        let said = said.replace("ok. 2 passed; 0 failed", "FAILED. 1 passed; 1 failed");
        assert_eq!(
            line("a.rs", &said, false, second),
            "   1.0 s  a.rs: FAILED, 1 passed, 1 failed, 1 ignored"
        );
        assert_eq!(line("a.rs", "", false, second), "   1.0 s  a.rs: FAILED, no result");
    }
}
