//! Training steps whose counts are added up and maximised in blocks of rows: the same bits for any number of processes, any order of the
//! rows, and any way to cut the sums.

use crate::common::{known, narrow, parameters, rng, some, texts};
use hmm_control::distil::{
    DistilError, NewRows, Options, Parameters, Schedule, Sequences, Sparse, Statistics, StepSize, Totals,
    Trainer,
};
use proptest::prelude::*;

/// Every combination of what changes a step: running counts, dropout, an end token, sparse transitions.
fn options(variant: usize) -> Options {
    let step_size = match variant & 1 {
        0 => StepSize::Whole,
        _ => StepSize::Decaying { exponent: 0.7, offset: 1.0 },
    };
    Options {
        step_size,
        token_dropout: if variant & 2 == 0 { 0.0 } else { 0.1 },
        end: (variant & 4 != 0).then_some(19),
        sparse: (variant & 8 != 0).then_some(Sparse { successors: 3, after: 2 }),
        lanes: some(5),
        ..Options::new(Schedule::parse("2,1;2,3", 4).unwrap())
    }
}

fn start() -> Parameters<f32> {
    narrow(&parameters(6, 20, false, &mut rng(3)))
}

/// Texts in which token 19 does not occur, and texts to hold out.
fn sets() -> (Sequences, Sequences) {
    let (_, mut train) = known(4, 19, 130, 5);
    let held_out = train.split_off(30);
    (train, held_out)
}

/// One step of several processes.
fn step(trainers: &mut [Trainer<'_, f32>], order: &[usize], width: usize) {
    let of = trainers.len() as u32;
    let numbered = || (1..=of).zip(0..);
    let mut counts: Vec<Statistics> =
        numbered().map(|(number, at): (u32, usize)| trainers[at].count(number, of).unwrap()).collect();
    let mut totals = Totals::default();
    for part in &counts {
        totals.merge(&Totals::from_words(part.totals().to_words()).unwrap()).unwrap();
    }
    for (number, at) in numbered() {
        for from in order.iter().copied().filter(|from| *from < of as usize && *from != at) {
            for row in counts[at].block(number, of) {
                let sent = counts[from].row(row).map(<[i64]>::to_vec);
                sent.into_iter().for_each(|sent| counts[at].add_row(row, &sent).unwrap());
            }
        }
    }
    let blocks: Vec<_> = numbered().map(|(number, at)| counts[at].block(number, of)).collect();
    let states = counts[0].states();
    let begun: Vec<_> = counts
        .into_iter()
        .zip(&blocks)
        .zip(&*trainers)
        .map(|((counts, block), trainer)| trainer.begin_rows(counts, &totals, block.clone()).unwrap())
        .collect();
    let mut sums = vec![0.0; states];
    for first in (0..states).step_by(width) {
        let piece = first..states.min(first + width);
        begun.iter().for_each(|block| block.add_sums(piece.clone(), &mut sums[piece.clone()]));
    }
    let mut new: Vec<NewRows<f32>> = begun
        .into_iter()
        .zip(&*trainers)
        .map(|(block, trainer)| block.maximise(trainer, &sums).unwrap())
        .collect();
    let mut message = vec![0.0; new[0].width()];
    for (from, block) in blocks.iter().enumerate() {
        for row in block.clone() {
            new[from].read_row(row, &mut message).unwrap();
            new.iter_mut().for_each(|rows| rows.write_row(row, &message).unwrap());
        }
    }
    for (trainer, rows) in trainers.iter_mut().zip(new) {
        trainer
            .finish_rows(rows, |expectation, parameters, sequences| {
                let mut all = Totals::default();
                for shard in 1..=of {
                    let range = expectation.shard(&(0..sequences.len()), shard, of);
                    all.merge(&expectation.totals(parameters, sequences, range)?)?;
                }
                Ok::<_, DistilError>(all)
            })
            .unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn blocks_of_rows_give_the_bits_of_one_process(
        order in Just((0..9).collect::<Vec<usize>>()).prop_shuffle(), of in 1_usize..9, width in 1_usize..8, variant in 0_usize..16,
    ) {
        let (train, held_out) = sets();
        let trainer = || Trainer::new(start(), &train, &held_out, options(variant)).unwrap();
        let mut whole = trainer();
        let mut several: Vec<_> = (0..of).map(|_| trainer()).collect();
        while whole.step().unwrap().is_some() {
            step(&mut several, &order, width);
            let wanted = whole.checkpoint().unwrap();
            for trainer in &several {
                prop_assert!(trainer.checkpoint().unwrap() == wanted);
            }
        }
        prop_assert!(several[0].is_done());
    }

    /// More processes than rows, and texts of which some tokens are missing.
    #[test]
    fn any_texts_and_more_processes_than_rows(texts in texts(4, 7, 12), of in 1_usize..13) {
        let train: Sequences = texts.iter().map(Vec::as_slice).chain([[1, 2].as_slice()]).collect();
        let none = Sequences::new();
        let first = narrow(&parameters(2, 4, true, &mut rng(8)));
        let options = Options { pseudocount: 0.0, lanes: some(2), ..Options::new(Schedule::full_batch(3).unwrap()) };
        let trainer = || Trainer::new(first.clone(), &train, &none, options.clone()).unwrap();
        let (mut whole, mut several) = (trainer(), (0..of).map(|_| trainer()).collect::<Vec<_>>());
        while whole.step().unwrap().is_some() {
            step(&mut several, &(0..of).collect::<Vec<_>>(), 1);
        }
        for trainer in &several {
            prop_assert!(trainer.checkpoint().unwrap() == whole.checkpoint().unwrap());
        }
    }
}

#[test]
fn blocks_cover_all_rows_in_order() {
    for (states, vocabulary) in [(1, 1), (6, 20), (3, 500)] {
        let statistics = Statistics::new(states, vocabulary);
        for of in 1..30 {
            let mut next = 0;
            for number in 1..=of {
                let block = statistics.block(number, of);
                assert_eq!(block.start, next);
                assert!(block.len().abs_diff(statistics.rows() / of as usize) <= 1);
                next = block.end;
            }
            assert_eq!(next, statistics.rows());
        }
    }
    assert!(Statistics::new(2, 2).block(7, 0).is_empty());
}

#[test]
fn rows_from_elsewhere_are_refused_and_change_nothing() {
    let (train, held_out) = sets();
    let mut trainer = Trainer::new(start(), &train, &held_out, options(0)).unwrap();
    let before = trainer.checkpoint().unwrap();
    let mut counts = trainer.count(1, 1).unwrap();
    let (rows, totals) = (counts.rows(), *counts.totals());
    assert_eq!(rows, 27);

    // A row that there is not, and one of another length: for a token that occurs, one that does not, and a state.
    let counted = counts.clone();
    for (row, length) in [(rows, 6), (7, 5), (26, 7), (3, 0)] {
        assert!(matches!(counts.add_row(row, &vec![1; length]), Err(DistilError::Mismatch { .. })), "{row}");
    }
    assert_eq!(counts, counted);
    assert_eq!((counts.row(26), counts.row(rows)), (None, None));

    // Totals of half of the sequences, a block that there is not, counts of another size.
    let half = *trainer.count(1, 2).unwrap().totals();
    let begin = |counts: &Statistics, totals, block| trainer.begin_rows(counts.clone(), totals, block).err();
    assert!(matches!(begin(&counts, &half, 0..rows), Some(DistilError::Mismatch { unit: "sequences", .. })));
    assert!(matches!(begin(&counts, &totals, 0..rows + 1), Some(DistilError::Mismatch { unit: "rows", .. })));
    assert!(matches!(begin(&Statistics::new(6, 21), &totals, 0..1), Some(DistilError::Mismatch { .. })));

    // Sums that are too few, rows that are missing, and rows of another step.
    let block = || trainer.begin_rows(counts.clone(), &totals, 0..20).unwrap();
    let mut sums = [0.0; 6];
    block().add_sums(0..6, &mut sums);
    assert!(block().maximise(&trainer, &sums[..5]).is_err());
    let (some_rows, late) = (block().maximise(&trainer, &sums).unwrap(), block());
    let none = |_: &_, _: &_, _: &_| Ok::<_, DistilError>(Totals::default());
    let missing = trainer.finish_rows(some_rows.clone(), none).unwrap_err();
    assert_eq!(missing.to_string(), "what was gathered is for 20 rows, the model has 27");
    let mut message = [0.0; 6];
    assert!(
        some_rows.read_row(rows, &mut message).is_err() && some_rows.read_row(0, &mut message[..5]).is_err()
    );
    assert!(some_rows.clone().write_row(rows, &message).is_err());
    assert!(trainer.checkpoint().unwrap() == before);
    trainer.step().unwrap();
    assert_eq!(late.maximise(&trainer, &sums).err(), Some(DistilError::OtherStep));
    assert_eq!(trainer.finish_rows(some_rows, none).err(), Some(DistilError::OtherStep));
}

#[test]
fn totals_that_no_sequences_have_are_refused() {
    let (train, held_out) = sets();
    let trainer = Trainer::new(start(), &train, &held_out, options(0)).unwrap();
    let words = trainer.count(1, 1).unwrap().totals().to_words();
    assert!(Totals::from_words(words).unwrap().log_likelihood() < 0.0);
    for (at, value) in [(0, u64::MAX), (1, u64::MAX), (1, 0), (2, words[1] + 1), (3, u64::MAX), (5, 1 << 62)]
    {
        let mut forged = words;
        forged[at] = value;
        assert!(Totals::from_words(forged).is_err(), "{at}");
    }
    // Each is possible, and both together are too many.
    let mut many = Totals::from_words([1, 1 << 27, 0, 0, 0, 0]).unwrap();
    many.merge(&many.clone()).unwrap();
    assert!(matches!(many.merge(&many.clone()), Err(DistilError::TooManyPositions { .. })));
}
