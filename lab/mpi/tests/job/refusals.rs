//! Bad input: every rank ends, and one error is said, with the rank that has it.

use std::fs;
use std::path::Path;

use crate::common::{Ended, job, mpirun, run, texts};

const ARGUMENTS: [&str; 13] = [
    "distil",
    "--rollouts",
    "texts.seq",
    "--vocabulary",
    "60",
    "--end",
    "59",
    "--states",
    "6",
    "--steps",
    "2",
    "--out",
    "model.safetensors",
];

/// Two ranks, each in a folder of its own.
fn two(one: &Path, other: &Path) -> Ended {
    let program = env!("CARGO_BIN_EXE_portcullis-mpi");
    let mut job = mpirun();
    job.args(["-n", "1", "-wdir"]).arg(one).arg(program).args(ARGUMENTS);
    job.args([":", "-n", "1", "-wdir"]).arg(other).arg(program).args(ARGUMENTS);
    run(job)
}

fn refused(ended: &Ended, code: i32, wanted: &str) {
    let errors: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{}", ended.stderr);
    assert!(errors[0].contains(wanted), "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(code), "{}", ended.stderr);
}

#[test]
fn a_file_that_is_bad_at_one_rank() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let good = texts(100, 1).to_bytes();
    fs::write(one.path().join("texts.seq"), &good).unwrap();
    let (one, other) = (one.path(), other.path());
    refused(&two(one, other), 2, "rank 1 of 2: texts.seq cannot be read: ");
    refused(&two(other, one), 2, "rank 0 of 2: texts.seq cannot be read: ");
    fs::write(other.join("texts.seq"), &good[..good.len() - 3]).unwrap();
    refused(&two(one, other), 2, "rank 1 of 2: texts.seq: byte ");
    fs::write(other.join("texts.seq"), texts(100, 2).to_bytes()).unwrap();
    refused(&two(one, other), 2, "rank 1 of 2: texts.seq holds other texts than at rank 0");
    assert!(!one.join("model.safetensors").exists());
    // The control.
    fs::write(other.join("texts.seq"), &good).unwrap();
    two(one, other).expect_success();
    assert!(one.join("model.safetensors").exists() && !other.join("model.safetensors").exists());
}

#[test]
fn a_checkpoint_of_another_plan_or_of_other_texts() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fs::write(home.join("texts.seq"), texts(100, 1).to_bytes()).unwrap();
    fs::write(home.join("others.seq"), texts(100, 2).to_bytes()).unwrap();
    let kept = ["--checkpoint", "kept", "--resume"];
    let with = |more: &[&str]| run(job(home, 2, &[&ARGUMENTS[..], &kept, more].concat()));
    with(&[]).expect_success();
    let before = fs::read(home.join("kept")).unwrap();
    for (more, wanted) in [
        (
            &["--pseudocount", "0.5"][..],
            "kept: the checkpoint is of another plan: its pseudocount is 0.001, and 0.5",
        ),
        (&["--dropout", "0.5"], "kept: the checkpoint is of another plan: its dropout is 0.0, and 0.5"),
        (&["--sparse", "2"], "its sparse transitions is None, and Some"),
        (&["--patience", "2"], "its patience is None, and Some(2)"),
        // Another seed is another order of the texts.
        (&["--seed", "1"], "kept: the checkpoint was made with other training sequences"),
    ] {
        refused(&with(more), 2, wanted);
    }
    for (at, value, wanted) in [
        (2, "others.seq", "the checkpoint was made with other training sequences"),
        (8, "7", "the checkpoint is of another plan: its states is 6, and 7 was asked for"),
        (10, "3", "the checkpoint is of another plan: its schedule is "),
    ] {
        let mut arguments = ARGUMENTS;
        arguments[at] = value;
        refused(&run(job(home, 2, &[&arguments[..], &kept].concat())), 2, wanted);
    }
    fs::write(home.join("kept"), &before[..before.len() - 5]).unwrap();
    refused(&with(&[]), 2, "rank 0 of 2: kept: the file: ");
    // The control: threads and the number of ranks may change.
    fs::write(home.join("kept"), &before).unwrap();
    run(job(home, 3, &[&ARGUMENTS[..], &kept, &["--threads", "2"]].concat())).expect_success();
    assert!(fs::read(home.join("kept")).unwrap() == before);
}

#[test]
fn settings_and_places_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fs::write(home.join("texts.seq"), texts(100, 1).to_bytes()).unwrap();
    let with = |more: &[&str]| run(job(home, 2, &[&ARGUMENTS[..], more].concat()));
    refused(&with(&["--held-out", "1"]), 2, "--held-out is 1; it must be at least 0 and below 1");
    refused(&with(&["--dropout", "1"]), 2, "the token dropout is 1; it must be at least 0 and below 1");
    refused(&with(&["--checkpoint", "none/kept"]), 3, "rank 0 of 2: none/kept cannot be written: ");
    let mut arguments = ARGUMENTS;
    arguments[4] = "20";
    arguments[6] = "19";
    refused(&run(job(home, 2, &arguments)), 2, "is outside the vocabulary of 20 tokens");
}
