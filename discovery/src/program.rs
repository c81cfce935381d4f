//! Programs: where they are, and what they say of themselves.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that was found, and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// As the program states it; empty where it states none.
    pub version: String,
}

/// NSS's `certutil`, from `PORTCULLIS_CERTUTIL` or PATH. The error says why there is none.
pub fn certutil() -> Result<Program, String> {
    const VARIABLE: &str = "PORTCULLIS_CERTUTIL";
    let path = match variable(VARIABLE).map(PathBuf::from) {
        Some(path) if is_program(&path) => path,
        Some(path) => return Err(format!("{} ({VARIABLE}) is not a program", path.display())),
        None => on_path("certutil").ok_or("certutil is not found")?,
    };
    Ok(Program { path, version: String::new() })
}

/// A program on PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&file)).find(|path| is_program(path))
}

/// What a program prints, or `None` if it fails or prints nothing.
pub fn answer<I, S>(program: &Path, arguments: I) -> Option<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// An environment variable that is set and not empty.
pub fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The first word that starts with a digit: the version in "Chromium 156.0.8078.79 built on ...".
pub(crate) fn first_number(line: &str) -> Option<&str> {
    line.split_whitespace().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// The first number of a version.
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// Whether this is a file that may be run.
#[cfg(unix)]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Whether this is a file that may be run.
#[cfg(not(unix))]
pub fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_browsers_print() {
        assert_eq!(
            first_number("Chromium 156.0.8078.79 built on Debian GNU/Linux 12"),
            Some("156.0.8078.79")
        );
        assert_eq!(first_number("Google Chrome 149.0.1 "), Some("149.0.1"));
        assert_eq!(first_number("install it with snap"), None);
        assert_eq!(major("20.20.2"), Some(20));
        assert_eq!(major("next"), None);
    }
}
