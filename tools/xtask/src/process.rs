//! Running programs, and exit codes.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a command ends early: one message (empty where the failed program has said it already) and the
/// exit code.
#[derive(Debug)]
pub struct Failure {
    pub message: String,
    pub code: u8,
}

impl Failure {
    /// Something was checked and is not as it should be.
    pub fn finding(message: String) -> Failure {
        Failure { message, code: 1 }
    }

    /// The command line is wrong.
    pub fn input(message: String) -> Failure {
        Failure { message, code: 2 }
    }

    /// Something that is needed is not there.
    pub fn not_set_up(message: String) -> Failure {
        Failure { message, code: 3 }
    }
}

/// Where the workspace and its build outputs are.
#[derive(Debug)]
pub struct Place {
    /// The folder of the root `Cargo.toml`.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// The folder of this program, and so of every binary built in its profile.
    binaries: PathBuf,
}

impl Place {
    /// Reads where we are from Cargo and from this program's own path.
    pub fn here() -> Result<Place, Failure> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).ancestors().nth(2).map(Path::to_path_buf);
        let binaries = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let (Some(root), Some(binaries)) = (root, binaries) else {
            return Err(Failure::not_set_up("run this as `cargo xtask` inside the workspace".to_owned()));
        };
        // The target folder may be moved by a variable, by an option or by a configuration file; Cargo
        // marks it, so looking up from our own binary finds it in every case.
        let marked = binaries.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
        let target = marked.map_or_else(|| root.join("target"), Path::to_path_buf);
        Ok(Place { root, target, binaries })
    }

    /// Cargo, to be run at the root of the workspace.
    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(&self.root);
        // Build scripts that watch these (ring's does) would run anew each time that `cargo xtask`
        // and plain `cargo` take turns.
        without_our_package(&mut cargo);
        cargo
    }

    /// A binary of the workspace, built in the profile of this program.
    pub fn binary(&self, name: &str) -> PathBuf {
        self.binaries.join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }
}

/// Takes away what Cargo told this program of its package.
pub fn without_our_package(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if is_set_by_cargo_run(&name) {
            command.env_remove(&name);
        }
    }
}

fn is_set_by_cargo_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_")
        || matches!(
            name.as_ref(),
            "CARGO_MANIFEST_DIR"
                | "CARGO_MANIFEST_PATH"
                | "CARGO_PRIMARY_PACKAGE"
                | "CARGO_BIN_NAME"
                | "CARGO_CRATE_NAME"
                | "OUT_DIR"
        )
}

/// Runs a program to its end; its exit code becomes ours if it is not 0.
pub fn run(command: &mut Command) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| Failure::not_set_up(format!("`{program}` does not start: {error}")))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure { message: String::new(), code: u8::try_from(code).unwrap_or(1) }),
        None => Err(Failure::not_set_up(format!("`{program}` was ended by a signal"))),
    }
}

/// Runs an installer: what it prints goes to standard error, so that standard output stays ours.
pub fn install(command: &mut Command) -> Result<(), Failure> {
    run(command.stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr())))
}
