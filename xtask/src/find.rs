//! Programs on PATH and in Playwright's own folder.

use crate::process::{answer, variable};
use std::env;
use std::path::{Path, PathBuf};

/// Names under which distributions install Chromium.
const CHROMIUM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A program that was found, and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    /// As the program states it; empty where it states none.
    pub version: String,
}

/// Chromium, from `PORTCULLIS_CHROMIUM`, PATH or Playwright's folder. The error says why there is none.
pub fn chromium() -> Result<Program, String> {
    const VARIABLE: &str = "PORTCULLIS_CHROMIUM";
    if let Some(path) = variable(VARIABLE).map(PathBuf::from) {
        return browser(&path)
            .ok_or_else(|| format!("{} ({VARIABLE}) does not answer `--version`", path.display()));
    }
    let installed = CHROMIUM_NAMES.iter().filter_map(|name| on_path(name));
    // A candidate must answer: some distributions put a script there that only advertises a package.
    installed
        .chain(playwright_browsers(&playwright_folder()))
        .find_map(|path| browser(&path))
        .ok_or_else(|| "chromium is not found".to_owned())
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

fn browser(path: &Path) -> Option<Program> {
    let line = answer(path, ["--version"])?;
    Some(Program { path: path.to_path_buf(), version: first_number(&line)?.to_owned() })
}

/// The first word that starts with a digit: the version in "Chromium 156.0.8078.79 built on ...".
fn first_number(line: &str) -> Option<&str> {
    line.split_whitespace().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// The first number of a version.
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

fn playwright_folder() -> PathBuf {
    if let Some(folder) = variable("PLAYWRIGHT_BROWSERS_PATH") {
        return folder.into();
    }
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
    cache.unwrap_or_default().join("ms-playwright")
}

/// Playwright's own Chromiums, the newest revision first.
fn playwright_browsers(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for revision in folders(folder, "chromium-") {
        let number =
            revision.file_name().and_then(|name| name.to_str()?.strip_prefix("chromium-")?.parse().ok());
        for build in folders(&revision, "chrome-linux") {
            let path = build.join("chrome");
            if let Some(number) = number
                && is_program(&path)
            {
                found.push((number, path));
            }
        }
    }
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, path)| path).collect()
}

fn folders(inside: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = inside.read_dir() else { return Vec::new() };
    let named = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
    };
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(named).collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
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

    #[cfg(unix)]
    #[test]
    fn the_newest_revision_of_playwright_comes_first() {
        use std::os::unix::fs::PermissionsExt;
        let folder = env::temp_dir().join(format!("xtask-find-{}", std::process::id()));
        let mut expected = Vec::new();
        for (revision, executable) in [("1200", true), ("999", true), ("1300", false)] {
            let build = folder.join(format!("chromium-{revision}")).join("chrome-linux64");
            std::fs::create_dir_all(&build).unwrap();
            let chrome = build.join("chrome");
            std::fs::write(&chrome, "").unwrap();
            let mode = if executable { 0o755 } else { 0o644 };
            std::fs::set_permissions(&chrome, std::fs::Permissions::from_mode(mode)).unwrap();
            if executable {
                expected.push(chrome);
            }
        }
        let found = playwright_browsers(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, expected);
    }
}
