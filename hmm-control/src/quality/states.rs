//! The hidden states: their distributions, their tokens, and how much each is used.

use crate::{Hmm, Token};

/// The largest distance of a distribution's sum from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalisation {
    /// Of the states' transitions.
    pub transition: f64,
    /// Of the states' emissions.
    pub emission: f64,
}

/// The largest distance of the distributions' sums from 1, from the rounding of the storage. Reads both matrices once.
pub fn normalisation(hmm: &Hmm) -> Normalisation {
    let ones = |matrix: &crate::Matrix| {
        let mut sums = vec![0.0; matrix.columns()];
        let mut row = vec![0.0; matrix.columns()];
        for number in 0..matrix.rows() {
            matrix.read_row(number, &mut row);
            sums.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value);
        }
        sums.iter().map(|sum| (sum - 1.0).abs()).fold(0.0, f64::max)
    };
    Normalisation { transition: ones(hmm.transition()), emission: ones(hmm.emission()) }
}

/// The end state of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndState {
    /// Its number.
    pub state: usize,
    /// The probability that it emits the end token; 1 by convention.
    pub emits: f64,
    /// The probability that it follows itself; 1 by convention.
    pub stays: f64,
    /// The largest probability that another state emits the end token; 0 by convention.
    pub others: f64,
}

/// Finds the state with the largest probability of the end token. None where no state emits it.
pub fn end_state(hmm: &Hmm, end: Token) -> Option<EndState> {
    let mut emission = vec![0.0; hmm.states()];
    hmm.read_emission(end, &mut emission);
    let best = |skip: Option<usize>| {
        let others = emission.iter().copied().enumerate().filter(|(state, _)| Some(*state) != skip);
        others.filter(|(_, value)| *value > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let (state, emits) = best(None)?;
    let mut from = vec![0.0; hmm.states()];
    hmm.transition().read_row(state, &mut from);
    let stays = from.get(state).copied().unwrap_or(0.0);
    Some(EndState { state, emits, stays, others: best(Some(state)).map_or(0.0, |(_, value)| value) })
}

/// The most likely tokens of every state, with their probabilities, the likeliest first. Reads the emissions once.
pub fn top_tokens(hmm: &Hmm, count: usize) -> Vec<Vec<(Token, f64)>> {
    let mut tops: Vec<Vec<(Token, f64)>> = vec![Vec::with_capacity(count + 1); hmm.states()];
    let mut row = vec![0.0; hmm.states()];
    for token in 0..hmm.vocabulary() as Token {
        hmm.read_emission(token, &mut row);
        for (top, &value) in tops.iter_mut().zip(&row) {
            let least = top.get(count.wrapping_sub(1)).map_or(0.0, |(_, least)| *least);
            if value > least {
                let place = top.partition_point(|(_, other)| *other >= value);
                top.insert(place, (token, value));
                top.truncate(count);
            }
        }
    }
    tops
}

/// The usage of the hidden states in the long run.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    /// The share of all tokens that each state emits; sums to 1.
    pub share: Vec<f64>,
    /// The effective number of states: `exp` of the entropy of `share`.
    pub effective: f64,
    /// The modulus of the second largest eigenvalue of the transitions: the factor by which a difference in belief decays
    /// per token. Near 1 the model has a long memory.
    pub second_eigenvalue: f64,
    /// True if the shares converged, to 1e-6 in sum, within the allowed steps.
    pub settled: bool,
}

/// Steps over which the decay of a difference is measured, after as many steps for the faster parts to decay.
const MEASURED: usize = 100;

/// How much the states are used in the long run, by power iteration in at most `steps` steps (1000 is plenty); each is
/// one pass over the transition matrix.
///
/// The state `end` (the end of a text, which would absorb everything in the long run) begins a new text and is not
/// counted.
pub fn usage(hmm: &Hmm, end: Option<usize>, steps: usize) -> Usage {
    let mut share = hmm.initial().to_vec();
    let mut next = share.clone();
    let mut settled = false;
    for _ in 0..steps {
        advance(hmm, end, &share, &mut next);
        // A rounded storage neither keeps the sum nor converges to the last bit.
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|value| *value /= sum);
        // Half a step, so that periodic states converge too.
        let mut moved = 0.0;
        for (share, next) in share.iter_mut().zip(&next) {
            moved += (next - *share).abs();
            *share = (*share + next) / 2.0;
        }
        if moved < 1e-6 {
            settled = true;
            break;
        }
    }
    let second_eigenvalue = decay(hmm, end, &share);
    if let Some(ended) = end.and_then(|end| share.get_mut(end)) {
        *ended = 0.0;
    }
    let total: f64 = share.iter().sum();
    share.iter_mut().for_each(|value| *value /= total);
    let entropy: f64 = share.iter().filter(|value| **value > 0.0).map(|value| -value * value.ln()).sum();
    Usage { share, effective: entropy.exp(), second_eigenvalue, settled }
}

/// Advances by one token; an ended text begins again.
fn advance(hmm: &Hmm, end: Option<usize>, from: &[f64], to: &mut [f64]) {
    let mut open = from.to_vec();
    let ended = end.and_then(|end| open.get_mut(end)).map_or(0.0, std::mem::take);
    hmm.transition().product(&open, to);
    to.iter_mut().zip(hmm.initial()).for_each(|(value, initial)| *value += ended * initial);
}

/// The decay of a difference between two beliefs, as a factor per token.
fn decay(hmm: &Hmm, end: Option<usize>, stationary: &[f64]) -> f64 {
    // Any start but an eigenvector works: multiples of the golden ratio modulo 1 have no pattern.
    let mut difference: Vec<f64> =
        (0..hmm.states()).map(|state| (state as f64 * 0.618_034).fract() - 0.5).collect();
    let mut next = difference.clone();
    let mut log_kept = 0.0;
    for step in 0..2 * MEASURED {
        // A difference of two beliefs sums to 0; rounding must not restore the stationary part.
        let sum: f64 = difference.iter().sum();
        difference.iter_mut().zip(stationary).for_each(|(value, share)| *value -= sum * share);
        let size: f64 = difference.iter().map(|value| value.abs()).sum();
        if size == 0.0 {
            return 0.0;
        }
        difference.iter_mut().for_each(|value| *value /= size);
        if step > MEASURED {
            log_kept += size.ln();
        }
        advance(hmm, end, &difference, &mut next);
        std::mem::swap(&mut difference, &mut next);
    }
    (log_kept / (MEASURED - 1) as f64).exp()
}
