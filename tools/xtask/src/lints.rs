//! The lints, in the build of the tests.
//!
//! `cargo clippy` compiles every dependency a second time, without code, for the sake of our own packages. Here Cargo
//! starts this program in the place of the compiler for our own packages, and this program starts Clippy's driver
//! ([`compile`]), which lints and compiles.

use crate::process::{Failure, Place, run};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
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
    let mut driver = Command::new("clippy-driver");
    run(driver.env_remove(MARK).args(arguments).arg("-Dwarnings"))
}
