//! `portcullis` links the guard alone, and nothing of the laboratory.

use std::process::Command;

#[test]
fn nothing_of_the_laboratory_is_linked() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "portcullis-cli", "--edges", "normal", "--prefix", "none"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.contains("policy-dfa"), "{tree}");
    for package in
        ["evaluation", "classifier-training", "agent-model", "canary", "observer", "portcullis-lab"]
    {
        let linked = tree.lines().any(|line| line.split(' ').next() == Some(package));
        assert!(!linked, "`portcullis` links {package}");
    }
}
