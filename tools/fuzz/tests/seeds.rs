//! Every target passes on its seeds, and each has some.
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
fn every_target_passes_on_its_seeds() {
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
fn the_shipped_policies_pass() {
    let policies = folder("../../policies");
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
        assert!(targets.contains(target), "{dictionary} has no target");
    }
}

/// The reader refuses nearly every change, so a run must start with valid files to find a fault.
#[test]
fn the_seeds_of_a_distillation_are_valid() {
    let read = |target: &str, name: &str| fs::read(folder("corpus").join(target).join(name)).unwrap();
    for (name, _) in fuzz::hmm_checkpoint::good() {
        let seed = read("hmm_checkpoint", name);
        let resumed = match name {
            "wide" => fuzz::hmm_checkpoint::resumed::<f64>(&seed),
            _ => fuzz::hmm_checkpoint::resumed::<f32>(&seed),
        };
        assert_eq!(resumed, Ok(()), "{name}");
    }
    for (name, _) in fuzz::hmm_shard::good() {
        assert_eq!(fuzz::hmm_shard::merged(&read("hmm_shard", name)), Ok(()), "{name}");
    }
}

/// Writes the seeds again after a change of these formats: `cargo test -p fuzz -- --ignored`.
#[test]
#[ignore = "it writes into the sources"]
fn the_seeds_of_a_distillation_are_written() {
    for (target, good) in
        [("hmm_checkpoint", fuzz::hmm_checkpoint::good()), ("hmm_shard", fuzz::hmm_shard::good())]
    {
        let seeds = folder("corpus").join(target);
        fs::create_dir_all(&seeds).unwrap();
        good.iter().for_each(|(name, bytes)| fs::write(seeds.join(name), bytes).unwrap());
    }
}

#[test]
fn a_target_is_looked_up_by_its_name() {
    assert!(fuzz::target("policy_text").is_some());
    assert!(fuzz::target("policy").is_none());
}
