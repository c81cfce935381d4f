//! The pinned `playwright-core`.

use crate::npm::Pinned;
use crate::process::{Failure, Place};
pub use discovery::playwright::VERSION;
use discovery::playwright::is_installed;
use discovery::variable;
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGE: Pinned = Pinned {
    name: "playwright-core 1.64.0",
    folder: "playwright",
    manifest: include_str!("../npm/playwright/package.json"),
    lock: include_str!("../npm/playwright/package-lock.json"),
};

/// The script that starts Playwright's server: `PLAYWRIGHT_CLI_JS`, or the one in the target folder.
pub fn find(place: &Place) -> Option<PathBuf> {
    let script = variable("PLAYWRIGHT_CLI_JS").map_or_else(|| ours(place), PathBuf::from);
    is_installed(&script).then_some(script)
}

/// The script, installed if it is not there.
pub fn find_or_install(place: &Place) -> Result<PathBuf, Failure> {
    if let Some(script) = find(place) {
        return Ok(script);
    }
    if let Some(named) = variable("PLAYWRIGHT_CLI_JS") {
        return Err(Failure::not_set_up(format!(
            "{} (PLAYWRIGHT_CLI_JS) is not the cli.js of playwright-core {VERSION}: run `unset PLAYWRIGHT_CLI_JS`",
            PathBuf::from(named).display()
        )));
    }
    PACKAGE.install(place)?;
    find(place).ok_or_else(|| PACKAGE.did_not_arrive(place))
}

fn ours(place: &Place) -> PathBuf {
    PACKAGE.modules(place).join("playwright-core").join("cli.js")
}

/// The folder that `playwright-rs` calls a driver: Node and the package side by side, as links. With it named,
/// it looks nowhere else; else it asks npm for its global folder at every start of a browser.
///
/// None where links cannot be made; the two variables for node and script do then.
pub fn driver(place: &Place, node: &Path, script: &Path) -> Option<PathBuf> {
    let folder = place.target.join("playwright").join("driver");
    fs::create_dir_all(&folder).ok()?;
    link(node, &folder.join("node"))?;
    link(script.parent()?, &folder.join("package"))?;
    Some(folder)
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> Option<()> {
    if fs::read_link(at).is_ok_and(|old| old == to) {
        return Some(());
    }
    if at.is_symlink() {
        fs::remove_file(at).ok()?;
    }
    std::os::unix::fs::symlink(to, at).ok()
}

#[cfg(not(unix))]
fn link(_to: &Path, _at: &Path) -> Option<()> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_and_lock_pin_the_version_and_its_checksum() {
        assert!(PACKAGE.name.ends_with(VERSION));
        assert!(PACKAGE.manifest.contains(&format!("\"playwright-core\": \"{VERSION}\"")));
        assert!(PACKAGE.lock.contains(&format!("playwright-core-{VERSION}.tgz")));
        assert!(PACKAGE.lock.contains("\"integrity\": \"sha512-"));
    }
}
