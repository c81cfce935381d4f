//! Finds packages that npm installed: in its global folder, this folder, or the folders of `npx`.

use crate::playwright::version;
use crate::program::{Program, answer, on_path, variable};
use std::fs;
use std::path::{Path, PathBuf};

/// Finds a package of npm, with its folder and version. The global folder is searched first, then this folder, then
/// those of `npx`.
pub fn npm_package(name: &str) -> Option<Program> {
    let here = std::env::current_dir().ok().map(|folder| folder.join("node_modules"));
    let found = || here.into_iter().chain(fetched_by_npx()).find_map(|modules| package(&modules, name));
    global_npm_package(name).or_else(found)
}

/// Finds a package in npm's global folder. Use it for packages that are to be run, since the current folder may hold
/// packages of its author.
pub fn global_npm_package(name: &str) -> Option<Program> {
    let global = on_path("npm").and_then(|npm| answer(&npm, ["root", "-g"])).map(PathBuf::from)?;
    package(&global, name)
}

/// The package that contains a script such as `cli.js`.
pub fn package_of(script: &Path) -> Option<Program> {
    let folder = script.parent()?;
    let manifest = fs::read_to_string(folder.join("package.json")).ok()?;
    Some(Program { version: version(&manifest)?.to_owned(), path: folder.to_owned() })
}

/// The folders of packages that `npx` fetched, the newest first.
fn fetched_by_npx() -> Vec<PathBuf> {
    let cache = variable("npm_config_cache").map(PathBuf::from);
    let Some(cache) = cache.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".npm"))) else {
        return Vec::new();
    };
    let Ok(entries) = cache.join("_npx").read_dir() else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let modules = entry.ok()?.path().join("node_modules");
            Some((modules.metadata().ok()?.modified().ok()?, modules))
        })
        .collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, modules)| modules).collect()
}

fn package(modules: &Path, name: &str) -> Option<Program> {
    let path = modules.join(name);
    let manifest = fs::read_to_string(path.join("package.json")).ok()?;
    Some(Program { version: version(&manifest)?.to_owned(), path })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    #[test]
    fn a_package_is_a_folder_with_a_manifest() {
        let modules = std::env::temp_dir().join(format!("discovery-npm-{}", std::process::id()));
        let folder = modules.join("@someone").join("thing");
        fs::create_dir_all(&folder).unwrap();
        let bare = package(&modules, "@someone/thing");
        fs::write(folder.join("package.json"), "{\"version\": \"0.0.83\"}").unwrap();
        let whole = package(&modules, "@someone/thing");
        fs::remove_dir_all(&modules).unwrap();
        assert_eq!(bare, None);
        assert_eq!(whole, Some(Program { path: folder, version: "0.0.83".to_owned() }));
    }
}
