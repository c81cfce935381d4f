//! The check of Node's version.

use crate::program::{Program, answer, major};
use std::path::Path;

/// The oldest supported major version. Playwright 1.64 does not start on an older one.
pub const OLDEST: u32 = 20;

/// Accepts a Node that prints its version and is new enough. The error names the fault.
pub fn accept(path: &Path) -> Result<Program, String> {
    let shown = path.display();
    let version =
        answer(path, ["--version"]).ok_or_else(|| format!("{shown} does not answer `--version`"))?;
    let version = version.trim_start_matches('v').to_owned();
    if major(&version).is_none_or(|major| major < OLDEST) {
        return Err(format!("{shown} is Node {version}, and {OLDEST} or newer is needed"));
    }
    Ok(Program { path: path.to_path_buf(), version })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_old_node_and_a_broken_one_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("discovery-node-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("node");
        let mut outcomes = Vec::new();
        for body in ["echo v18.19.0", "exit 1", "echo v20.0.0"] {
            std::fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            outcomes.push(accept(&program).map(|node| node.version));
        }
        std::fs::remove_dir_all(&folder).unwrap();
        let [old, broken, good] = outcomes.try_into().unwrap();
        assert!(old.unwrap_err().contains("is Node 18.19.0, and 20 or newer is needed"));
        assert!(broken.unwrap_err().contains("does not answer"));
        assert_eq!(good, Ok("20.0.0".to_owned()));
    }
}
