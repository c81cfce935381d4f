//! `portcullis` links nothing of the laboratory.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The name of the package in a folder.
fn package(folder: &Path) -> String {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")).unwrap();
    name.trim_end_matches('"').to_owned()
}

#[test]
fn nothing_of_the_laboratory_is_linked() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", "portcullis-cli", "--edges", "normal", "--prefix", "none"])
        .current_dir(here)
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let is_linked = |package: &str| tree.lines().any(|line| line.split(' ').next() == Some(package));
    assert!(is_linked("policy-dfa"), "{tree}");
    for folder in fs::read_dir(here.join("../lab")).unwrap() {
        let package = package(&folder.unwrap().path());
        assert!(!is_linked(&package), "`portcullis` links {package}");
    }
    for tool in ["canary", "observer", "fuzz", "compile-fail"] {
        assert!(!is_linked(tool), "`portcullis` links {tool}");
    }
}
