//! Fuzzing: the targets of `tools/fuzz/` under libFuzzer, on the stable toolchain.
//!
//! What `cargo-fuzz` would do, without installing it: Cargo builds the program with LLVM's coverage counters,
//! for the host by name, so that the counters go into the targets and not into build scripts and macros,
//! which stay as the other builds made them. libFuzzer is built from source and needs a C++ compiler.

use crate::debian::{System, install_packages};
use crate::parallel::each;
use crate::process::{Failure, Place, run};
use discovery::{answer, on_path, variable};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const USAGE: &str = "usage: cargo xtask fuzz [target] [--seconds N] [--input FILE]";

/// How long each target runs where nobody says otherwise.
const SECONDS: u32 = 5;

/// An input that takes longer than this many seconds is a finding; the targets need milliseconds.
const TIMEOUT_SECONDS: u32 = 20;

/// What `cargo-fuzz` passes too, but for the last: comparisons of words stay calls that libFuzzer sees, so
/// that it learns the word. Each is the value of one `-Cllvm-args`.
const COVERAGE: [&str; 5] = [
    "-sanitizer-coverage-level=4",
    "-sanitizer-coverage-inline-8bit-counters",
    "-sanitizer-coverage-pc-table",
    "-sanitizer-coverage-trace-compares",
    "-max-loads-per-memcmp=0",
];

/// Settings of the build besides; overflow checks are as in the tests. One unit, since linking may drop the
/// counters of several. Without the second line Cargo would build every macro again, with line tables.
const PROFILE: [&str; 5] = [
    "profile.dev.opt-level=2",
    "profile.dev.build-override.debug=false",
    "profile.dev.codegen-units=1",
    "profile.dev.incremental=false",
    "profile.dev.package.libfuzzer-sys.opt-level=1",
];

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    target: Option<String>,
    seconds: u32,
    input: Option<PathBuf>,
}

/// `cargo xtask fuzz`.
pub fn command(place: &Place, arguments: &[String]) -> Result<(), Failure> {
    let known = targets(place)?;
    let wanted = wanted(arguments, &known)?;
    let chosen: Vec<String> = wanted.target.map_or(known, |target| vec![target]);
    let program = build(place)?;
    match wanted.input {
        Some(input) => chosen.iter().try_for_each(|target| replay(&program, target, &input)),
        None => all(place, &program, chosen, wanted.seconds),
    }
}

/// Every target is a folder of seeds; a test in `fuzz` holds the two lists together.
fn targets(place: &Place) -> Result<Vec<String>, Failure> {
    let mut found = files(&place.root.join("tools/fuzz/corpus"))?;
    found.sort();
    Ok(found.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect())
}

fn wanted(arguments: &[String], known: &[String]) -> Result<Wanted, Failure> {
    let refuse = |why: String| Failure::input(format!("{why}\n\n{USAGE}\ntargets: {}", known.join(", ")));
    let mut wanted = Wanted { target: None, seconds: SECONDS, input: None };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                let seconds = arguments.next().and_then(|number| number.parse().ok());
                // For libFuzzer, 0 is for ever.
                wanted.seconds = seconds
                    .filter(|seconds| *seconds > 0)
                    .ok_or_else(|| refuse("`--seconds` takes a number from 1".to_owned()))?;
            }
            "--input" => {
                let path = arguments.next().map(PathBuf::from).filter(|path| path.is_file());
                wanted.input = Some(path.ok_or_else(|| refuse("`--input` takes a file".to_owned()))?);
            }
            name if wanted.target.is_none() && known.iter().any(|known| known == name) => {
                wanted.target = Some(name.to_owned());
            }
            other => return Err(refuse(format!("`{other}` is no target, or the second one"))),
        }
    }
    Ok(wanted)
}

/// Builds the program with the targets and returns where it is.
fn build(place: &Place) -> Result<PathBuf, Failure> {
    compiler()?;
    let rustc = variable("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    let version = answer(&rustc, ["-vV"]).unwrap_or_default();
    let Some(host) = version.lines().find_map(|line| line.strip_prefix("host: ")) else {
        return Err(Failure::not_set_up("`rustc -vV` does not name the host".to_owned()));
    };
    let mut flags = vec!["-Cpasses=sancov-module".to_owned(), "--cfg=fuzzing".to_owned()];
    flags.extend(COVERAGE.iter().map(|value| format!("-Cllvm-args={value}")));
    let mut build = place.cargo();
    build.args(["build", "--package", "fuzz", "--bin", "fuzz", "--features", "libfuzzer"]);
    build.args(["--target", host]);
    build.args(PROFILE.iter().flat_map(|setting| ["--config", setting]));
    run(build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")))?;
    Ok(place.target.join(host).join("debug").join(format!("fuzz{}", std::env::consts::EXE_SUFFIX)))
}

/// A C++ compiler, installed where we may.
fn compiler() -> Result<(), Failure> {
    if variable("CXX").is_some() || on_path("c++").is_some() {
        return Ok(());
    }
    let system = System::here();
    if system.can_install() {
        return install_packages(&["g++"]);
    }
    let command = system.install_command(&["g++"]);
    Err(Failure::not_set_up(format!("no C++ compiler, which libFuzzer is built with: run `{command}`")))
}

/// Runs targets, as many at a time as there are processors; all of them, whatever is found.
fn all(place: &Place, program: &Path, targets: Vec<String>, seconds: u32) -> Result<(), Failure> {
    let findings = each(targets, |target| fuzz(place, program, &target, seconds))
        .into_iter()
        .filter_map(Result::transpose)
        .collect::<Result<Vec<String>, Failure>>()?;
    if findings.is_empty() { Ok(()) } else { Err(Failure::finding(findings.join("\n"))) }
}

/// Runs one target, and says what it did. Returns what it found.
fn fuzz(place: &Place, program: &Path, target: &str, seconds: u32) -> Result<Option<String>, Failure> {
    let folder = place.target.join("fuzz").join(target);
    let (grown, found) = (folder.join("corpus"), folder.join("findings"));
    for folder in [&grown, &found] {
        fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
    }
    let before = files(&found)?;
    let log = folder.join("log");
    let fuzz = place.root.join("tools/fuzz");
    let mut command = Command::new(program);
    command.env("FUZZ_TARGET", target).stdin(Stdio::null());
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-timeout={TIMEOUT_SECONDS}"));
    command.arg("-max_len=16384");
    command.arg("-rss_limit_mb=2048");
    command.arg("-print_final_stats=1");
    command.arg(format!("-artifact_prefix={}{}", found.display(), std::path::MAIN_SEPARATOR));
    let dictionary = fuzz.join("dictionaries").join(format!("{target}.txt"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    // The first folder is where libFuzzer keeps what reached something new.
    command.arg(&grown).arg(fuzz.join("corpus").join(target));
    let sink = File::create(&log).map_err(|error| unusable(&log, &error))?;
    let status =
        command.stdout(Stdio::null()).stderr(sink).status().map_err(|error| {
            Failure::not_set_up(format!("`{}` does not start: {error}", program.display()))
        })?;
    let said = fs::read(&log).map_err(|error| unusable(&log, &error))?;
    let said = String::from_utf8_lossy(&said);
    println!("{target}: {}", summary(&said));
    if status.success() {
        return Ok(None);
    }
    let new: Vec<PathBuf> = files(&found)?.into_iter().filter(|file| !before.contains(file)).collect();
    Ok(Some(finding(target, &said, &new, &log)))
}

/// Runs a target over one input, and lets it say what it has to say.
fn replay(program: &Path, target: &str, input: &Path) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command.env("FUZZ_TARGET", target).arg(format!("-timeout={TIMEOUT_SECONDS}")).arg(input);
    run(&mut command).map_err(|failure| match failure.code {
        3 => failure,
        _ => Failure::finding(format!("{target}: fails on {}", input.display())),
    })
}

/// What a run did, from libFuzzer's own words: its last line of progress and its statistics.
fn summary(said: &str) -> String {
    let statistic = |name: &str| {
        let line = said.lines().rev().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
        line.map_or("?", |value| value.trim_start_matches(':').trim()).to_owned()
    };
    let progress = said.lines().rev().find(|line| line.starts_with('#') && line.contains(" cov: "));
    let after = |key: &str| {
        let mut words = progress.unwrap_or_default().split_whitespace();
        words.find(|word| *word == key).and_then(|_| words.next()).unwrap_or("?").to_owned()
    };
    format!(
        "{} executions, {} per second, {} edges covered, {} features, {} inputs kept",
        statistic("number_of_executed_units"),
        statistic("average_exec_per_sec"),
        after("cov:"),
        after("ft:"),
        after("corp:").split('/').next().unwrap_or("?"),
    )
}

/// What was found, with the input's path and how to see it again.
fn finding(target: &str, said: &str, inputs: &[PathBuf], log: &Path) -> String {
    // A message may hold the whole input, which is in its file.
    let cut = |line: &str| line.chars().take(300).collect::<String>();
    let why: Vec<String> = said
        .lines()
        .skip_while(|line| !line.contains("panicked at") && !line.contains("ERROR: libFuzzer"))
        .take_while(|line| !line.starts_with("note: ") && !line.starts_with("NOTE: "))
        .take(12)
        .map(cut)
        .collect();
    let mut message = format!("{target}: FOUND\n  {}\n  log: {}", why.join("\n  "), log.display());
    for input in inputs {
        let input = input.display();
        message.push_str(&format!("\n  input: {input}\n  again: cargo xtask fuzz {target} --input {input}"));
    }
    if inputs.is_empty() {
        message.push_str("\n  no input was kept: the log has the rest");
    }
    message
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| unusable(folder, &error))?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(|error| unusable(folder, &error))).collect()
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::not_set_up(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Wanted, String> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        wanted(&arguments, &["a".to_owned(), "b".to_owned()]).map_err(|failure| failure.message)
    }

    #[test]
    fn a_target_and_a_time_in_either_order() {
        let wanted = |target: Option<&str>, seconds| {
            Ok(Wanted { target: target.map(str::to_owned), seconds, input: None })
        };
        assert_eq!(read(&[]), wanted(None, SECONDS));
        assert_eq!(read(&["b"]), wanted(Some("b"), SECONDS));
        assert_eq!(read(&["--seconds", "60", "a"]), wanted(Some("a"), 60));
        assert_eq!(read(&["a", "--seconds", "60"]), wanted(Some("a"), 60));
    }

    #[test]
    fn other_words_are_refused_with_the_list_of_targets() {
        for arguments in [
            &["c"][..],
            &["a", "b"],
            &["--seconds"],
            &["--seconds", "0"],
            &["--seconds", "x"],
            &["--input", "/no/such/file"],
        ] {
            assert!(
                read(arguments).is_err_and(|message| message.ends_with("targets: a, b")),
                "{arguments:?}"
            );
        }
    }

    #[test]
    fn a_run_is_summed_up_from_what_libfuzzer_says() {
        let said = "INFO: Seed: 1\n#9\tINITED cov: 7 ft: 9 corp: 2/3b exec/s: 0 rss: 27Mb\n\
                    #800\tDONE   cov: 21 ft: 33 corp: 12/40b lim: 9 exec/s: 160 rss: 27Mb\n\
                    stat::number_of_executed_units: 800\nstat::average_exec_per_sec:     160\n";
        let summed = "800 executions, 160 per second, 21 edges covered, 33 features, 12 inputs kept";
        assert_eq!(summary(said), summed);
        assert!(summary("it did not start").starts_with("? executions, ? per second"));
    }

    #[test]
    fn a_finding_says_why_and_how_to_see_it_again() {
        let said =
            "#5\tNEW cov: 1\nthread 'x' panicked at a.rs:1:1:\nleft is not right\nnote: run with\nmore";
        let found = finding("a", said, &[PathBuf::from("/t/crash-1")], Path::new("/t/log"));
        assert!(found.contains("panicked at a.rs:1:1:\n  left is not right\n  log: /t/log"), "{found}");
        assert!(found.ends_with("again: cargo xtask fuzz a --input /t/crash-1"), "{found}");
        assert!(finding("a", "killed", &[], Path::new("/t/log")).ends_with("the log has the rest"));
    }
}
