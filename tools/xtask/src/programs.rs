//! `cargo xtask test --programs`: the crates as strangers meet them. Their documentation is made, then the programs in
//! `examples/programs/`. Each is built alone from nothing, and those that need no person are run.

use crate::process::{Failure, Place, run, without_our_package};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// A program, and what it gets and says.
struct Program {
    name: &'static str,
    /// The command line, the standard input, and words of its output. None for a program that waits for a person.
    trial: Option<Trial>,
}

struct Trial {
    arguments: &'static [&'static str],
    input: &'static str,
    says: &'static str,
}

const fn tried(
    name: &'static str,
    arguments: &'static [&'static str],
    input: &'static str,
    says: &'static str,
) -> Program {
    Program { name, trial: Some(Trial { arguments, input, says }) }
}

const PROGRAMS: [Program; 7] = [
    tried("request-reader", &[], "REQ.address\nREQ.end\n", "request: address"),
    tried("policy-check", &["../../policies/default.policy"], "", "proved (line "),
    tried("steered-writer", &[], "", "with control: \"your card\" in 0 of 100 texts"),
    Program { name: "mail-filter", trial: None },
    tried(
        "own-vault",
        &["target/programs.vault"],
        "correct horse battery staple\n",
        "login:bank makes codes: true",
    ),
    Program { name: "shop-agent", trial: None },
    Program { name: "session-server", trial: None },
];

/// Makes the documentation, builds and tries every program, and prints a table.
pub fn run_all(place: &Place) -> Result<(), Failure> {
    let apart = ["--exclude", "lm-torch", "--exclude", "portcullis-mpi"];
    run(place.cargo().args(["doc", "--no-deps", "--quiet", "--workspace"]).args(apart))?;
    let folder = place.root.join("examples/programs");
    let target = folder.join("target");
    println!("| program | lines | crates | seconds |\n|---|---|---|---|");
    for program in &PROGRAMS {
        let _was_not_there = fs::remove_dir_all(&target);
        let crates = crates(&folder, program.name)?;
        let begun = Instant::now();
        run(cargo(&folder).args(["build", "--quiet", "--package", program.name]))?;
        let seconds = begun.elapsed().as_secs_f64();
        println!("| `{}` | {} | {crates} | {seconds:.0} |", program.name, lines(&folder.join(program.name))?);
        if let Some(trial) = &program.trial {
            attempt(&folder.join("target/debug").join(program.name), program.name, &folder, trial)?;
        }
    }
    // The library's trial is its documentation.
    run(cargo(&folder).args(["test", "--quiet", "--package", "mail-filter"]))
}

fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder).env_remove("CARGO_TARGET_DIR");
    without_our_package(&mut cargo);
    cargo
}

/// The number of crates that a program is built from, itself included.
fn crates(folder: &Path, name: &str) -> Result<usize, Failure> {
    let mut tree = cargo(folder);
    tree.args(["tree", "--package", name, "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let output =
        tree.output().map_err(|error| Failure::not_set_up(format!("cargo does not start: {error}")))?;
    if !output.status.success() {
        return Err(Failure::finding(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let listed = String::from_utf8_lossy(&output.stdout);
    Ok(listed.lines().collect::<BTreeSet<_>>().len())
}

/// The lines of its sources.
fn lines(program: &Path) -> Result<usize, Failure> {
    let unread = |path: &Path, error| Failure::not_set_up(format!("{}: {error}", path.display()));
    let sources: PathBuf = program.join("src");
    let mut count = 0;
    for entry in fs::read_dir(&sources).map_err(|error| unread(&sources, error))? {
        let path = entry.map_err(|error| unread(&sources, error))?.path();
        count += fs::read_to_string(&path).map_err(|error| unread(&path, error))?.lines().count();
    }
    Ok(count)
}

/// Runs a program that was built elsewhere, if it needs no person.
pub fn attempt_alone(file: &Path, name: &str, folder: &Path) -> Result<(), Failure> {
    let trial =
        PROGRAMS.iter().find(|program| program.name == name).and_then(|program| program.trial.as_ref());
    trial.map_or(Ok(()), |trial| attempt(file, name, folder, trial))
}

fn attempt(file: &Path, name: &str, folder: &Path, trial: &Trial) -> Result<(), Failure> {
    let failed = |what: String| Failure::finding(format!("{name}: {what}"));
    let mut program = Command::new(file);
    program.args(trial.arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program.spawn().map_err(|error| failed(error.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        // A program that reads nothing may have ended.
        let _ended = input.write_all(trial.input.as_bytes());
    }
    let Output { status, stdout, .. } =
        child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&stdout);
    if status.success() && said.contains(trial.says) {
        return Ok(());
    }
    Err(failed(format!("does not say `{}` but\n{said}", trial.says)))
}
