//! Checkpoints of an interrupted distillation: resuming from any bytes.

use std::num::NonZeroUsize;

use hmm_control::distil::{Options, Parameters, Real, Schedule, Sequences, Sparse, StepSize, Trainer};
use ndarray::Array2;

use crate::input::with_fitting_lengths;

/// The number of steps after resuming.
const STEPS: usize = 3;

/// The largest error of the sum of a distribution: the reader accepts a hundredth, and floats round.
const ROUNDED: f64 = 1.1e-2;

/// The texts for training and the held-out ones. They are fixed, since a checkpoint has the fingerprint of its texts.
#[must_use]
pub fn texts() -> (Sequences, Sequences) {
    let all = |texts: &[&[u32]]| texts.iter().copied().collect();
    (all(&[&[0, 1, 2], &[3, 1], &[2, 2, 0]]), all(&[&[1, 0]]))
}

/// Resumes from the input, and again with consistent lengths, with both widths of floats.
///
/// # Panics
/// An accepted checkpoint does not lead to distributions, or is written as another one.
pub fn run(input: &[u8]) {
    for bytes in [Some(input.to_vec()), with_fitting_lengths(input)].into_iter().flatten() {
        // A refused input has no further guarantee.
        let _refused = resumed::<f32>(&bytes);
        let _refused = resumed::<f64>(&bytes);
    }
}

/// Resumes from a checkpoint.
///
/// # Errors
/// The message of the reader, if it refuses the bytes.
///
/// # Panics
/// Those of [`run`].
pub fn resumed<T: Real>(bytes: &[u8]) -> Result<(), String> {
    let (train, held_out) = texts();
    let mut trainer = match Trainer::<T>::resume(bytes, &train, &held_out, NonZeroUsize::MIN) {
        Ok(trainer) => trainer,
        Err(error) => {
            let words = error.to_string();
            assert!(!words.is_empty(), "refused without a reason");
            return Err(words);
        }
    };
    is_the_same_again(&trainer, &train, &held_out);
    for _ in 0..STEPS {
        match trainer.step() {
            Ok(Some(report)) => assert!(report.step <= report.steps, "{} of {}", report.step, report.steps),
            Ok(None) => break,
            Err(error) => assert!(!error.to_string().is_empty(), "a step failed without a reason"),
        }
        are_distributions(trainer.parameters());
        are_distributions(trainer.best());
    }
    is_the_same_again(&trainer, &train, &held_out);
    Ok(())
}

/// Checks that a training is written and read as the same one.
fn is_the_same_again<T: Real>(trainer: &Trainer<'_, T>, train: &Sequences, held_out: &Sequences) {
    let Ok(written) = trainer.checkpoint() else { panic!("it is not written") };
    let again = match Trainer::<T>::resume(&written, train, held_out, NonZeroUsize::MIN) {
        Ok(again) => again,
        Err(error) => panic!("written, and not read: {error}"),
    };
    assert_eq!(again.checkpoint().ok(), Some(written), "read as another");
}

fn are_distributions<T: Real>(parameters: &Parameters<T>) {
    let sum = |values: &mut dyn Iterator<Item = &T>| values.map(|value| value.to_f64()).sum::<f64>();
    let one = |what: &str, sum: f64| assert!((sum - 1.0).abs() < ROUNDED, "{what} sums to {sum}");
    one("the first state", sum(&mut parameters.initial.iter()));
    for row in parameters.transition.rows() {
        one("a state's transitions", sum(&mut row.iter()));
    }
    for column in parameters.emission.columns() {
        one("a state's tokens", sum(&mut column.iter()));
    }
}

/// Makes valid checkpoints, with the names of the seeds.
///
/// # Panics
/// A checkpoint cannot be made.
#[must_use]
pub fn good() -> Vec<(&'static str, Vec<u8>)> {
    let stages = |text: &str| Schedule::parse(text, 3).unwrap_or_else(|error| panic!("{error}"));
    let sparse = Some(Sparse { successors: 2, after: 1 });
    let dense = Options { patience: Some(2), end: None, ..Options::new(stages("1,1;2,1")) };
    let decaying = StepSize::Decaying { exponent: 0.75, offset: 1.0 };
    vec![
        ("fresh", trained::<f32>(dense.clone(), 0)),
        ("dense", trained::<f32>(dense.clone(), 2)),
        ("sparse", trained::<f32>(Options { sparse, ..dense.clone() }, 2)),
        (
            "decaying",
            trained::<f32>(Options { step_size: decaying, token_dropout: 0.25, ..dense.clone() }, 2),
        ),
        ("wide", trained::<f64>(dense, 2)),
    ]
}

/// Makes a model of this many states, each of which prefers another token and another successor.
#[must_use]
pub fn first<T: Real>(states: usize) -> Parameters<T> {
    const TOKENS: usize = 4;
    let weight = |preferred: bool, of: usize| match preferred {
        true => T::from_f64(0.5 + 0.5 / of as f64),
        false => T::from_f64(0.5 / of as f64),
    };
    Parameters {
        initial: (0..states).map(|state| weight(state == 0, states)).collect(),
        transition: Array2::from_shape_fn((states, states), |(from, to)| {
            weight((from + 1) % states == to, states)
        }),
        emission: Array2::from_shape_fn((TOKENS, states), |(token, state)| {
            weight(state % TOKENS == token, TOKENS)
        }),
    }
}

fn trained<T: Real>(options: Options, steps: usize) -> Vec<u8> {
    let (train, held_out) = texts();
    let made = || {
        let mut trainer = Trainer::new(first::<T>(3), &train, &held_out, options)?;
        for _ in 0..steps {
            trainer.step()?;
        }
        trainer.checkpoint()
    };
    made().unwrap_or_else(|error| panic!("{error}"))
}
