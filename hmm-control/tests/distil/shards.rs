//! Training steps whose counts come from several processes: the same bits for any number of shards and any order of merging, and nothing from
//! elsewhere.

use crate::common::{known, narrow, parameters, rng, some};
use hmm_control::distil::{
    DistilError, Options, Parameters, Schedule, Sequences, ShardCounts, Sparse, StepSize, Trainer,
};
use proptest::prelude::*;

fn options(seed: u64) -> Options {
    Options {
        step_size: StepSize::Decaying { exponent: 0.7, offset: 1.0 },
        token_dropout: 0.1,
        sparse: Some(Sparse { successors: 3, after: 4 }),
        seed,
        lanes: some(5),
        ..Options::new(Schedule::parse("3,1;3,3", 4).unwrap())
    }
}

fn start() -> Parameters<f32> {
    narrow(&parameters(6, 20, false, &mut rng(3)))
}

fn texts() -> (Sequences, Sequences) {
    let (_, mut train) = known(4, 20, 150, 5);
    let held_out = train.split_off(30);
    (train, held_out)
}

/// All steps in so many shards, each by a process of its own that resumes the checkpoint of the step. `order` says in which order the shards
/// of each step are merged.
fn in_shards(of: u32, order: &[usize]) -> Vec<u8> {
    let (train, held_out) = texts();
    let mut trainer = Trainer::new(start(), &train, &held_out, options(11)).unwrap();
    while !trainer.is_done() {
        let checkpoint = trainer.checkpoint().unwrap();
        let counted: Vec<Vec<u8>> = (1..=of)
            .map(|shard| {
                let process = Trainer::<f32>::resume(&checkpoint, &train, &held_out, some(2)).unwrap();
                process.count_shard(shard, of).unwrap().to_bytes().unwrap()
            })
            .collect();
        let mut merged: Option<ShardCounts> = None;
        for at in order.iter().filter(|at| **at < of as usize) {
            let shard = ShardCounts::from_bytes(&counted[*at]).unwrap();
            match &mut merged {
                Some(merged) => merged.merge(&shard).unwrap(),
                None => merged = Some(shard),
            }
        }
        trainer = Trainer::resume(&checkpoint, &train, &held_out, some(1)).unwrap();
        trainer.apply_shards(&merged.unwrap()).unwrap();
    }
    trainer.checkpoint().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn any_number_of_shards_gives_the_bits_of_one_process(order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
        let (train, held_out) = texts();
        let mut whole = Trainer::new(start(), &train, &held_out, options(11)).unwrap();
        while whole.step().unwrap().is_some() {}
        let whole = whole.checkpoint().unwrap();
        for of in [1, 2, 4, 8] {
            prop_assert!(in_shards(of, &order) == whole, "{of} shards");
        }
    }
}

#[test]
fn more_shards_than_batches_leave_some_empty() {
    let (train, held_out) = texts();
    let mut trainer = Trainer::new(start(), &train, &held_out, options(11)).unwrap();
    // The first step has 30 sequences, in 6 batches of 5.
    let mut all = trainer.count_shard(1, 40).unwrap();
    (2..=40).for_each(|shard| all.merge(&trainer.count_shard(shard, 40).unwrap()).unwrap());
    assert!(all.is_whole());
    assert_eq!(trainer.apply_shards(&all).unwrap().step, 1);
}

#[test]
fn counts_from_elsewhere_are_refused_and_change_nothing() {
    let (train, held_out) = texts();
    let trainer = || Trainer::new(start(), &train, &held_out, options(11)).unwrap();
    let mut training = trainer();
    let before = training.checkpoint().unwrap();
    let mut half = training.count_shard(1, 2).unwrap();

    // A shard that is missing, one that comes twice, and one of another division.
    assert_eq!(training.apply_shards(&half).unwrap_err(), DistilError::Missing { shard: 2, of: 2 });
    assert_eq!(half.merge(&half.clone()).unwrap_err(), DistilError::Twice { shard: 1 });
    let third = training.count_shard(2, 3).unwrap();
    assert!(matches!(half.merge(&third).unwrap_err(), DistilError::Mismatch { unit: "shards", .. }));

    // Another step, another seed, another plan, other sequences.
    let mut later = trainer();
    later.step().unwrap();
    let other_seed = Trainer::new(start(), &train, &held_out, options(12)).unwrap();
    let plan = Options { pseudocount: 0.5, ..options(11) };
    let other_plan = Trainer::new(start(), &train, &held_out, plan).unwrap();
    let other_texts = Trainer::new(start(), &train, &train, options(11)).unwrap();
    for other in [&later, &other_seed, &other_plan, &other_texts] {
        let shard = other.count_shard(2, 2).unwrap();
        assert_eq!(half.merge(&shard).unwrap_err(), DistilError::OtherStep);
        let whole = other.count_shard(1, 1).unwrap();
        assert_eq!(training.apply_shards(&whole).unwrap_err(), DistilError::OtherStep);
    }
    assert!(training.checkpoint().unwrap() == before);

    // The control: the right shard.
    half.merge(&training.count_shard(2, 2).unwrap()).unwrap();
    assert_eq!(training.apply_shards(&half).unwrap().step, 1);
    for (shard, of) in [(0, 2), (3, 2), (1, 0), (1, 70_000)] {
        assert!(matches!(training.count_shard(shard, of), Err(DistilError::Setting { .. })));
    }
    while training.step().unwrap().is_some() {}
    assert_eq!(training.count_shard(1, 1).unwrap_err(), DistilError::Done);
}

/// One number of each tensor is raised: the sums show it.
#[test]
fn forged_counts_are_refused() {
    let (train, held_out) = texts();
    let training = Trainer::new(start(), &train, &held_out, options(11)).unwrap();
    let bytes = training.count_shard(1, 2).unwrap().to_bytes().unwrap();
    assert!(ShardCounts::from_bytes(&bytes).is_ok());
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let text: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    for name in ["initial", "transition", "emission"] {
        let at = 8 + header + text[name]["data_offsets"][0].as_u64().unwrap() as usize;
        let mut forged = bytes.clone();
        let count = i64::from_le_bytes(forged[at..at + 8].try_into().unwrap()) + (10 << 34);
        forged[at..at + 8].copy_from_slice(&count.to_le_bytes());
        let error = ShardCounts::from_bytes(&forged).unwrap_err().to_string();
        assert!(error.contains("add up") || error.contains("more first states"), "{name}: {error}");
    }
}
