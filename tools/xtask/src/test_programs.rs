//! Every test of the default members, as `cargo test` runs it, but several test programs at a time.
//!
//! Cargo runs one after the other, and many of them wait: for a browser, for a disk, for a time that has to
//! pass. What one says is kept in a file, and shown where it fails.

use crate::lints::Linter;
use crate::parallel::{each_of, processors};
use crate::process::{Failure, Place, without_our_package};
use crate::setup::Tools;
use discovery::answer;
use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long one program may take. The longest takes four minutes where others run beside it; one that waits for what never
/// comes must not keep all the others' results back.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// How often a program is asked whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A test program that Cargo has built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its source, within the workspace: `vault/tests/keys.rs`.
    name: String,
    executable: PathBuf,
    /// The folder of its package, in which Cargo starts it.
    folder: PathBuf,
}

/// Something to be run: its name, and how it is started.
struct Job {
    name: String,
    command: Command,
}

/// What the properties draw their cases from, unless it is set already.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Each commit draws cases of its own, and the same ones wherever it is tested: what failed once can be run again.
fn seed(place: &Place) -> Option<String> {
    let set = std::env::var(SEED).ok();
    let commit = || {
        answer(
            Path::new("git"),
            [OsStr::new("-C"), place.root.as_os_str(), OsStr::new("rev-parse"), OsStr::new("HEAD")],
        )
    };
    set.or_else(|| seed_of(&commit()?))
}

/// The first digits of a commit's name, as a number.
fn seed_of(commit: &str) -> Option<String> {
    u64::from_str_radix(commit.trim().get(..15)?, 16).ok().map(|number| number.to_string())
}

/// Runs all of them, and the examples in the documentation, whatever fails.
pub fn run_all(place: &Place, tools: &Tools, linter: &Linter, programs: Vec<Program>) -> Result<(), Failure> {
    let logs = place.target.join("test-logs");
    fs::create_dir_all(&logs).map_err(|error| unusable(&logs, &error))?;
    let mut documented = place.cargo();
    documented.args(["test", "--doc", "--no-fail-fast"]);
    // Else the libraries would be built a second time.
    linter.lint(&mut documented);
    // First, since it takes long.
    let mut jobs = vec![Job { name: "examples in the documentation".to_owned(), command: documented }];
    jobs.extend(programs.into_iter().map(Program::job));
    let mut environment = tools.environment();
    if let Some(seed) = seed(place) {
        println!("properties draw from {SEED}={seed}");
        environment.push((SEED, seed.into()));
    }
    // They mostly wait, for a browser or a disk: with one for each processor, half of the processors' time is idle.
    let ended = each_of(processors() + 1, jobs, |job| start_and_wait(job, &environment, &logs, LIMIT));
    let failed: Vec<String> = ended.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?;
    if failed.is_empty() { Ok(()) } else { Err(Failure::finding(failed.join("\n"))) }
}

/// The test programs that take longest, in the order in which they are started: what takes long should not be started when all else
/// is done. The times are in the lines of a run.
const LONGEST: [&str; 9] = [
    "cli/tests/extension/main.rs",
    "browser-signals/tests/bridge/main.rs",
    "lab/evaluation/tests/orders/main.rs",
    "integrations/mcp/tests/server/main.rs",
    "tests/egress_proxy/main.rs",
    "lab/evaluation/tests/guarded_suite.rs",
    "tests/observed/main.rs",
    "cli/tests/observed/main.rs",
    "tools/compile-fail/tests/compile_fail.rs",
];

/// Builds and lints everything, and names the test programs: the [`LONGEST`] first, then the largest, which hold the bridge to the
/// browser.
pub fn build(place: &Place, tools: &Tools, linter: &Linter) -> Result<Vec<Program>, Failure> {
    let said = build_these(place, tools, linter, &["--message-format=json-render-diagnostics"])?;
    // They are built for their lints, and run by `cargo xtask bench`.
    build_these(place, tools, linter, &["--benches"])?;
    let mut programs: Vec<Program> =
        said.lines().filter_map(|message| program(message, &place.root)).collect();
    if programs.is_empty() {
        return Err(Failure::not_set_up("Cargo names no test program".to_owned()));
    }
    println!("{} test programs", programs.len());
    programs.sort_by_cached_key(|program| {
        let place = LONGEST.iter().position(|name| Path::new(name) == Path::new(&program.name));
        let size = fs::metadata(&program.executable).map_or(0, |about| about.len());
        (place.unwrap_or(LONGEST.len()), Reverse(size))
    });
    let is_there = |name: &&str| programs.iter().any(|program| Path::new(&program.name) == Path::new(name));
    if let Some(gone) = LONGEST.iter().find(|name| !is_there(name)) {
        return Err(Failure::finding(format!(
            "{gone} is no test program any more: mend the list of the longest"
        )));
    }
    Ok(programs)
}

/// Builds and lints tests and what they need; what Cargo says of it.
fn build_these(place: &Place, tools: &Tools, linter: &Linter, which: &[&str]) -> Result<String, Failure> {
    let mut cargo = place.cargo();
    linter.lint(&mut cargo);
    cargo.args(["test", "--no-run"]).args(which).envs(tools.environment()).stderr(Stdio::inherit());
    let output = cargo
        .output()
        .map_err(|error| Failure::not_set_up(format!("`cargo test` does not start: {error}")))?;
    if !output.status.success() {
        return Err(Failure::finding("the tests cannot be built: Cargo's message is above".to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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

impl Program {
    /// Starts it as Cargo does.
    fn job(self) -> Job {
        let mut command = Command::new(self.executable);
        without_our_package(&mut command);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", self.folder);
        Job { name: self.name, command }
    }
}

/// Waits for one job, says how it went, and if it failed, all that it said. Returns the failure.
fn start_and_wait(
    job: Job,
    environment: &[(&'static str, OsString)],
    logs: &Path,
    limit: Duration,
) -> Result<Option<String>, Failure> {
    let Job { name, mut command } = job;
    let log = logs.join(format!("{}.log", name.replace(['/', '\\', ' '], "-")));
    // A file and not a pipe: what a test leaves behind would keep a pipe open.
    let sink = File::create(&log).map_err(|error| unusable(&log, &error))?;
    let same = sink.try_clone().map_err(|error| unusable(&log, &error))?;
    let start = Instant::now();
    command.envs(environment.iter().cloned()).stdin(Stdio::null()).stdout(sink).stderr(same);
    let ended = wait(&mut command, limit);
    let ended = ended.map_err(|error| Failure::not_set_up(format!("{name} does not start: {error}")))?;
    let said = fs::read(&log).map_err(|error| unusable(&log, &error))?;
    let said = String::from_utf8_lossy(&said);
    let passed = ended.is_some_and(|status| status.success());
    let line = line(&name, &said, passed, start.elapsed());
    // Each in one piece, since other jobs report too.
    if passed {
        println!("{line}");
        return Ok(None);
    }
    let how = match ended {
        Some(status) => status.to_string(),
        None => format!("ended by force, since it ran for more than {} s", limit.as_secs()),
    };
    println!("{line}\n\n{said}\n{name}: {how}\n");
    Ok(Some(format!("{name}: FAILED ({how}), log: {}", log.display())))
}

/// Runs a program to its end, or until its time is over: then it is ended and there is no status.
fn wait(command: &mut Command, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// `  12.3 s  vault/tests/keys.rs: 7 passed`.
fn line(name: &str, said: &str, passed: bool, took: Duration) -> String {
    let results = || said.lines().filter_map(|line| line.strip_prefix("test result: "));
    let sum = |word: &str| {
        let counts = results().flat_map(|result| result.split([';', '.']));
        counts.filter_map(|count| count.trim().strip_suffix(word)?.trim().parse::<u32>().ok()).sum::<u32>()
    };
    let mut how =
        if results().next().is_none() { "no result".to_owned() } else { format!("{} passed", sum("passed")) };
    for word in ["failed", "ignored"] {
        match sum(word) {
            0 => {}
            some => how.push_str(&format!(", {some} {word}")),
        }
    }
    let mut line =
        format!("{:>6.1} s  {name}: {}{how}", took.as_secs_f32(), if passed { "" } else { "FAILED, " });
    // A test that cannot run on this system says so past what its program captures, and nobody else would.
    for skipped in said.lines().filter(|line| line.starts_with("SKIPPED ")) {
        line.push_str(&format!("\n          {skipped}"));
    }
    line
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

    #[cfg(unix)]
    #[test]
    fn a_program_that_does_not_end_is_ended_and_has_failed() {
        let logs = std::env::temp_dir().join(format!("xtask-test-programs-{}", std::process::id()));
        fs::create_dir_all(&logs).unwrap();
        let job = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Job { name: "a.rs".to_owned(), command }
        };
        let run = |script: &str, limit: u64| {
            start_and_wait(job(script), &[], &logs, Duration::from_secs(limit)).unwrap()
        };
        let start = Instant::now();
        // Long enough for it to begin.
        let failed = run("echo begun; exec sleep 600", 8).unwrap();
        assert!(start.elapsed() < Duration::from_secs(300));
        assert!(failed.contains("ended by force, since it ran for more than 8 s"), "{failed}");
        assert_eq!(fs::read_to_string(logs.join("a.rs.log")).unwrap(), "begun\n");
        assert_eq!(run("exit 0", 60), None);
        assert!(run("exit 3", 60).unwrap().contains("exit status: 3"));
        fs::remove_dir_all(logs).unwrap();
    }

    #[test]
    fn a_commit_gives_one_seed() {
        assert_eq!(seed_of("00000000000000ffabc\n").as_deref(), Some("15"));
        assert_eq!(seed_of("1405bf4"), None);
        assert_eq!(seed_of("not a commit at all"), None);
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
        let both = said.clone() + &said;
        assert_eq!(
            line("a.rs", &both, false, second),
            "   1.0 s  a.rs: FAILED, 2 passed, 2 failed, 2 ignored"
        );
        assert_eq!(line("a.rs", "", false, second), "   1.0 s  a.rs: FAILED, no result");
        let skipped = "SKIPPED a: no network\ntest a ... ok\ntest result: ok. 1 passed; 0 failed";
        assert_eq!(
            line("a.rs", skipped, true, second),
            "   1.0 s  a.rs: 1 passed\n          SKIPPED a: no network"
        );
    }
}
