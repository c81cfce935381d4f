//! Finds Chromium on PATH and in Playwright's own folder.

use crate::program::{Program, answer, first_number, is_program, major, on_path, variable};
use std::path::{Path, PathBuf};

/// The names under which distributions install Chromium.
const CHROMIUM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Finds Chromium by `PORTCULLIS_CHROMIUM`, on PATH or in Playwright's folder. The error names the reason if there is
/// none.
pub fn chromium() -> Result<Program, String> {
    chromium_from(0)
}

/// Finds a Chromium as [`chromium()`] does, from this major version on.
pub fn chromium_from(oldest: u32) -> Result<Program, String> {
    const VARIABLE: &str = "PORTCULLIS_CHROMIUM";
    if let Some(path) = variable(VARIABLE).map(PathBuf::from) {
        let found = browser(&path)
            .ok_or_else(|| format!("{} ({VARIABLE}) does not answer `--version`", path.display()))?;
        return recent(vec![found], oldest);
    }
    let installed = CHROMIUM_NAMES.iter().filter_map(|name| on_path(name));
    // A candidate must print its version, since some distributions install a script that only names a package.
    let mut older = Vec::new();
    for path in installed.chain(playwright_browsers(&playwright_folder())) {
        let Some(found) = browser(&path) else { continue };
        if is_recent(&found, oldest) {
            return Ok(found);
        }
        older.push(found);
    }
    recent(older, oldest)
}

fn is_recent(program: &Program, oldest: u32) -> bool {
    major(&program.version).unwrap_or(0) >= oldest
}

/// The first of the programs, if it has this major version or a later one.
fn recent(found: Vec<Program>, oldest: u32) -> Result<Program, String> {
    let first = found.into_iter().next().ok_or_else(|| "chromium is not found".to_owned())?;
    if is_recent(&first, oldest) {
        return Ok(first);
    }
    Err(format!("chromium {} at {} is older than {oldest}", first.version, first.path.display()))
}

/// Finds Chromium as [`chromium()`] does, without its version where only one can be meant: asking for it takes a tenth of a second.
pub fn chromium_to_start() -> Result<PathBuf, String> {
    let named = variable("PORTCULLIS_CHROMIUM").map(PathBuf::from);
    let only = match named {
        Some(named) => Some(named).filter(|path| is_program(path)),
        None => only(CHROMIUM_NAMES.iter().filter_map(|name| on_path(name)).collect()),
    };
    only.map_or_else(|| chromium().map(|found| found.path), Ok)
}

/// The one that is meant, if there is no other. `chromium-browser` may be a script of Ubuntu's that only names a package.
fn only(installed: Vec<PathBuf>) -> Option<PathBuf> {
    let [only] = installed.try_into().ok()?;
    Some(only).filter(|path| !path.ends_with("chromium-browser"))
}

/// Whether Chromium's own sandbox can be used: not as root, and not where `PORTCULLIS_NO_SANDBOX` says so.
pub fn chromium_sandbox() -> bool {
    let asked_not_to = std::env::var_os("PORTCULLIS_NO_SANDBOX").is_some_and(|value| value != "0");
    !asked_not_to && !is_root()
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

fn browser(path: &Path) -> Option<Program> {
    let line = answer(path, ["--version"])?;
    Some(Program { path: path.to_path_buf(), version: first_number(&line)?.to_owned() })
}

fn playwright_folder() -> PathBuf {
    if let Some(folder) = variable("PLAYWRIGHT_BROWSERS_PATH") {
        return folder.into();
    }
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
    cache.unwrap_or_default().join("ms-playwright")
}

/// Lists Playwright's own Chromiums, the newest revision first.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    #[test]
    fn the_version_tells_apart_where_more_than_one_could_be_meant() {
        let installed = |names: &[&str]| names.iter().map(|name| Path::new("/usr/bin").join(name)).collect();
        assert_eq!(only(installed(&["chromium"])), Some("/usr/bin/chromium".into()));
        for names in [&[][..], &["chromium-browser"], &["chromium", "google-chrome"]] {
            assert_eq!(only(installed(names)), None, "{names:?}");
        }
    }

    #[test]
    fn an_older_browser_is_named_with_its_place() {
        let program =
            |version: &str| Program { path: "/usr/bin/chromium".into(), version: version.to_owned() };
        assert!(recent(vec![program("156.0.8078.108")], 152).is_ok());
        assert_eq!(
            recent(vec![program("148.0.7778.167")], 152).map(|found| found.version),
            Err("chromium 148.0.7778.167 at /usr/bin/chromium is older than 152".to_owned())
        );
        assert!(recent(Vec::new(), 0).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn the_newest_revision_of_playwright_comes_first() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("discovery-{}", std::process::id()));
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
