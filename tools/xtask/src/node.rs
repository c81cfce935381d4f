//! Node: the system's, or a pinned one from npm where the system's is too old.

use crate::npm::Pinned;
use crate::process::{Failure, Place};
use discovery::node::{OLDEST, accept};
use discovery::{Program, on_path, variable};
use std::env;
use std::path::PathBuf;

/// Debian 12 ships Node 18. This is a build of Node repackaged for npm by a third party, so the checksum
/// in the lock file is what we trust.
const PACKAGE: Pinned = Pinned {
    name: "node 22.23.3",
    folder: "node",
    manifest: include_str!("../npm/node/package.json"),
    lock: include_str!("../npm/node/package-lock.json"),
};

const VARIABLE: &str = "PLAYWRIGHT_NODE_EXE";

/// Node from `PLAYWRIGHT_NODE_EXE`; else from PATH; else the one in the target folder. The error says
/// why there is none.
pub fn find(place: &Place) -> Result<Program, String> {
    if let Some(named) = variable(VARIABLE).map(PathBuf::from) {
        // Playwright itself accepts a bare name in this variable.
        let bare = named.components().count() == 1;
        let path = if bare { on_path(&named.to_string_lossy()) } else { Some(named.clone()) };
        let path = path.ok_or_else(|| format!("{} is not found on PATH", named.display()))?;
        return accept(&path).map_err(|why| format!("{why} ({VARIABLE})"));
    }
    let system = match on_path("node").or_else(|| on_path("nodejs")) {
        Some(path) => accept(&path),
        None => Err("node is not found on PATH".to_owned()),
    };
    system.or_else(|why| accept(&ours(place)).map_err(|_| why))
}

/// Node, installed if there is none that will do.
pub fn find_or_install(place: &Place) -> Result<Program, Failure> {
    let why = match find(place) {
        Ok(node) => return Ok(node),
        Err(why) => why,
    };
    if cfg!(not(target_os = "linux")) {
        return Err(Failure::not_set_up(format!(
            "{why}: install Node {OLDEST} or newer (https://nodejs.org)"
        )));
    }
    eprintln!("{why}");
    PACKAGE.install(place)?;
    find(place).map_err(|_| PACKAGE.did_not_arrive(place))
}

fn ours(place: &Place) -> PathBuf {
    let architecture = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    PACKAGE.modules(place).join(format!("node-linux-{architecture}")).join("bin").join("node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_and_lock_pin_the_version_and_its_checksum() {
        let version = PACKAGE.name.trim_start_matches("node ");
        for architecture in ["arm64", "x64"] {
            assert!(PACKAGE.manifest.contains(&format!("\"node-linux-{architecture}\": \"{version}\"")));
            assert!(PACKAGE.lock.contains(&format!("node-linux-{architecture}-{version}.tgz")));
        }
        assert_eq!(PACKAGE.lock.matches("\"integrity\": \"sha512-").count(), 2);
    }
}
