//! Which commit and version the packages are of.

use crate::process::{Failure, Place};
use discovery::answer;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// A commit from which packages are made.
pub struct Release {
    /// The version of all parts.
    pub version: String,
    /// The time of the commit, in seconds since 1970: the only time in a package.
    pub time: String,
    /// The name of the commit.
    pub commit: String,
}

impl Release {
    /// The commit that is checked out. Changed files, and parts of different versions, are refused: nobody could make the same packages again.
    pub fn of(place: &Place) -> Result<Release, Failure> {
        let git = |arguments: &[&str]| {
            let root = [OsStr::new("-C"), place.root.as_os_str()];
            answer(Path::new("git"), root.into_iter().chain(arguments.iter().map(OsStr::new)))
        };
        let known = |arguments: &[&str]| {
            git(arguments).ok_or_else(|| Failure::not_set_up("this is no clone with git".to_owned()))
        };
        let commit = known(&["rev-parse", "HEAD"])?;
        if let Some(changed) = git(&["status", "--porcelain"]) {
            let first = changed.lines().next().unwrap_or_default().trim();
            return Err(Failure::finding(format!(
                "packages are made of a commit, and files are changed or new (`{first}`): commit or remove them"
            )));
        }
        let manifest = place.root.join("Cargo.toml");
        let manifest = fs::read_to_string(&manifest)
            .map_err(|error| Failure::not_set_up(format!("{}: {error}", manifest.display())))?;
        let version = version(&manifest)
            .ok_or_else(|| Failure::finding("Cargo.toml names no version of the workspace".to_owned()))?;
        if let Some(part) = of_another_version(&manifest, version) {
            return Err(Failure::finding(format!(
                "the parts have different versions: {version}, and `{part}`"
            )));
        }
        Ok(Release { version: version.to_owned(), time: known(&["log", "-1", "--format=%ct"])?, commit })
    }
}

/// The version of the workspace.
fn version(manifest: &str) -> Option<&str> {
    let (_, rest) = manifest.split_once("[workspace.package]")?;
    let line = rest.lines().find_map(|line| line.strip_prefix("version = \""))?;
    line.split('"').next()
}

/// A line about one of our packages that asks for another version.
fn of_another_version<'a>(manifest: &'a str, version: &str) -> Option<&'a str> {
    let asked = |line: &str| {
        let (_, rest) = line.split_once("version = \"")?;
        Some(rest.split('"').next()? != version)
    };
    manifest.lines().filter(|line| line.contains("path = \"")).find(|line| asked(line) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::{of_another_version, version};

    const MANIFEST: &str = "[workspace.package]\nversion = \"0.2.0\"\n\n[workspace.dependencies]\nsirl = { path = \"sirl\", version = \"0.2.0\" }\nlab = { path = \"lab\" }\nserde = { version = \"1\" }\n";

    #[test]
    fn parts_of_another_version_are_found() {
        assert_eq!(version(MANIFEST), Some("0.2.0"));
        assert_eq!(of_another_version(MANIFEST, "0.2.0"), None);
        let other =
            MANIFEST.replace("path = \"sirl\", version = \"0.2.0\"", "path = \"sirl\", version = \"0.1.0\"");
        assert!(of_another_version(&other, "0.2.0").is_some_and(|line| line.starts_with("sirl")));
    }
}
