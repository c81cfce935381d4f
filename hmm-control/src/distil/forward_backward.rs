//! The forward and the backward recursion over a batch, in scaled linear probabilities (Rabiner 1989, section V.A).

use super::parameters::{Real, dot, sum};
use super::{MISSING, Parameters, Sequences};
use crate::Token;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayViewMut1, s};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Tokens that are left out at random, as if they were missing, so that the model learns to do without them.
///
/// Which ones is a matter of the seed, the step and the sequence's number alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    /// How likely a token is to be left out, 0 to 1.
    pub probability: f64,
    /// The training's seed.
    pub seed: u64,
    /// The training's step.
    pub step: u32,
    /// The number, among all sequences, of the first one here: 0 but for a shard. Below 2^32 together with the
    /// sequences.
    pub first: u64,
}

impl Dropout {
    /// Which tokens of a sequence are dropped.
    pub(super) fn of(&self, sequence: usize, length: usize) -> Vec<bool> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(self.step) << 32 | (self.first + sequence as u64) & 0xffff_ffff);
        (0..length).map(|_| rng.random::<f64>() < self.probability).collect()
    }
}

/// A batch of sequences, the longest first, so that at each place those that go on are the first rows.
///
/// Rows are ordered by place, then by sequence.
pub(super) struct Batch {
    /// How many sequences have a token at each place; falls.
    pub(super) active: Vec<usize>,
    /// The token of each row, or [`MISSING`].
    pub(super) rows: Vec<Token>,
    /// Sequences, the empty ones too.
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

/// What the forward recursion says of a batch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    pub(super) log_likelihood: f64,
    /// Tokens that were there and that some state emits.
    pub(super) tokens: u64,
    /// Tokens that no state emits where they stand.
    pub(super) impossible: u64,
}

/// Memory of one thread, used again for every batch: `2 * (tokens + lanes) * h` numbers.
pub(super) struct Workspace<T> {
    /// `p(state | tokens up to here)`, a row for each row of the batch.
    alpha: Array2<T>,
    /// What the next token and all behind it say of the *next* state, over what was expected of them; 0 in the rows
    /// of last tokens, so that one product over all rows gives the transitions' counts.
    beyond: Array2<T>,
    /// Of the current place: what the tokens before, or those behind, say of the state.
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

/// The row's numbers. All arrays here are in standard layout, so there is always a slice.
fn cells<T>(row: ArrayViewMut1<'_, T>) -> &mut [T] {
    row.into_slice().unwrap_or_default()
}

impl<T: Real> Workspace<T> {
    pub(super) fn new() -> Workspace<T> {
        let empty = || Array2::from_elem((0, 0), T::zero());
        Workspace { alpha: empty(), beyond: empty(), message: empty(), next: empty(), inverse: Vec::new() }
    }

    /// Filters the batch. A token that no state emits is made a missing one, as [`crate::Belief`] does.
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

    /// Smooths a batch that was filtered, and hands over the posterior of every row's state:
    /// `each(row, p(state | all tokens))`, from the last place to the first. [`Workspace::pairs`] is ready after it.
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
                // Their product sums to 1 but for rounding, which would add up over a long text.
                let correction = T::one() / dot(alpha, message);
                for (posterior, (alpha, message)) in posterior.iter_mut().zip(alpha.iter().zip(message)) {
                    *posterior = *alpha * *message * correction;
                }
                each(row, posterior);
                let (Some(previous), Some(&inverse)) = (previous, inverse.get(row)) else { continue };
                let beyond = cells(beyond.row_mut(first - previous + lane));
                let token = batch.rows.get(row).copied().unwrap_or(MISSING);
                look_beyond(parameters, token, inverse * correction, (alpha, message), beyond);
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
        // One below the format's underflow has no inverse.
        if probability >= T::SMALLEST {
            evidence.log_likelihood += probability.to_f64().ln();
            evidence.tokens += 1;
            let inverse = T::one() / probability;
            settle(filtered, predicted, inverse);
            return probability;
        }
        evidence.impossible += 1;
        *token = MISSING;
    }
    filtered.copy_from_slice(predicted);
    settle(filtered, predicted, T::one());
    T::one()
}

/// Scales, and drops what is below the format's underflow, so that no quotient of the backward recursion overflows.
fn settle<T: Real>(filtered: &mut [T], predicted: &[T], factor: T) {
    for (value, predicted) in filtered.iter_mut().zip(predicted) {
        let scaled = *value * factor;
        *value = if scaled < T::SMALLEST || *predicted < T::SMALLEST { T::zero() } else { scaled };
    }
}

/// What a token and all behind it say of its state, for the step before. States that the filter ruled out are left
/// out: whatever the future says of them is multiplied by 0, and may be too large for the format.
fn look_beyond<T: Real>(
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
