//! The lints, in the build of the tests.
//!
//! `cargo clippy` compiles every dependency a second time, without code, for the sake of our own packages. Here Cargo
//! starts this program in the place of the compiler for our own packages, and this program starts Clippy's driver
//! ([`compile`]), which lints and compiles.
//!
//! A profile gives a library and its tests the same optimisation. Here the tests, benches and examples have none, since what takes
//! time at run time is in the libraries. A library that is compiled with its own tests has none either: with a little it takes about
//! 10 s of processor time more to compile, and its tests save less.

use crate::process::{Failure, Place, run};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set where this program stands in the place of the compiler.
const MARK: &str = "PORTCULLIS_XTASK_LINTS";
/// Cargo's variable for a program in the place of the compiler, for the packages of the workspace alone.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// A program that stands in the place of the compiler.
#[derive(Debug)]
pub struct Linter {
    /// A copy of this program, since the build of the tests replaces this one.
    copy: PathBuf,
}

impl Linter {
    /// Copies this program into the target folder.
    pub fn new(place: &Place) -> Result<Linter, Failure> {
        let copy = place.target.join(format!("lints{}", env::consts::EXE_SUFFIX));
        let made = env::current_exe().and_then(|this| fs::copy(this, &copy));
        made.map_err(|error| Failure::not_set_up(format!("{}: {error}", copy.display())))?;
        Ok(Linter { copy })
    }

    /// Has Cargo lint what it compiles of our own packages; a warning fails the build.
    pub fn lint(&self, cargo: &mut Command) {
        cargo.env(MARK, "1").env(WRAPPER, &self.copy);
    }
}

/// Whether Cargo has started this program in the place of the compiler.
pub fn is_compiler() -> bool {
    env::var_os(MARK).is_some()
}

/// Compiles with the lints. `arguments` are the compiler and what Cargo wants of it.
pub fn compile(arguments: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let arguments: Vec<OsString> = arguments.collect();
    let mut driver = Command::new("clippy-driver");
    // The last of several levels counts.
    let level = level(&arguments).map(|level| format!("-Copt-level={level}"));
    run(driver.env_remove(MARK).args(&arguments).arg("-Dwarnings").args(level))
}

/// The optimisation of a program beside a library, and of a library's own tests; that of the profile where there is none.
fn level(arguments: &[OsString]) -> Option<u8> {
    let source = arguments.iter().map(Path::new).find(|path| path.extension() == Some(OsStr::new("rs")))?;
    let beside_the_library = ["tests", "benches", "examples"].map(OsStr::new);
    let is_beside = source.components().any(|part| beside_the_library.contains(&part.as_os_str()));
    let has_tests = arguments.iter().any(|argument| argument == "--test");
    (is_beside || has_tests).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::level;
    use std::ffi::OsString;

    #[test]
    fn programs_beside_the_libraries_are_not_optimised() {
        for (line, wanted) in [
            ("rustc --crate-name vault src/lib.rs -C opt-level=2", None),
            ("rustc --crate-name vault src/lib.rs -C opt-level=2 --test", Some(0)),
            ("rustc --crate-name keys vault/tests/keys.rs -C opt-level=2 --test", Some(0)),
            ("rustc --crate-name distil hmm-control/tests/distil/main.rs -C opt-level=3 --test", Some(0)),
            ("rustc --crate-name step benches/step.rs -C opt-level=2", Some(0)),
            ("rustc --crate-name tests vault/src/scan/mod.rs --out-dir /w/tests/target", None),
            ("rustc -vV", None),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(level(&arguments), wanted, "{line}");
        }
    }
}
