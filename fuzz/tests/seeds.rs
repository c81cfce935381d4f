//! Every target holds on its seeds, and each has some.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_target_holds_on_its_seeds() {
    for (name, run) in fuzz::TARGETS {
        let seeds = folder("corpus").join(name);
        for seed in names(&seeds) {
            run(&fs::read(seeds.join(seed)).unwrap());
        }
        run(b"");
        run(b"\xff\xfe\x00");
    }
}

#[test]
fn the_shipped_policies_hold() {
    let policies = folder("../policies");
    for policy in names(&policies) {
        fuzz::policy_text::run(&fs::read(policies.join(policy)).unwrap());
    }
}

#[test]
fn each_target_has_seeds_and_all_seeds_have_a_target() {
    let targets: BTreeSet<String> = fuzz::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(targets, names(&folder("corpus")));
    for target in &targets {
        assert!(!names(&folder("corpus").join(target)).is_empty(), "{target} has no seed");
    }
    for dictionary in names(&folder("dictionaries")) {
        let target = dictionary.strip_suffix(".txt").unwrap();
        assert!(targets.contains(target), "{dictionary} is of no target");
    }
}

#[test]
fn a_target_is_looked_up_by_its_name() {
    assert!(fuzz::target("policy_text").is_some());
    assert!(fuzz::target("policy").is_none());
}
