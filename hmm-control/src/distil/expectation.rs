//! The E-step over many sequences, on several threads.

use super::forward_backward::{Batch, Dropout, Evidence, Workspace};
use super::{DistilError, MISSING, Parameters, Real, Sequences, Statistics, Totals};
use crate::Token;
use ndarray::Array2;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the E-step is computed.
///
/// A token that is [`MISSING`] or dropped is no evidence of its state and is not counted as an emission; the transitions
/// around it are. That is exact expectation-maximisation for the present tokens. (Spreading its count over the vocabulary
/// by the old emissions is exact too, but slows the convergence.)
///
/// ```
/// use hmm_control::distil::{Expectation, Parameters, Sequences};
/// use hmm_control::{Hmm, Storage};
/// use ndarray::array;
///
/// let transition = array![[0.9, 0.1], [0.2, 0.8]];
/// let emission = array![[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]];
/// let hmm = Hmm::new(&[0.5, 0.5], transition.view(), emission.view(), Storage::F64)?;
/// let sequences = Sequences::from_iter([[2].as_slice()]);
/// let counts = Expectation::default().statistics(&Parameters::<f64>::from_hmm(&hmm), &sequences, 0..1)?;
/// assert!((counts.log_likelihood().exp() - 0.45).abs() < 1e-9);
/// assert!((counts.emission(1, 2) - 0.4 / 0.45).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expectation {
    /// Sequences per batch. Larger batches make matrix products more efficient; a batch takes `2 * lanes * length * h`
    /// floats on each thread.
    pub lanes: NonZeroUsize,
    /// Threads, with one batch on each. The result does not depend on them. Each thread has its own statistics.
    pub threads: NonZeroUsize,
    /// Token dropout, if any.
    pub dropout: Option<Dropout>,
}

impl Default for Expectation {
    fn default() -> Expectation {
        Expectation {
            lanes: NonZeroUsize::MIN.saturating_add(127),
            threads: NonZeroUsize::MIN,
            dropout: None,
        }
    }
}

/// The likelihood of sequences under a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// `log p(all tokens)` in nats; minus infinity if a token was impossible.
    pub log: f64,
    /// Tokens that some state emits.
    pub tokens: u64,
    /// Tokens that no state emits at their position.
    pub impossible: u64,
}

impl Likelihood {
    /// Nats per token; NaN where there is no token.
    pub fn per_token(&self) -> f64 {
        self.log / (self.tokens + self.impossible) as f64
    }
}

impl Expectation {
    /// The expected counts of a range of sequences.
    ///
    /// The same parameters, sequences, lanes and dropout give the same bits on any number of threads. Costs `6 h^2`
    /// floating-point operations per token, nearly all in matrix products.
    ///
    /// # Errors
    /// When a token is outside the vocabulary, or there are too many positions.
    pub fn statistics<T: Real>(
        &self,
        parameters: &Parameters<T>,
        sequences: &Sequences,
        range: Range<usize>,
    ) -> Result<Statistics, DistilError> {
        let empty = || Statistics::new(parameters.states(), parameters.vocabulary());
        Totals::default().reserve(sequences.span(&range).len() as u64)?;
        let work = |statistics: &mut Statistics, scratch: &mut Scratch<T>, batch: Batch| {
            scratch.count(parameters, batch, statistics);
        };
        // Two sums at a time at most, since each may take gigabytes.
        let (mut all, others) = self.each_batch(parameters, sequences, range, empty, work)?;
        others.into_iter().try_for_each(|part| all.merge(&part))?;
        Ok(all)
    }

    /// The likelihood of a range of sequences. Costs `2 h^2` floating-point operations per token.
    ///
    /// # Errors
    /// The same as [`Expectation::statistics`].
    pub fn likelihood<T: Real>(
        &self,
        parameters: &Parameters<T>,
        sequences: &Sequences,
        range: Range<usize>,
    ) -> Result<Likelihood, DistilError> {
        Ok(self.totals(parameters, sequences, range)?.likelihood())
    }

    /// The totals of a range of sequences, from which their likelihood follows. Those of ranges that are cut between batches (at a
    /// multiple of [`Expectation::lanes`] sequences, see [`Expectation::shard`]) merge to those of the whole. Costs `2 h^2`
    /// floating-point operations per token.
    ///
    /// # Errors
    /// The same as [`Expectation::statistics`].
    pub fn totals<T: Real>(
        &self,
        parameters: &Parameters<T>,
        sequences: &Sequences,
        range: Range<usize>,
    ) -> Result<Totals, DistilError> {
        // Only the evidence is counted, so that statistics without states suffice.
        let empty = || Statistics::new(0, 0);
        let work = |statistics: &mut Statistics, scratch: &mut Scratch<T>, mut batch: Batch| {
            let evidence = scratch.workspace.forward(parameters, &mut batch);
            note(statistics, &batch, evidence);
        };
        let (mut all, others) = self.each_batch(parameters, sequences, range, empty, work)?;
        others.into_iter().try_for_each(|part| all.merge(&part))?;
        Ok(all.totals)
    }

    /// The batches of a shard within a range of sequences; `shard` counts from 1 to `of`. The shards of a range cover it, one after the
    /// other; where there are fewer batches than shards, some are empty.
    pub fn shard(&self, range: &Range<usize>, shard: u32, of: u32) -> Range<usize> {
        let lanes = self.lanes.get();
        let batches = range.len().div_ceil(lanes);
        let bound = |shard: u32| {
            let batch = (batches as u128 * u128::from(shard.min(of)) / u128::from(of.max(1))) as usize;
            range.end.min(range.start.saturating_add(batch.saturating_mul(lanes)))
        };
        bound(shard.saturating_sub(1))..bound(shard)
    }

    /// Distributes the batches over the threads, and returns the sum of this thread and those of the others.
    fn each_batch<T: Real>(
        &self,
        parameters: &Parameters<T>,
        sequences: &Sequences,
        range: Range<usize>,
        empty: impl Fn() -> Statistics + Sync,
        work: impl Fn(&mut Statistics, &mut Scratch<T>, Batch) + Sync,
    ) -> Result<(Statistics, Vec<Statistics>), DistilError> {
        let range = range.start.min(sequences.len())..range.end.min(sequences.len());
        parameters.check()?;
        sequences.check(&range, parameters.vocabulary(), None)?;
        let lanes = self.lanes.get();
        let batches = range.len().div_ceil(lanes);
        let next = AtomicUsize::new(0);
        let run = || {
            let mut sum = empty();
            let mut scratch = Scratch::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= batches {
                    return sum;
                }
                let first = range.start + number * lanes;
                let part = first..range.end.min(first.saturating_add(lanes));
                work(&mut sum, &mut scratch, Batch::new(sequences, part, self.dropout.as_ref()));
            }
        };
        Ok(std::thread::scope(|scope| {
            // The calling thread works too, so that a single thread starts no other.
            let helpers = self.threads.get().min(batches).saturating_sub(1);
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(run)).collect();
            let (own, mut sums) = (run(), Vec::new());
            for helper in helpers {
                match helper.join() {
                    Ok(sum) => sums.push(sum),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            (own, sums)
        }))
    }
}

fn note(statistics: &mut Statistics, batch: &Batch, evidence: Evidence) {
    let totals = &mut statistics.totals;
    totals.sequences += batch.sequences as u64;
    totals.positions += batch.rows.len() as u64;
    totals.tokens += evidence.tokens;
    totals.impossible += evidence.impossible;
    totals.add_log_likelihood(evidence.log_likelihood);
}

/// The buffers that a thread reuses from batch to batch.
struct Scratch<T> {
    workspace: Workspace<T>,
    pairs: Array2<T>,
    /// The batch's counts, one row of states for each token in it.
    emission: Vec<T>,
    initial: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new() -> Scratch<T> {
        let pairs = Array2::from_elem((0, 0), T::zero());
        Scratch { workspace: Workspace::new(), pairs, emission: Vec::new(), initial: Vec::new() }
    }

    /// Adds a batch's expected counts. They are summed in `T` within the batch, and rounded once per batch.
    fn count(&mut self, parameters: &Parameters<T>, mut batch: Batch, statistics: &mut Statistics) {
        let states = parameters.states();
        let evidence = self.workspace.forward(parameters, &mut batch);
        note(statistics, &batch, evidence);
        let tokens = distinct(&batch.rows);
        self.emission.clear();
        self.emission.resize(tokens.len() * states, T::zero());
        self.initial.clear();
        self.initial.resize(states, T::zero());
        let Scratch { workspace, emission, initial, pairs } = self;
        let starts = batch.active.first().copied().unwrap_or(0);
        workspace.backward(parameters, &batch, |row, posterior| {
            let token = batch.rows.get(row).copied().unwrap_or(MISSING);
            // A missing token is not among the distinct ones.
            let slot = tokens.binary_search(&token).ok();
            if let Some(sum) = slot.and_then(|slot| emission.get_mut(slot * states..(slot + 1) * states)) {
                sum.iter_mut().zip(posterior).for_each(|(sum, value)| *sum += *value);
            }
            if row < starts {
                initial.iter_mut().zip(posterior).for_each(|(sum, value)| *sum += *value);
            }
        });
        if pairs.dim() != (states, states) {
            *pairs = Array2::from_elem((states, states), T::zero());
        }
        workspace.pairs(&batch, pairs);
        statistics.add_transitions(pairs, &parameters.transition);
        statistics.add_initial(initial);
        for (token, counts) in tokens.iter().zip(emission.chunks_exact(states)) {
            statistics.add_emission(*token, counts);
        }
    }
}

fn distinct(rows: &[Token]) -> Vec<Token> {
    let mut tokens: Vec<Token> = rows.iter().copied().filter(|token| *token != MISSING).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}
