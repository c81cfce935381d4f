//! What the published packages hold: all that a reader needs who has only the package, and nothing of the repository around it.
//!
//! It reads the manifests line by line, in the form in which ours are written, and asks `cargo package --list` for the files.

use crate::parallel;
use crate::process::{Failure, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A file above this size is test data that nobody who depends on the package needs.
const LARGEST: u64 = 1024 * 1024;
/// What every package has.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// What every manifest says.
const KEYS: [&str; 5] =
    ["description = ", "readme = ", "keywords = ", "categories = ", "[package.metadata.docs.rs]"];
/// What Cargo adds to a package.
const MADE: [&str; 3] = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];

/// The features of `portcullis-guard` that no program for users may have.
const LABORATORY_FEATURES: [&str; 2] = ["ablation", "inspection"];

/// The names of the packages that are published: those whose manifest does not say `publish.workspace = true`.
pub fn published(place: &Place) -> Result<Vec<String>, Failure> {
    let (_, manifests) = manifests(place)?;
    Ok(manifests.values().filter(|text| is_published(text)).map(|text| name(text).to_owned()).collect())
}

/// The manifest of the workspace, and those of its packages by their folders.
fn manifests(place: &Place) -> Result<(String, BTreeMap<PathBuf, String>), Failure> {
    let read = |path: &Path| {
        fs::read_to_string(place.root.join(path).join("Cargo.toml"))
            .map_err(|error| Failure::not_set_up(format!("{}/Cargo.toml: {error}", path.display())))
    };
    let root = read(Path::new(""))?;
    let mut manifests = BTreeMap::new();
    for folder in members(&root) {
        manifests.insert(folder.clone(), read(&folder)?);
    }
    Ok((root, manifests))
}

/// Checks every package that is published.
pub fn check(place: &Place) -> Result<(), Failure> {
    let (root, manifests) = manifests(place)?;
    let published: BTreeSet<PathBuf> =
        manifests.iter().filter(|(_, text)| is_published(text)).map(|(folder, _)| folder.clone()).collect();
    let ours = own_dependencies(&root);
    let mut found = Vec::new();
    for folder in &published {
        let text = manifests.get(folder).map(String::as_str).unwrap_or_default();
        let name = name(text);
        found.extend(
            manifest_problems(text, &ours, &published).into_iter().map(|what| format!("{name}: {what}")),
        );
    }
    found.extend(laboratory_features(place)?.into_iter().map(|feature| {
        format!("portcullis-cli: it is built with the feature `{feature}`, which is for the laboratory alone")
    }));
    let packages: Vec<(&Path, &str)> = published
        .iter()
        .map(|folder| (folder.as_path(), manifests.get(folder).map(|text| name(text)).unwrap_or_default()))
        .collect();
    let count = packages.len();
    for problems in parallel::each(packages, |(folder, name)| file_problems(place, folder, name)) {
        found.extend(problems?);
    }
    if count == 0 || !found.is_empty() {
        return Err(Failure::finding(format!(
            "packages that are not fit to publish:\n  {}",
            found.join("\n  ")
        )));
    }
    println!("{count} packages, each complete and with published dependencies");
    Ok(())
}

/// Those features of the laboratory that the program has which people install.
fn laboratory_features(place: &Place) -> Result<Vec<&'static str>, Failure> {
    let mut tree = place.cargo();
    tree.args([
        "tree",
        "--offline",
        "--package",
        "portcullis-cli",
        "--edges",
        "features,normal",
        "--prefix",
        "none",
    ]);
    let output = tree
        .output()
        .map_err(|error| Failure::not_set_up(format!("`cargo tree` does not start: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::not_set_up(format!("`cargo tree` failed for portcullis-cli:\n{said}")));
    }
    Ok(features_in(&String::from_utf8_lossy(&output.stdout)))
}

/// Those features of the laboratory that a tree of dependencies names.
fn features_in(tree: &str) -> Vec<&'static str> {
    let is_there = |feature: &&str| {
        let node = format!("portcullis-guard feature \"{feature}\"");
        tree.lines().any(|line| line.trim_end_matches(" (*)") == node)
    };
    LABORATORY_FEATURES.into_iter().filter(is_there).collect()
}

/// The folders of the workspace's packages.
fn members(root: &str) -> Vec<PathBuf> {
    let lines =
        root.lines().skip_while(|line| *line != "members = [").skip(1).take_while(|line| *line != "]");
    // `.` is the root.
    lines
        .map(|line| line.trim_matches([' ', '"', ','].as_slice()))
        .map(|path| Path::new(path).components().filter(|part| *part != Component::CurDir).collect())
        .collect()
}

fn is_published(manifest: &str) -> bool {
    !manifest.lines().any(|line| line == "publish.workspace = true")
}

fn name(manifest: &str) -> &str {
    let package = manifest.lines().skip_while(|line| *line != "[package]");
    let name = package.filter_map(|line| line.strip_prefix("name = \"")).next();
    name.map(|name| name.trim_end_matches('"')).unwrap_or_default()
}

/// A dependency on a package of ours: its folder, and whether a version is beside the path.
#[derive(Debug, PartialEq, Eq)]
struct Own {
    folder: PathBuf,
    is_versioned: bool,
}

/// Our own packages among the workspace's dependencies, by their keys.
fn own_dependencies(root: &str) -> BTreeMap<&str, Own> {
    let table = root.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let table = table.take_while(|line| !line.starts_with('['));
    table
        .filter_map(|line| line.split_once(" = "))
        .filter_map(|(key, value)| Some((key, own(value)?)))
        .collect()
}

fn own(value: &str) -> Option<Own> {
    let path = value.split_once("path = \"")?.1.split('"').next()?;
    let folder = Path::new(path).components().filter(|part| *part != Component::CurDir).collect();
    Some(Own { folder, is_versioned: value.contains("version = \"") })
}

/// What is wrong with a manifest: keys that it lacks, and dependencies that nobody else can have.
fn manifest_problems(
    manifest: &str,
    ours: &BTreeMap<&str, Own>,
    published: &BTreeSet<PathBuf>,
) -> Vec<String> {
    let mut found = Vec::new();
    for key in KEYS {
        if !manifest.lines().any(|line| line.starts_with(key)) {
            found.push(format!("its manifest has no `{}`", key.trim_end_matches(" = ")));
        }
    }
    let mut counts = false;
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            // Development dependencies without a version are left out of the package.
            counts = table.ends_with("dependencies]")
                && !table.contains("dev-")
                && !table.starts_with("workspace");
            continue;
        }
        let key = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if !counts || key.is_empty() || key.starts_with('#') {
            continue;
        }
        if line.contains("path = ") {
            found.push(format!("the dependency `{key}` has a path of its own; use the workspace's"));
        }
        let Some(own) = ours.get(key) else { continue };
        if !published.contains(&own.folder) {
            found.push(format!("it depends on `{key}`, which is not published"));
        } else if !own.is_versioned {
            found.push(format!("`{key}` has no version beside its path in the workspace's dependencies"));
        }
    }
    found
}

/// What is wrong with the files of a package.
fn file_problems(place: &Place, folder: &Path, name: &str) -> Result<Vec<String>, Failure> {
    let mut list = place.cargo();
    list.args(["package", "--list", "--no-verify", "--allow-dirty", "--offline", "--package", name]);
    let output = list
        .output()
        .map_err(|error| Failure::not_set_up(format!("`cargo package` does not start: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::not_set_up(format!("`cargo package --list` failed for {name}:\n{said}")));
    }
    let text = String::from_utf8_lossy(&output.stdout).replace('\\', "/");
    let files: BTreeSet<&str> = text.lines().filter(|file| !MADE.contains(file)).collect();
    let mut found = listed_problems(&files);
    let home = place.root.join(folder);
    let laboratory = place.root.join("lab");
    for file in &files {
        let path = home.join(file);
        // A link counts as what it leads to, as `cargo package` follows it.
        let Ok(real) = path.canonicalize() else {
            found.push(format!("{file} leads nowhere"));
            continue;
        };
        let size = fs::metadata(&real).map(|data| data.len()).unwrap_or_default();
        if size > LARGEST {
            found.push(format!("{file} has {size} bytes"));
        }
        if laboratory.canonicalize().is_ok_and(|laboratory| real.starts_with(laboratory)) {
            found.push(format!("{file} is a file of the laboratory"));
        }
        if file.starts_with("LICENSE-") && fs::read(&real).ok() != fs::read(place.root.join(file)).ok() {
            found.push(format!("{file} is not the workspace's"));
        }
        if file.ends_with(".rs") {
            let source = fs::read_to_string(&real).unwrap_or_default();
            let missing = included(&source, file).into_iter().filter(|path| !files.contains(path.as_str()));
            found.extend(missing.map(|path| format!("{file} includes {path}, which is not in the package")));
        }
    }
    Ok(found.into_iter().map(|what| format!("{name}: {what}")).collect())
}

/// What a list of files lacks, and the paths in it that leave the package.
fn listed_problems(files: &BTreeSet<&str>) -> Vec<String> {
    let missing =
        NEEDED.iter().filter(|file| !files.contains(*file)).map(|file| format!("{file} is missing"));
    let source = (!files.iter().any(|file| file.starts_with("src/"))).then(|| "src is missing".to_owned());
    let leaves =
        |file: &&&str| !Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    let outside = files.iter().filter(leaves).map(|file| format!("{file} is outside of the package"));
    missing.chain(source).chain(outside).collect()
}

/// The files that a source file includes by `include_str!` and its like, by a path or a module, as paths in the package. A path that is put
/// together by another macro is passed over.
fn included(source: &str, file: &str) -> Vec<String> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let begins = ["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \""];
    let all = begins.iter().flat_map(|begin| source.match_indices(begin).map(|(at, begin)| at + begin.len()));
    let paths = all.filter_map(|at| source.get(at..)?.split('"').next());
    paths.map(|path| within(folder, path)).collect()
}

/// A path relative to a folder, written out from the package's own folder; it begins with `..` if it leaves the package.
fn within(folder: &Path, path: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir if parts.last().is_some_and(|last| last != "..") => drop(parts.pop()),
            Component::CurDir => {}
            part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace]\nmembers = [\n    \".\",\n    \"vault\",\n    \"tools/canary\",\n]\n\n[workspace.dependencies]\n\
        canary = { path = \"tools/canary\" }\nguard = { package = \"portcullis-guard\", path = \".\", version = \"0.1.0\" }\n\
        vault = { path = \"vault\" }\nserde = \"1\"\n\n[package]\nname = \"portcullis-guard\"\n";
    const WHOLE: &str = "[package]\nname = \"x\"\ndescription = \"d\"\nreadme = \"r\"\nkeywords = []\ncategories = []\n[package.metadata.docs.rs]\n";

    fn problems(dependencies: &str) -> Vec<String> {
        let published = BTreeSet::from([PathBuf::new(), PathBuf::from("vault")]);
        manifest_problems(&format!("{WHOLE}{dependencies}"), &own_dependencies(ROOT), &published)
    }

    #[test]
    fn a_feature_of_the_laboratory_is_found_in_a_tree() {
        let tree = "portcullis-cli v0.1.0\nportcullis-guard feature \"browser\"\nportcullis-guard feature \"ablation\" (*)";
        assert_eq!(features_in(tree), ["ablation"]);
        assert!(features_in("portcullis-guard feature \"scrub\"").is_empty());
    }

    #[test]
    fn the_workspace_is_read() {
        assert_eq!(members(ROOT), [PathBuf::new(), PathBuf::from("vault"), PathBuf::from("tools/canary")]);
        assert_eq!(name(ROOT), "portcullis-guard");
        let ours = own_dependencies(ROOT);
        assert_eq!(ours.keys().copied().collect::<Vec<_>>(), ["canary", "guard", "vault"]);
        assert_eq!(ours.get("guard"), Some(&Own { folder: PathBuf::new(), is_versioned: true }));
        assert!(is_published("[package]\n") && !is_published("[package]\npublish.workspace = true\n"));
    }

    #[test]
    fn a_dependency_that_nobody_else_can_have_is_found() {
        assert_eq!(
            problems("[dependencies]\nserde.workspace = true\nguard = { workspace = true, features = [] }\n"),
            [""; 0]
        );
        for (dependencies, expected) in [
            ("[dependencies]\ncanary.workspace = true\n", "it depends on `canary`, which is not published"),
            (
                "[target.\"cfg(unix)\".dependencies]\ncanary = { workspace = true }\n",
                "it depends on `canary`, which is not published",
            ),
            (
                "[build-dependencies]\nvault.workspace = true\n",
                "`vault` has no version beside its path in the workspace's dependencies",
            ),
            (
                "[dependencies]\nmine = { path = \"../mine\" }\n",
                "the dependency `mine` has a path of its own; use the workspace's",
            ),
        ] {
            assert_eq!(problems(dependencies), [expected], "{dependencies}");
        }
        assert_eq!(
            problems(
                "[dev-dependencies]\ncanary.workspace = true\n[target.\"x\".dev-dependencies]\ncanary.workspace = true\n"
            ),
            [""; 0]
        );
        let bare = manifest_problems("[package]\n", &BTreeMap::new(), &BTreeSet::new());
        assert_eq!(bare.len(), KEYS.len(), "{bare:?}");
    }

    #[test]
    fn a_list_of_files_is_complete_and_stays_inside() {
        let whole = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs"];
        assert_eq!(listed_problems(&BTreeSet::from(whole)), [""; 0]);
        let found =
            listed_problems(&BTreeSet::from(["Cargo.toml", "LICENSE-MIT", "README.md", "../x", "/y"]));
        assert_eq!(
            found,
            [
                "LICENSE-APACHE is missing",
                "src is missing",
                "../x is outside of the package",
                "/y is outside of the package"
            ]
        );
    }

    #[test]
    fn included_files_are_named_by_their_paths_in_the_package() {
        let source = "const A: &str = include_str!(\"a.txt\");\n#[path = \"../common/mod.rs\"]\nmod common;\n\
            const B: &[u8] = include_bytes!(\"../../../policies/b\");\n#[doc = include_str!(\"../../README.md\")]\n";
        let found = included(source, "src/room/mod.rs");
        assert_eq!(found, ["src/room/a.txt", "README.md", "../policies/b", "src/common/mod.rs"]);
    }
}
