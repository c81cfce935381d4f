//! The version of `playwright-core` that the bridge needs.

use std::fs;
use std::path::Path;

/// The version that `playwright-rs` needs.
pub const VERSION: &str = "1.64.0";

/// Tells if the script exists, with a manifest of the right version next to it.
pub fn is_installed(script: &Path) -> bool {
    let manifest = script.with_file_name("package.json");
    script.is_file() && fs::read_to_string(manifest).is_ok_and(|text| version(&text) == Some(VERSION))
}

/// Reads the `version` of a package's manifest, in which it is a key of the top level only.
fn version(manifest: &str) -> Option<&str> {
    let (_, rest) = manifest.split_once("\"version\"")?;
    rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    #[test]
    fn the_version_is_read_from_a_manifest() {
        assert_eq!(version("{ \"name\": \"x\",\n  \"version\" : \"1.64.0\" }"), Some("1.64.0"));
        assert_eq!(version("{\"version\":1}"), None);
        assert_eq!(version("{}"), None);
    }

    #[test]
    fn a_script_without_its_manifest_is_not_installed() {
        let folder = std::env::temp_dir().join(format!("discovery-playwright-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let script = folder.join("cli.js");
        fs::write(&script, "").unwrap();
        let bare = is_installed(&script);
        fs::write(folder.join("package.json"), "{\"version\": \"1.63.0\"}").unwrap();
        let old = is_installed(&script);
        fs::write(folder.join("package.json"), format!("{{\"version\": \"{VERSION}\"}}")).unwrap();
        let right = is_installed(&script);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((bare, old, right), (false, false, true));
    }
}
