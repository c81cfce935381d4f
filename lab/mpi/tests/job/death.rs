//! A rank that is killed in the middle of a step: the job ends, its rank is named, and the same command goes on to the bytes of a job that
//! nobody disturbed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use crate::common::{job, run, texts, wait};

const RANKS: usize = 3;

const ARGUMENTS: [&str; 17] = [
    "distil",
    "--rollouts",
    "texts.seq",
    "--vocabulary",
    "60",
    "--end",
    "59",
    "--states",
    "64",
    "--steps",
    "5",
    "--checkpoint",
    "kept",
    "--resume",
    "--out",
    "model.safetensors",
    "--json",
];

/// Starts the job and kills a rank as soon as a step has begun; what the job said.
fn killed(folder: &Path, rank: usize, after: u32) -> String {
    let mut child = job(folder, RANKS, &ARGUMENTS).spawn().unwrap();
    let (mut said, mut victim) = (String::new(), None);
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(rest) = line.strip_prefix(&format!("rank {rank} is process ")) {
            victim = rest.split(' ').next().map(str::to_owned);
        }
        let begun = match after {
            0 => line.starts_with("kept in kept"),
            step => line.starts_with(&format!("step {step} of 5")),
        };
        if begun {
            let kill = Command::new("kill").args(["-9", victim.as_deref().unwrap()]).status().unwrap();
            assert!(kill.success());
        }
        said.push_str(&line);
        said.push('\n');
    }
    assert!(!wait(&mut child).success(), "{said}");
    said
}

#[test]
fn a_rank_is_killed_in_the_middle_of_a_step_and_the_same_command_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = |name: &str| {
        let home = folder.path().join(name);
        fs::create_dir(&home).unwrap();
        fs::write(home.join("texts.seq"), texts(6000, 7).to_bytes()).unwrap();
        home
    };
    let whole = home("whole");
    run(job(&whole, RANKS, &ARGUMENTS)).expect_success();
    for (rank, after) in [(1, 0), (0, 1), (2, 3)] {
        let place = home(&format!("{rank}"));
        let said = killed(&place, rank, after);
        assert!(said.contains(&format!("process rank {rank} with PID")), "{said}");
        assert!(said.contains("if a rank dies, the same command with --resume goes on from here"), "{said}");
        assert!(!said.contains("step 5 of 5"), "{said}");
        assert!(!place.join("model.safetensors").exists());
        // With another number of ranks.
        let ended = run(job(&place, RANKS - 1, &ARGUMENTS)).expect_success();
        assert!(ended.stderr.contains("going on from kept"), "{}", ended.stderr);
        assert!(!ended.stderr.contains(&format!("step {after} of 5")), "{}", ended.stderr);
        for name in ["kept", "model.safetensors"] {
            assert!(fs::read(place.join(name)).unwrap() == fs::read(whole.join(name)).unwrap(), "{name}");
        }
    }
}
