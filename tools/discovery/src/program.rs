//! Programs, their paths and their versions.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that was found and prints its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The path.
    pub path: PathBuf,
    /// The version as the program prints it; empty if it prints none.
    pub version: String,
}

/// Finds NSS's `certutil` by `PORTCULLIS_CERTUTIL` or on PATH. The error names the reason if there is none.
pub fn certutil() -> Result<Program, String> {
    const VARIABLE: &str = "PORTCULLIS_CERTUTIL";
    let path = match variable(VARIABLE).map(PathBuf::from) {
        Some(path) if is_program(&path) => path,
        Some(path) => return Err(format!("{} ({VARIABLE}) is not a program", path.display())),
        None => on_path("certutil").ok_or("certutil is not found")?,
    };
    Ok(Program { path, version: String::new() })
}

/// Finds a program on PATH: in its absolute folders, and in none of a `node_modules`, which npm puts first for the programs of a project.
pub fn on_path(name: &str) -> Option<PathBuf> {
    on(&env::var_os("PATH")?, name)
}

/// PATH without what [`on_path`] leaves out, for a program that starts others.
pub fn own_path() -> OsString {
    env::join_paths(folders(&env::var_os("PATH").unwrap_or_default())).unwrap_or_default()
}

fn on(path: &OsStr, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    folders(path).map(|folder| folder.join(&file)).find(|path| is_program(path))
}

fn folders(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let is_of_a_project = |folder: &Path| folder.components().any(|part| part.as_os_str() == "node_modules");
    env::split_paths(path).filter(move |folder| folder.is_absolute() && !is_of_a_project(folder))
}

/// Runs a program and returns its output; `None` if it fails or prints nothing.
pub fn answer<I, S>(program: &Path, arguments: I) -> Option<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Reads an environment variable, if it is set and not empty.
pub fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Finds the first word that starts with a digit, which is the version in "Chromium 156.0.8078.79 built on ...".
pub(crate) fn first_number(line: &str) -> Option<&str> {
    line.split_whitespace().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Reads the major version.
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// Tells if this is an executable file.
#[cfg(unix)]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Tells if this is an executable file.
#[cfg(not(unix))]
pub fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_output_of_browsers() {
        assert_eq!(
            first_number("Chromium 156.0.8078.79 built on Debian GNU/Linux 12"),
            Some("156.0.8078.79")
        );
        assert_eq!(first_number("Google Chrome 149.0.1 "), Some("149.0.1"));
        assert_eq!(first_number("install it with snap"), None);
        assert_eq!(major("20.20.2"), Some(20));
        assert_eq!(major("next"), None);
    }

    /// A dependency of a project can put a program of any name into the folder that npm puts first on PATH.
    #[cfg(unix)]
    #[test]
    fn no_program_of_a_project_is_found() {
        use std::os::unix::fs::PermissionsExt;
        let root = env::temp_dir().join(format!("portcullis-discovery-{}", std::process::id()));
        let (planted, own) = (root.join("project/node_modules/.bin"), root.join("bin"));
        let found = |folders: &[&Path]| on(&env::join_paths(folders).unwrap_or_default(), "gpg");
        for folder in [&planted, &own] {
            std::fs::create_dir_all(folder).unwrap_or_default();
            let file = folder.join("gpg");
            std::fs::write(&file, "#!/bin/sh\n").unwrap_or_default();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap_or_default();
        }
        assert_eq!(found(&[&planted, &own]), Some(own.join("gpg")));
        assert_eq!(found(&[&planted]), None);
        assert_eq!(found(&[Path::new(""), Path::new("bin"), Path::new(".")]), None);
        std::fs::remove_dir_all(&root).unwrap_or_default();
    }
}
