//! The steps of `cargo xtask test`, of `cargo xtask test --torch` and of `cargo xtask test --mpi`.

use crate::documents;
use crate::libtorch::Libtorch;
use crate::licences;
use crate::lints::Linter;
use crate::packages;
use crate::process::{Failure, Place, run};
use crate::setup::Tools;
use crate::test_programs;
use discovery::answer;
use std::path::Path;
use std::time::Instant;

/// Runs every step; stops at the first that fails, with its exit code.
pub fn run_all(place: &Place, tools: &Tools) -> Result<(), Failure> {
    let start = Instant::now();
    components(place)?;
    let cargo = |arguments: &[&str]| run(place.cargo().args(arguments).envs(tools.environment()));
    step("format", || cargo(&["fmt", "--all", "--check"]))?;
    step("documents", || documents::check(place))?;
    step("licences", || licences::check(place))?;
    step("packages", || packages::check(place))?;
    // The default members: the others need libtorch, an MPI library, or many packages.
    let linter = Linter::new(place)?;
    let mut programs = Vec::new();
    step("lints and build", || {
        programs = test_programs::build(place, tools, &linter)?;
        Ok(())
    })?;
    step("tests", || test_programs::run_all(place, tools, &linter, programs))?;
    println!("\n== all passed in {} s", start.elapsed().as_secs());
    Ok(())
}

/// The lints, the tests and the example of what needs libtorch, and of nothing else.
pub fn run_torch(place: &Place, tools: &Tools, libtorch: &Libtorch) -> Result<(), Failure> {
    components(place)?;
    let cargo = |arguments: &[&str]| {
        let package = ["--package", "lm-torch"];
        let (command, rest) = arguments.split_at(1);
        let environment = tools.environment().into_iter().chain(libtorch.environment());
        run(place.cargo().args(command).args(package).args(rest).envs(environment))
    };
    step("format", || cargo(&["fmt", "--check"]))?;
    step("lints", || cargo(&["clippy", "--all-targets", "--", "-D", "warnings"]))?;
    step("tests", || cargo(&["test"]))?;
    step("example", || cargo(&["run", "--example", "approach_c"]))
}

/// The lints and the tests of what needs an MPI library, and of nothing else.
pub fn run_mpi(place: &Place) -> Result<(), Failure> {
    components(place)?;
    let cargo = |arguments: &[&str]| {
        let (command, rest) = arguments.split_at(1);
        run(place.cargo().args(command).args(["--package", "portcullis-mpi"]).args(rest))
    };
    step("format", || cargo(&["fmt", "--check"]))?;
    step("lints", || cargo(&["clippy", "--all-targets", "--", "-D", "warnings"]))?;
    step("tests", || cargo(&["test"]))
}

/// Says before the long steps, and not after, that the toolchain lacks a part.
fn components(place: &Place) -> Result<(), Failure> {
    let cargo = place.cargo();
    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if answer(Path::new(cargo.get_program()), [command, "--version"]).is_none() {
            return Err(Failure::not_set_up(format!(
                "{component} is not installed: run `rustup component add {component}`"
            )));
        }
    }
    Ok(())
}

fn step(name: &str, body: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    println!("\n== {name}");
    let start = Instant::now();
    let outcome = body();
    let seconds = start.elapsed().as_secs_f32();
    match &outcome {
        Ok(()) => println!("== {name}: passed in {seconds:.1} s"),
        Err(failure) => println!("== {name}: FAILED after {seconds:.1} s, exit code {}", failure.code),
    }
    outcome
}
