//! The forward and the backward recursion over a batch, in scaled linear probabilities (Rabiner 1989, section V.A).

use super::parameters::{Real, dot, sum};
use super::{MISSING, Parameters, Sequences};
use crate::Token;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayViewMut1, s};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Random tokens are dropped, as if they were missing, so that the model does not depend on single tokens.
///
/// The choice depends only on the seed, the step and the sequence's number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    /// The probability of dropping a token, 0 to 1.
    pub probability: f64,
    /// The training's seed.
    pub seed: u64,
    /// The training's step.
    pub step: u32,
    /// The number of the first sequence among all: 0 except for a shard. With the number of sequences it stays below 2^32.
    pub first: u64,
}

impl Dropout {
    /// For each token of a sequence, true if it is dropped.
    pub(super) fn of(&self, sequence: usize, length: usize) -> Vec<bool> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(self.step) << 32 | (self.first + sequence as u64) & 0xffff_ffff);
        (0..length).map(|_| rng.random::<f64>() < self.probability).collect()
    }
}

/// A batch of sequences, the longest first, so that at each position the unfinished ones are the first rows. One matrix
/// product advances all of them by a token.
///
/// Rows are ordered by position, then by sequence.
pub(super) struct Batch {
    /// How many sequences have a token at each position; falling.
    pub(super) active: Vec<usize>,
    /// The token of each row, or [`MISSING`].
    pub(super) rows: Vec<Token>,
    /// Number of sequences, with the empty ones.
    pub(super) sequences: usize,
}

impl Batch {
    pub(super) fn new(sequences: &Sequences, range: Range<usize>, dropout: Option<&Dropout>) -> Batch {
        let mut lanes: Vec<(usize, &[Token])> =
            range.clone().map(|number| (number, sequences.get(number))).collect();
        lanes.sort_by_key(|(_, tokens)| std::cmp::Reverse(tokens.len()));
        let longest = lanes.first().map_or(0, |(_, tokens)| tokens.len());
        let dropped: Vec<Vec<bool>> = match dropout {
            Some(dropout) => lanes.iter().map(|(number, tokens)| dropout.of(*number, tokens.len())).collect(),
            None => Vec::new(),
        };
        let mut active = Vec::with_capacity(longest);
        let mut rows = Vec::new();
        for place in 0..longest {
            let before = rows.len();
            for (lane, (_, tokens)) in lanes.iter().enumerate() {
                let Some(&token) = tokens.get(place) else { break };
                let drop = dropped.get(lane).and_then(|lane| lane.get(place)).copied().unwrap_or(false);
                rows.push(if drop { MISSING } else { token });
            }
            active.push(rows.len() - before);
        }
        Batch { active, rows, sequences: range.len() }
    }
}

/// The evidence of a batch, from the forward recursion.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    pub(super) log_likelihood: f64,
    /// Tokens that were present and that some state emits.
    pub(super) tokens: u64,
    /// Tokens that no state emits at their position.
    pub(super) impossible: u64,
}

/// The buffers of one thread, reused for every batch: `2 * (tokens + lanes) * h` numbers.
pub(super) struct Workspace<T> {
    /// `p(state | tokens up to here)`, a row for each row of the batch.
    alpha: Array2<T>,
    /// The likelihood of the next token and all after it by the *next* state, over its expected value; 0 in the rows of
    /// last tokens, so that one product over all rows gives the transitions' counts.
    beyond: Array2<T>,
    /// The message at the current position: from the tokens before it, or from those after it.
    message: Array2<T>,
    next: Array2<T>,
    /// One over each row's evidence.
    inverse: Vec<T>,
}

fn ensure<T: Real>(array: &mut Array2<T>, rows: usize, columns: usize) {
    if array.nrows() < rows || array.ncols() != columns {
        *array = Array2::from_elem((rows, columns), T::zero());
    }
}

/// The row as a slice. All arrays here are in standard layout, so that there always is one.
fn cells<T>(row: ArrayViewMut1<'_, T>) -> &mut [T] {
    row.into_slice().unwrap_or_default()
}

impl<T: Real> Workspace<T> {
    pub(super) fn new() -> Workspace<T> {
        let empty = || Array2::from_elem((0, 0), T::zero());
        Workspace { alpha: empty(), beyond: empty(), message: empty(), next: empty(), inverse: Vec::new() }
    }

    /// Filters the batch. A token that no state emits becomes a missing one, as in [`crate::Belief`].
    pub(super) fn forward(&mut self, parameters: &Parameters<T>, batch: &mut Batch) -> Evidence {
        let states = parameters.states();
        let lanes = batch.active.first().copied().unwrap_or(0);
        ensure(&mut self.alpha, batch.rows.len(), states);
        ensure(&mut self.message, lanes, states);
        ensure(&mut self.next, lanes, states);
        self.inverse.clear();
        for row in self.message.rows_mut().into_iter().take(lanes) {
            cells(row).copy_from_slice(&parameters.initial);
        }
        let mut evidence = Evidence::default();
        let mut first = 0;
        for (place, &active) in batch.active.iter().enumerate() {
            if place > 0 {
                let previous = batch.active.get(place - 1).copied().unwrap_or(active);
                let start = first - previous;
                general_mat_mul(
                    T::one(),
                    &self.alpha.slice(s![start..start + active, ..]),
                    &parameters.transition,
                    T::zero(),
                    &mut self.message.slice_mut(s![..active, ..]),
                );
            }
            let tokens = batch.rows.get_mut(first..first + active).unwrap_or_default();
            let predicted = self.message.rows().into_iter();
            let mut filtered = self.alpha.slice_mut(s![first..first + active, ..]);
            for ((token, predicted), filtered) in tokens.iter_mut().zip(predicted).zip(filtered.rows_mut()) {
                let predicted = predicted.to_slice().unwrap_or_default();
                let scale = filter(parameters, token, predicted, cells(filtered), &mut evidence);
                self.inverse.push(T::one() / scale);
            }
            first += active;
        }
        evidence
    }

    /// Smooths a filtered batch and calls `each(row, p(state | all tokens))` for every row, from the last position to the
    /// first. [`Workspace::pairs`] may be called after it.
    pub(super) fn backward(
        &mut self,
        parameters: &Parameters<T>,
        batch: &Batch,
        mut each: impl FnMut(usize, &[T]),
    ) {
        ensure(&mut self.beyond, batch.rows.len(), parameters.states());
        let Workspace { alpha, beyond, message, next: posterior, inverse } = self;
        let mut first = batch.rows.len();
        let mut following = 0;
        for (place, &active) in batch.active.iter().enumerate().rev() {
            first -= active;
            general_mat_mul(
                T::one(),
                &beyond.slice(s![first..first + following, ..]),
                &parameters.transition.t(),
                T::zero(),
                &mut message.slice_mut(s![..following, ..]),
            );
            beyond.slice_mut(s![first + following..first + active, ..]).fill(T::zero());
            message.slice_mut(s![following..active, ..]).fill(T::one());
            let previous = place.checked_sub(1).and_then(|before| batch.active.get(before));
            for lane in 0..active {
                let row = first + lane;
                let alpha = alpha.row(row).to_slice().unwrap_or_default();
                let message = message.row(lane).to_slice().unwrap_or_default();
                let posterior = cells(posterior.row_mut(lane));
                // Their product sums to 1 up to rounding, which would accumulate over a long text.
                let correction = T::one() / dot(alpha, message);
                for (posterior, (alpha, message)) in posterior.iter_mut().zip(alpha.iter().zip(message)) {
                    *posterior = *alpha * *message * correction;
                }
                each(row, posterior);
                let (Some(previous), Some(&inverse)) = (previous, inverse.get(row)) else { continue };
                let beyond = cells(beyond.row_mut(first - previous + lane));
                let token = batch.rows.get(row).copied().unwrap_or(MISSING);
                backward_message(parameters, token, inverse * correction, (alpha, message), beyond);
            }
            following = active;
        }
    }

    /// `pairs += ` the transitions' expected counts, not yet multiplied by the transition probabilities.
    pub(super) fn pairs(&self, batch: &Batch, pairs: &mut Array2<T>) {
        let rows = batch.rows.len();
        let (alpha, beyond) = (self.alpha.slice(s![..rows, ..]), self.beyond.slice(s![..rows, ..]));
        general_mat_mul(T::one(), &alpha.t(), &beyond, T::zero(), pairs);
    }
}

/// Writes `p(state | tokens up to this one)` and returns the token's probability, 1 for a missing one.
fn filter<T: Real>(
    parameters: &Parameters<T>,
    token: &mut Token,
    predicted: &[T],
    filtered: &mut [T],
    evidence: &mut Evidence,
) -> T {
    if *token != MISSING {
        let emission = parameters.emission.row(*token as usize);
        let emission = emission.to_slice().unwrap_or_default();
        for (filtered, (predicted, emission)) in filtered.iter_mut().zip(predicted.iter().zip(emission)) {
            *filtered = *predicted * *emission;
        }
        let probability = sum(filtered);
        // A probability below the underflow threshold has no inverse.
        if probability >= T::SMALLEST {
            evidence.log_likelihood += probability.to_f64().ln();
            evidence.tokens += 1;
            let inverse = T::one() / probability;
            scale_and_flush(filtered, predicted, inverse);
            return probability;
        }
        evidence.impossible += 1;
        *token = MISSING;
    }
    filtered.copy_from_slice(predicted);
    scale_and_flush(filtered, predicted, T::one());
    T::one()
}

/// Scales, and sets numbers below the underflow threshold to 0, so that no quotient of the backward recursion overflows.
fn scale_and_flush<T: Real>(filtered: &mut [T], predicted: &[T], factor: T) {
    for (value, predicted) in filtered.iter_mut().zip(predicted) {
        let scaled = *value * factor;
        *value = if scaled < T::SMALLEST || *predicted < T::SMALLEST { T::zero() } else { scaled };
    }
}

/// The likelihood of a token and all after it by its state, for the previous step. States that the filter ruled out are
/// skipped: their value is multiplied by 0, and may overflow.
fn backward_message<T: Real>(
    parameters: &Parameters<T>,
    token: Token,
    factor: T,
    (alpha, message): (&[T], &[T]),
    beyond: &mut [T],
) {
    let pairs = beyond.iter_mut().zip(alpha.iter().zip(message));
    if token == MISSING {
        for (beyond, (alpha, message)) in pairs {
            *beyond = if *alpha > T::zero() { *message * factor } else { T::zero() };
        }
        return;
    }
    let emission = parameters.emission.row(token as usize);
    let emission = emission.to_slice().unwrap_or_default();
    for ((beyond, (alpha, message)), emission) in pairs.zip(emission) {
        let value = *message * *emission * factor;
        *beyond = if *alpha > T::zero() { value } else { T::zero() };
    }
}
