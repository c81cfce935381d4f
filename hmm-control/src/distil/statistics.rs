//! Expected counts.

use super::maximise::Counts;
use super::{DistilError, Real, Totals};
use crate::Token;
use ndarray::Array2;
use std::collections::BTreeMap;

/// Fractional bits of a count.
const POINT: u32 = 34;

/// The most positions that counts can hold without overflow. A position is counted at most once, with twice the room for
/// rounding.
pub(super) const MOST_POSITIONS: u64 = 1 << (62 - POINT);

/// The result of the E-step: the expected counts of first states, transitions and emissions, with the log likelihood under
/// the parameters that were used.
///
/// Counts are fixed-point numbers (steps of 2^-34), so that they add up to *the same bits* in any order and under any
/// grouping: [`Statistics::merge`] is associative and commutative. Shards cut between batches (at a multiple of
/// [`super::Expectation::lanes`] sequences) therefore merge to exactly what one run gives; under other cuts the
/// batches themselves round differently, and the merged counts agree as far as the float does.
///
/// Memory: 8 bytes for each pair of states, and for each state of each token *that occurred*.
///
/// ```
/// use hmm_control::distil::Statistics;
///
/// let mut all = Statistics::new(2, 5);
/// let shard = Statistics::from_bytes(&all.to_bytes()?)?;
/// all.merge(&shard)?;
/// assert_eq!(all.tokens(), 0);
/// # Ok::<(), hmm_control::distil::DistilError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    pub(super) vocabulary: usize,
    pub(super) totals: Totals,
    /// In steps of `2^-POINT`, like the next two.
    pub(super) initial: Vec<i64>,
    /// Row by row, `[from, to]`.
    pub(super) transition: Vec<i64>,
    pub(super) emission: BTreeMap<Token, Vec<i64>>,
}

fn fixed<T: Real>(value: T) -> i64 {
    // Rounds a non-negative number; a cast alone would truncate.
    (value.to_f64() * (1_u64 << POINT) as f64 + 0.5) as i64
}

pub(super) fn float(value: i64) -> f64 {
    value as f64 / (1_u64 << POINT) as f64
}

fn add<T: Real>(sum: &mut [i64], values: &[T]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += fixed(*value));
}

fn join(sum: &mut [i64], values: &[i64]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

impl Statistics {
    /// Zero counts for a model of so many states and tokens.
    pub fn new(states: usize, vocabulary: usize) -> Statistics {
        Statistics {
            vocabulary,
            totals: Totals::default(),
            initial: vec![0; states],
            transition: vec![0; states * states],
            emission: BTreeMap::new(),
        }
    }

    /// Number of hidden states.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// Size of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The sums that belong to no state: numbers of sequences, positions and tokens, and their log likelihood.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Sequences counted.
    pub fn sequences(&self) -> u64 {
        self.totals.sequences()
    }

    /// Positions counted, with missing tokens.
    pub fn positions(&self) -> u64 {
        self.totals.positions()
    }

    /// Tokens that were present and that some state emits.
    pub fn tokens(&self) -> u64 {
        self.totals.tokens()
    }

    /// Tokens that no state emits at their position; they were counted as missing.
    pub fn impossible(&self) -> u64 {
        self.totals.impossible()
    }

    /// `log p(all tokens)` under the parameters of the E-step, in nats; minus infinity if a token was impossible.
    pub fn log_likelihood(&self) -> f64 {
        self.totals.log_likelihood()
    }

    /// The log likelihood per token; NaN where there is none.
    pub fn log_likelihood_per_token(&self) -> f64 {
        self.totals.log_likelihood_per_token()
    }

    /// The expected count of a first state.
    pub fn initial(&self, state: usize) -> f64 {
        self.initial.get(state).copied().map_or(0.0, float)
    }

    /// The expected count of a transition.
    pub fn transition(&self, from: usize, to: usize) -> f64 {
        let place = (to < self.states()).then_some(from * self.states() + to);
        place.and_then(|place| self.transition.get(place)).copied().map_or(0.0, float)
    }

    /// The expected count of an emission.
    pub fn emission(&self, state: usize, token: Token) -> f64 {
        self.emission.get(&token).and_then(|row| row.get(state)).copied().map_or(0.0, float)
    }

    /// Adds another run's counts.
    ///
    /// # Errors
    /// When they are for a model of another size, or too many in all; nothing is then added.
    pub fn merge(&mut self, other: &Statistics) -> Result<(), DistilError> {
        for (unit, found, wanted) in
            [("states", other.states(), self.states()), ("tokens", other.vocabulary, self.vocabulary)]
        {
            if found != wanted {
                return Err(DistilError::Mismatch { what: "the shard", found, wanted, unit });
            }
        }
        self.totals.merge(&other.totals)?;
        join(&mut self.initial, &other.initial);
        join(&mut self.transition, &other.transition);
        for (&token, row) in &other.emission {
            join(self.row_mut(token), row);
        }
        Ok(())
    }

    /// The largest count that so many positions can give, with room for rounding. The most positions give the largest number
    /// that a count holds, so that merged counts cannot overflow.
    pub(super) fn most(positions: u64) -> Result<i64, DistilError> {
        Totals::default().reserve(positions)?;
        Ok(i64::try_from((positions << (POINT + 1)).saturating_sub(1)).unwrap_or(i64::MAX))
    }

    fn row_mut(&mut self, token: Token) -> &mut Vec<i64> {
        let states = self.initial.len();
        self.emission.entry(token).or_insert_with(|| vec![0; states])
    }

    /// Counts a position with a known state: the first one, or one after another state.
    pub(super) fn add_certain(&mut self, before: Option<usize>, state: usize, token: Option<Token>) {
        let states = self.states();
        let (counts, place) = match before {
            Some(before) => (&mut self.transition, before * states + state),
            None => (&mut self.initial, state),
        };
        let one = 1_i64 << POINT;
        counts.iter_mut().skip(place).take(1).for_each(|count| *count += one);
        if let Some(token) = token {
            self.row_mut(token).iter_mut().skip(state).take(1).for_each(|count| *count += one);
        }
    }

    pub(super) fn add_initial<T: Real>(&mut self, values: &[T]) {
        add(&mut self.initial, values);
    }

    /// Adds `pairs * transition`, cell by cell.
    pub(super) fn add_transitions<T: Real>(&mut self, pairs: &Array2<T>, transition: &Array2<T>) {
        for (sum, (pairs, transition)) in self.transition.iter_mut().zip(pairs.iter().zip(transition)) {
            *sum += fixed(*pairs * *transition);
        }
    }

    pub(super) fn add_emission<T: Real>(&mut self, token: Token, values: &[T]) {
        add(self.row_mut(token), values);
    }
}

impl Counts for Statistics {
    fn dimensions(&self) -> (usize, usize) {
        (self.states(), self.vocabulary)
    }

    fn read_initial(&self, out: &mut [f64]) {
        out.iter_mut().zip(&self.initial).for_each(|(out, value)| *out = float(*value));
    }

    fn read_transition(&self, state: usize, out: &mut [f64]) {
        let row = self.transition.iter().skip(state * self.states());
        out.iter_mut().zip(row).for_each(|(out, value)| *out = float(*value));
    }

    fn read_emission(&self, token: Token, out: &mut [f64]) {
        match self.emission.get(&token) {
            Some(row) => out.iter_mut().zip(row).for_each(|(out, value)| *out = float(*value)),
            None => out.fill(0.0),
        }
    }
}
