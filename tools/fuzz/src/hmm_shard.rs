//! The counts of a part of a distillation: reading and merging any bytes.

use hmm_control::distil::{DistilError, Expectation, Parameters, Rules, Sequences, Statistics, maximise};
use ndarray::Array2;

use crate::hmm_checkpoint::{first, texts};
use crate::input::with_fitting_lengths;

/// The most cells of a model that is made from counts, since counts may name any number of tokens.
const CELLS: usize = 1 << 16;

/// Reads the input, and again with consistent lengths.
///
/// # Panics
/// Accepted counts cannot be merged or learnt from, or are written as others.
pub fn run(input: &[u8]) {
    for bytes in [Some(input.to_vec()), with_fitting_lengths(input)].into_iter().flatten() {
        // A refused input has no further guarantee.
        let _refused = merged(&bytes);
    }
}

/// Reads counts and merges them.
///
/// # Errors
/// The message of the reader, if it refuses the bytes.
///
/// # Panics
/// Those of [`run`].
pub fn merged(bytes: &[u8]) -> Result<(), String> {
    let read = Statistics::from_bytes(bytes);
    let shard = match read {
        Ok(shard) => shard,
        Err(error) => {
            let words = error.to_string();
            assert!(!words.is_empty(), "refused without a reason");
            return Err(words);
        }
    };
    let Ok(written) = shard.to_bytes() else { panic!("it is not written") };
    assert_eq!(Statistics::from_bytes(&written).as_ref(), Ok(&shard), "written, and read as others");
    assert!(!shard.log_likelihood().is_nan(), "the log likelihood is no number");
    let mut all = Statistics::new(shard.states(), shard.vocabulary());
    assert_eq!(all.merge(&shard), Ok(()), "to nothing they are added");
    assert_eq!(all, shard, "added to nothing they are themselves");
    // Twice the counts may be too many, which is an error.
    let mut before = all.clone();
    while before.positions() > 0 && all.merge(&before).is_ok() {
        assert_eq!(all.positions(), before.positions() * 2, "some were not added");
        assert_eq!(all.sequences(), before.sequences() * 2, "some were not added");
        before = all.clone();
    }
    learnt(&all);
    Ok(())
}

/// Checks that the parameters learnt from counts are distributions.
fn learnt(counts: &Statistics) {
    let (states, vocabulary) = (counts.states(), counts.vocabulary());
    if states == 0 || vocabulary == 0 || states.saturating_mul(states.max(vocabulary)) > CELLS {
        return;
    }
    let even = |number: usize| 1.0 / number as f64;
    let previous = Parameters {
        initial: vec![even(states); states],
        transition: Array2::from_elem((states, states), even(states)),
        emission: Array2::from_elem((vocabulary, states), even(vocabulary)),
    };
    let next = match maximise(counts, &previous, &Rules::default()) {
        Ok(next) => next,
        Err(error) => panic!("nothing is learnt: {error}"),
    };
    let sums = [next.initial.iter().sum::<f64>()].into_iter();
    let sums = sums.chain(next.transition.rows().into_iter().map(|row| row.sum()));
    for sum in sums.chain(next.emission.columns().into_iter().map(|column| column.sum())) {
        assert!((sum - 1.0).abs() < 1e-6, "a distribution sums to {sum}");
    }
}

/// Makes valid counts, with the names of the seeds.
///
/// # Panics
/// Counts cannot be made.
#[must_use]
pub fn good() -> Vec<(&'static str, Vec<u8>)> {
    let (train, held_out) = texts();
    let counted = |sequences: &Sequences, states| {
        Expectation::default().statistics(&first::<f32>(states), sequences, 0..sequences.len())?.to_bytes()
    };
    let made = |made: Result<Vec<u8>, DistilError>| made.unwrap_or_else(|error| panic!("{error}"));
    vec![
        ("all", made(counted(&train, 3))),
        ("held-out", made(counted(&held_out, 2))),
        ("nothing", made(Statistics::new(2, 4).to_bytes())),
    ]
}
