//! The pinned `@playwright/mcp`, with which tests and measurements compare `portcullis mcp`.

use crate::npm::Pinned;
use crate::process::{Failure, Place};
use discovery::variable;
use std::fs;
use std::path::{Path, PathBuf};

/// The version that the guard is compared with.
pub const VERSION: &str = "0.0.83";

const PACKAGE: Pinned = Pinned {
    name: "@playwright/mcp 0.0.83",
    folder: "playwright-mcp",
    manifest: include_str!("../npm/playwright-mcp/package.json"),
    lock: include_str!("../npm/playwright-mcp/package-lock.json"),
};

const VARIABLE: &str = "PORTCULLIS_PLAYWRIGHT_MCP";

/// Its `cli.js`: the one that the variable names, else the pinned one, installed if it is not there.
pub fn find_or_install(place: &Place) -> Result<PathBuf, Failure> {
    if let Some(named) = variable(VARIABLE).map(PathBuf::from) {
        return if named.is_file() {
            Ok(named)
        } else {
            let named = named.display();
            Err(Failure::not_set_up(format!("{named} ({VARIABLE}) is not there: run `unset {VARIABLE}`")))
        };
    }
    let script = PACKAGE.modules(place).join("@playwright").join("mcp").join("cli.js");
    if !is_installed(&script) {
        PACKAGE.install(place)?;
    }
    if is_installed(&script) { Ok(script) } else { Err(PACKAGE.did_not_arrive(place)) }
}

fn is_installed(script: &Path) -> bool {
    let manifest = fs::read_to_string(script.with_file_name("package.json")).unwrap_or_default();
    script.is_file() && manifest.contains(&format!("\"version\": \"{VERSION}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_and_lock_pin_the_version_and_checksums() {
        assert!(PACKAGE.name.ends_with(VERSION));
        assert!(PACKAGE.manifest.contains(&format!("\"@playwright/mcp\": \"{VERSION}\"")));
        let packages = PACKAGE.lock.matches("\"version\":").count();
        assert!(packages >= 3);
        assert_eq!(PACKAGE.lock.matches("\"integrity\": \"sha512-").count(), packages);
        assert_eq!(PACKAGE.lock.matches("\"resolved\": \"https://registry.npmjs.org/").count(), packages);
    }
}
