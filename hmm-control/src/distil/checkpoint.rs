//! Checkpoints of a training.

use super::bytes::{Parts, Reader, integers, push_parameters, write, wrong};
use super::statistics::MOST_POSITIONS;
use super::trainer::TrainingState;
use super::{
    DistilError, Options, Parameters, Real, Schedule, Sequences, Sparse, StepSize, Successors, Trainer,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// How far from 1 the sum of a distribution in a checkpoint may be: rounding is far below that, and a sum far above it
/// would make likelihoods NaN.
const ROUNDED: f64 = 1e-2;

/// The largest running count, scaled to the whole training set; its sums are finite.
const MOST_COUNT: f64 = 1e18;

/// Floats are stored as their bits, since JSON's decimals need not round-trip.
#[derive(Serialize, Deserialize)]
struct Header {
    states: usize,
    vocabulary: usize,
    schedule: Schedule,
    /// Exponent and offset.
    decaying: Option<(u64, u64)>,
    pseudocount: u64,
    end: Option<u32>,
    token_dropout: u64,
    patience: Option<u32>,
    sparse: Option<Sparse>,
    seed: u64,
    lanes: NonZeroUsize,
    train: u64,
    held_out: u64,
    running: bool,
    best: bool,
    best_score: u64,
    since_best: u32,
    steps: u32,
    tokens: u64,
    /// How many successors each state keeps, once they are fewer than all.
    successors: Option<usize>,
    stopped: bool,
}

impl Header {
    fn options(&self, threads: NonZeroUsize) -> Options {
        let step_size = match self.decaying {
            Some((exponent, offset)) => {
                StepSize::Decaying { exponent: f64::from_bits(exponent), offset: f64::from_bits(offset) }
            }
            None => StepSize::Whole,
        };
        Options {
            schedule: self.schedule.clone(),
            step_size,
            pseudocount: f64::from_bits(self.pseudocount),
            end: self.end,
            token_dropout: f64::from_bits(self.token_dropout),
            patience: self.patience,
            sparse: self.sparse,
            seed: self.seed,
            lanes: self.lanes,
            threads,
        }
    }
}

impl Header {
    /// Checks that the counters are possible after these steps, so that further counting cannot overflow.
    fn check_counters(&self) -> Result<(), DistilError> {
        let steps = u64::from(self.steps);
        if self.steps > self.schedule.steps() || self.since_best > self.steps {
            return Err(wrong("the header", "it counts more steps than there are"));
        }
        if self.tokens > steps.saturating_mul(MOST_POSITIONS) {
            return Err(wrong("the header", "it counts more tokens than its steps can have seen"));
        }
        Ok(())
    }
}

impl<'a, T: Real> Trainer<'a, T> {
    /// The whole state of the training as bytes (a safetensors file): one to three sets of parameters, without the
    /// sequences.
    ///
    /// # Errors
    /// Only if the format refuses them.
    pub fn checkpoint(&self) -> Result<Vec<u8>, DistilError> {
        let (state, options) = (&self.state, &self.options);
        let mut parts: Parts = Vec::new();
        push_parameters(&mut parts, "", &state.parameters);
        for (prefix, set) in [("running.", &state.running), ("best.", &state.best)] {
            if let Some(set) = set {
                push_parameters(&mut parts, prefix, set);
            }
        }
        let states = state.parameters.states();
        if let Some(kept) = &state.successors {
            let lists = (0..states).flat_map(|state| kept.of(state)).map(|state| i64::from(*state));
            parts.push(("successors".into(), integers(vec![states, kept.of(0).len()], lists)));
        }
        let header = Header {
            states,
            vocabulary: state.parameters.vocabulary(),
            schedule: options.schedule.clone(),
            decaying: match options.step_size {
                StepSize::Decaying { exponent, offset } => Some((exponent.to_bits(), offset.to_bits())),
                StepSize::Whole => None,
            },
            pseudocount: options.pseudocount.to_bits(),
            end: options.end,
            token_dropout: options.token_dropout.to_bits(),
            patience: options.patience,
            sparse: options.sparse,
            seed: options.seed,
            lanes: options.lanes,
            train: self.train.fingerprint(),
            held_out: self.held_out.fingerprint(),
            running: state.running.is_some(),
            best: state.best.is_some(),
            best_score: state.best_score.to_bits(),
            since_best: state.since_best,
            steps: state.steps,
            tokens: state.tokens,
            successors: state.successors.as_ref().map(|kept| kept.of(0).len()),
            stopped: state.stopped,
        };
        write(&header, parts)
    }

    /// Resumes from a checkpoint with its options. The result has the same bits as without the interruption.
    ///
    /// # Errors
    /// When the bytes are not a checkpoint of this float type, hold impossible values, or the sequences are not those of
    /// the start.
    pub fn resume(
        checkpoint: &[u8],
        train: &'a Sequences,
        held_out: &'a Sequences,
        threads: NonZeroUsize,
    ) -> Result<Trainer<'a, T>, DistilError> {
        let (header, reader): (Header, Reader) = Reader::new(checkpoint)?;
        for (which, found, wanted) in
            [("training", train, header.train), ("held-out", held_out, header.held_out)]
        {
            if found.fingerprint() != wanted {
                return Err(DistilError::OtherSequences { which });
            }
        }
        header.check_counters()?;
        let set = |prefix: &str, there: bool| {
            let read = || reader.parameters(prefix, header.states, header.vocabulary);
            there.then(read).transpose()
        };
        let (parameters, best) =
            (reader.parameters("", header.states, header.vocabulary)?, set("best.", header.best)?);
        distributions("", &parameters)?;
        best.as_ref().map_or(Ok(()), |best| distributions("best.", best))?;
        let running = set("running.", header.running)?;
        running.as_ref().map_or(Ok(()), counts)?;
        let successors =
            header.successors.map(|count| successors(&reader, header.states, count)).transpose()?;
        if f64::from_bits(header.best_score).is_nan() {
            return Err(wrong("the header", "its best score is not a number"));
        }
        let state = TrainingState {
            parameters,
            running,
            best,
            best_score: f64::from_bits(header.best_score),
            since_best: header.since_best,
            steps: header.steps,
            tokens: header.tokens,
            successors,
            stopped: header.stopped,
        };
        Trainer::with_state(state, train, held_out, header.options(threads))
    }
}

/// The lists of a sparse model. A state without a successor would divide 0 by 0, and a list that does not rise would lose
/// entries.
fn successors(reader: &Reader<'_>, states: usize, count: usize) -> Result<Successors, DistilError> {
    let last = i64::try_from(states).map_or(i64::MAX, |states| states.saturating_sub(1));
    let lists = reader.integers("successors", &[states, count], last)?;
    let rows = lists.chunks(count.max(1));
    if count == 0 || !rows.clone().all(|row| row.is_sorted_by(|a, b| a < b)) {
        return Err(wrong("successors", "they are not one rising list of states for each state"));
    }
    let list = |row: &[i64]| row.iter().map(|state| *state as u32).collect();
    Ok(Successors::from_lists(states, rows.map(list).collect()))
}

/// Checks that each distribution of a set sums to 1.
fn distributions<T: Real>(prefix: &str, set: &Parameters<T>) -> Result<(), DistilError> {
    let sum = |values: &mut dyn Iterator<Item = &T>| values.map(|value| value.to_f64()).sum::<f64>();
    let one = |sum: f64| (sum - 1.0).abs() <= ROUNDED;
    for (name, sums_to_one) in [
        ("initial", one(sum(&mut set.initial.iter()))),
        ("transition", set.transition.rows().into_iter().all(|row| one(sum(&mut row.iter())))),
        ("emission", set.emission.columns().into_iter().all(|column| one(sum(&mut column.iter())))),
    ] {
        if !sums_to_one {
            return Err(wrong(&format!("{prefix}{name}"), "it holds a distribution that does not sum to 1"));
        }
    }
    Ok(())
}

/// Checks that the running counts are small enough to be added up.
fn counts<T: Real>(set: &Parameters<T>) -> Result<(), DistilError> {
    let all = set.initial.iter().chain(&set.transition).chain(&set.emission);
    match all.map(|value| value.to_f64()).find(|value| *value > MOST_COUNT) {
        Some(value) => Err(wrong("running", format!("it holds {value}, which no training counts"))),
        None => Ok(()),
    }
}
