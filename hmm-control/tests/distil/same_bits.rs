//! What must come out the same to the last bit: threads, shards, interruptions.

use crate::common::{known, narrow, parameters, rng, some};
use hmm_control::distil::{
    DistilError, Expectation, Options, Parameters, Schedule, Sequences, Sparse, Statistics, StepSize, Trainer,
};
use proptest::prelude::*;

fn counts(model: &Parameters<f32>, all: &Sequences, lanes: usize, threads: usize) -> Vec<Statistics> {
    let expectation = Expectation { lanes: some(lanes), threads: some(threads), dropout: None };
    // Shards of eight sequences each.
    let cuts = (0..all.len()).step_by(8);
    cuts.map(|first| expectation.statistics(model, all, first..(first + 8).min(all.len())).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shards_merge_to_one_run_in_any_order(seed in any::<u64>(), order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
        let (_, all) = known(4, 20, 61, seed);
        let model = narrow(&parameters(6, 20, false, &mut rng(seed)));
        let expectation = Expectation { lanes: some(4), threads: some(2), dropout: None };
        let whole = expectation.statistics(&model, &all, 0..61).unwrap();
        let shards = counts(&model, &all, 4, 1);
        let mut left = Statistics::new(6, 20);
        let mut right = Statistics::new(6, 20);
        for (place, shard) in order.iter().enumerate() {
            // As they would come from other machines, and not all to the same sum.
            let shard = Statistics::from_bytes(&shards[*shard].to_bytes().unwrap()).unwrap();
            if place % 3 == 0 { left.merge(&shard).unwrap() } else { right.merge(&shard).unwrap() }
        }
        left.merge(&right).unwrap();
        prop_assert!(left == whole);

        // Shards that cut a batch round differently, and no more than that.
        let mut other = Statistics::new(6, 20);
        counts(&model, &all, 3, 1).iter().for_each(|shard| other.merge(shard).unwrap());
        prop_assert_eq!(other.tokens(), whole.tokens());
        prop_assert!((other.log_likelihood() - whole.log_likelihood()).abs() < 1e-3);
        for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
            prop_assert!((other.transition(from, to) - whole.transition(from, to)).abs() < 1e-2);
        }
    }
}

fn options(threads: usize) -> Options {
    let schedule = Schedule::parse("3,1;3,2;2,4", 4).unwrap();
    Options {
        step_size: StepSize::Decaying { exponent: 0.7, offset: 1.0 },
        token_dropout: 0.1,
        sparse: Some(Sparse { successors: 3, after: 4 }),
        patience: Some(2),
        seed: 11,
        lanes: some(5),
        threads: some(threads),
        ..Options::new(schedule)
    }
}

fn start() -> Parameters<f32> {
    narrow(&parameters(6, 20, false, &mut rng(3)))
}

#[test]
fn threads_do_not_matter() {
    let (_, mut train) = known(4, 20, 150, 5);
    let held_out = train.split_off(30);
    let run = |threads: usize| {
        let mut trainer = Trainer::new(start(), &train, &held_out, options(threads)).unwrap();
        let mut reports = Vec::new();
        while let Some(report) = trainer.step().unwrap() {
            reports.push(report);
        }
        (reports, trainer.checkpoint().unwrap())
    };
    let (reports, one) = run(1);
    let (others, three) = run(3);
    assert_eq!(reports, others);
    assert!(one == three);
    assert!(reports.len() > 4, "the run should go beyond the pruning");
}

#[test]
fn an_interrupted_run_ends_the_same() {
    let (_, mut train) = known(4, 20, 150, 6);
    let held_out = train.split_off(30);
    for patience in [None, Some(1)] {
        let options = Options { patience, ..options(1) };
        let mut through = Trainer::new(start(), &train, &held_out, options.clone()).unwrap();
        let mut checkpoints = vec![through.checkpoint().unwrap()];
        let mut reports = Vec::new();
        while let Some(report) = through.step().unwrap() {
            reports.push(report);
            checkpoints.push(through.checkpoint().unwrap());
        }
        for (after, checkpoint) in checkpoints.iter().enumerate() {
            let mut resumed = Trainer::<f32>::resume(checkpoint, &train, &held_out, some(2)).unwrap();
            assert!(resumed.checkpoint().unwrap() == *checkpoint);
            let mut rest = Vec::new();
            while let Some(report) = resumed.step().unwrap() {
                rest.push(report);
            }
            assert_eq!(rest, reports[after..]);
            assert!(resumed.checkpoint().unwrap() == *checkpoints.last().unwrap(), "resumed after {after}");
            assert_eq!(resumed.best(), through.best());
        }
    }
}

#[test]
fn steps_done_elsewhere_are_the_same() {
    let (_, mut train) = known(4, 20, 120, 8);
    let held_out = train.split_off(20);
    let mut here = Trainer::new(start(), &train, &held_out, options(1)).unwrap();
    let mut there = Trainer::new(start(), &train, &held_out, options(1)).unwrap();
    while let Some(report) = here.step().unwrap() {
        let mut all = Statistics::new(6, 20);
        for range in there.ranges() {
            // Two machines, and a cut between batches of five.
            let middle = range.start + range.len() / 2 / 5 * 5;
            for part in [middle..range.end, range.start..middle] {
                let shard = there.expectation().statistics(there.parameters(), &train, part).unwrap();
                all.merge(&shard).unwrap();
            }
        }
        assert_eq!(there.apply(&all).unwrap(), report);
    }
    assert_eq!(here.parameters(), there.parameters());
}

#[test]
fn a_checkpoint_of_other_texts_or_another_width_is_refused() {
    let (_, mut train) = known(4, 20, 30, 6);
    let held_out = train.split_off(5);
    let trainer = Trainer::new(start(), &train, &held_out, options(1)).unwrap();
    let bytes = trainer.checkpoint().unwrap();
    let resume = |train, held_out| Trainer::<f32>::resume(&bytes, train, held_out, some(1)).err().unwrap();
    assert_eq!(resume(&held_out, &held_out), DistilError::OtherSequences { which: "training" });
    assert_eq!(resume(&train, &train), DistilError::OtherSequences { which: "held-out" });
    let error = Trainer::<f64>::resume(&bytes, &train, &held_out, some(1)).err().unwrap();
    assert_eq!(error.to_string(), "initial: it is F32 [6], but F64 [6] was expected");
    let error = Trainer::<f32>::resume(&bytes[..bytes.len() - 1], &train, &held_out, some(1)).err().unwrap();
    assert!(error.to_string().starts_with("the file: "), "{error}");
}
