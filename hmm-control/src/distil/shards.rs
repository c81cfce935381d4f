//! A training step in shards: several processes count, one merges, and the step is the same to the bit as in one process.
//!
//! Each process resumes the same checkpoint, counts its shard ([`Trainer::count_shard`]) and writes it down. The shards are merged in any order
//! ([`ShardCounts::merge`]), and whoever has all of them completes the step ([`Trainer::apply_shards`]). Counts of another step, plan, seed or
//! of other sequences are refused, and so is a shard that comes twice.

use super::bytes::{Reader, StatisticsHeader, write, wrong};
use super::sequences::fnv;
use super::{DistilError, Real, Report, Statistics, Trainer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The most shards of a step.
const MOST_SHARDS: u32 = 1 << 16;

/// How far the sums of counts may be from the number of what was counted, relative to it: each comes from a float that is normalised.
const ROUNDED: f64 = 1e-3;

/// The expected counts of some shards of one training step.
///
/// ```
/// use hmm_control::distil::{Options, Schedule, Sequences, ShardCounts, Trainer, start};
/// use rand::SeedableRng;
///
/// let texts = Sequences::from_iter([[0, 1, 0, 1].as_slice(), &[0, 1], &[1, 0, 1]]);
/// let none = Sequences::new();
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
/// let first = start::random::<f32>(&texts, 2, 2, None, &mut rng)?;
/// let mut trainer = Trainer::new(first, &texts, &none, Options::new(Schedule::full_batch(1)?))?;
/// // Each process would count one of them.
/// let mut all = trainer.count_shard(1, 2)?;
/// let other = ShardCounts::from_bytes(&trainer.count_shard(2, 2)?.to_bytes()?)?;
/// all.merge(&other)?;
/// let report = trainer.apply_shards(&all)?;
/// assert_eq!(report.step, 1);
/// # Ok::<(), hmm_control::distil::DistilError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardCounts {
    /// The hash of the training's state before the step.
    step: u64,
    /// The shards that are in it, counted from 1.
    shards: BTreeSet<u32>,
    of: u32,
    statistics: Statistics,
}

#[derive(Serialize, Deserialize)]
struct Header {
    /// In hexadecimal; the number exceeds what JSON readers agree on.
    step: String,
    shards: BTreeSet<u32>,
    of: u32,
    counts: StatisticsHeader,
}

impl ShardCounts {
    /// The shards that are in it, counted from 1, and how many there are in all.
    pub fn shards(&self) -> (impl Iterator<Item = u32>, u32) {
        (self.shards.iter().copied(), self.of)
    }

    /// Tells if all shards of the step are in it.
    pub fn is_whole(&self) -> bool {
        self.shards.len() as u64 == u64::from(self.of)
    }

    /// The counts.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Adds other shards of the same step.
    ///
    /// # Errors
    /// When they are of another step or of another division into shards, or one is there already. Nothing is then added.
    pub fn merge(&mut self, other: &ShardCounts) -> Result<(), DistilError> {
        if other.step != self.step {
            return Err(DistilError::OtherStep);
        }
        if other.of != self.of {
            let (found, wanted) = (other.of as usize, self.of as usize);
            return Err(DistilError::Mismatch { what: "the shard", found, wanted, unit: "shards" });
        }
        if let Some(&shard) = self.shards.intersection(&other.shards).next() {
            return Err(DistilError::Twice { shard });
        }
        self.statistics.merge(&other.statistics)?;
        self.shards.extend(&other.shards);
        Ok(())
    }

    /// The counts as bytes: a safetensors file.
    ///
    /// # Errors
    /// Only if the format refuses them.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DistilError> {
        let (counts, parts) = self.statistics.parts();
        let step = format!("{:016x}", self.step);
        write(&Header { step, shards: self.shards.clone(), of: self.of, counts }, parts)
    }

    /// Reads the bytes of [`ShardCounts::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are something else, or hold counts that no sequences give; the error names the tensor.
    pub fn from_bytes(bytes: &[u8]) -> Result<ShardCounts, DistilError> {
        let (header, reader): (Header, Reader) = Reader::new(bytes)?;
        let step = u64::from_str_radix(&header.step, 16).map_err(|error| wrong("the step", error))?;
        let is_one = |shard: &u32| (1..=header.of).contains(shard);
        if header.of > MOST_SHARDS || header.shards.is_empty() || !header.shards.iter().all(is_one) {
            return Err(wrong("the header", "it names no shards, or some that there are not"));
        }
        let statistics = Statistics::from_parts(&header.counts, &reader)?;
        statistics.check_sums()?;
        Ok(ShardCounts { step, shards: header.shards, of: header.of, statistics })
    }
}

impl Statistics {
    /// Checks that the counts add up to what was counted. It finds counts that were changed or damaged, but not counts that somebody made
    /// up with the right sums.
    fn check_sums(&self) -> Result<(), DistilError> {
        let (states, positions) = (self.states(), self.positions() as f64);
        let initial: f64 = (0..states).map(|state| self.initial(state)).sum();
        let pairs = (0..states).flat_map(|from| (0..states).map(move |to| (from, to)));
        let transitions: f64 = pairs.map(|(from, to)| self.transition(from, to)).sum();
        let emissions: f64 = self
            .emission
            .keys()
            .flat_map(|token| (0..states).map(|state| self.emission(state, *token)))
            .sum();
        let is_near = |sum: f64, counted: f64| (sum - counted).abs() <= counted * ROUNDED + ROUNDED;
        if initial > self.sequences() as f64 * (1.0 + ROUNDED) + ROUNDED {
            return Err(wrong("initial", "it counts more first states than there are sequences"));
        }
        if !is_near(initial + transitions, positions) {
            return Err(wrong("transition", "its counts do not add up to the number of places"));
        }
        if !is_near(emissions, self.tokens() as f64) {
            return Err(wrong("emission", "its counts do not add up to the number of tokens"));
        }
        Ok(())
    }
}

impl<T: Real> Trainer<'_, T> {
    /// The expected counts of one shard of the next step; `shard` counts from 1 to `of`. A shard is a run of whole batches, so that all
    /// shards together are the same to the bit as the step in one process. A step with fewer batches than shards leaves some empty.
    ///
    /// # Errors
    /// When there is no such shard or no next step, and as for [`Expectation::statistics`](super::Expectation::statistics).
    pub fn count_shard(&self, shard: u32, of: u32) -> Result<ShardCounts, DistilError> {
        let statistics = self.count(shard, of)?;
        Ok(ShardCounts { step: self.state_hash()?, shards: [shard].into(), of, statistics })
    }

    /// The counts of [`Trainer::count_shard`] without the mark of the step, which costs a pass over all parameters. It is for processes
    /// that know of each other that they are at the same step ([`super::BlockCounts`]).
    ///
    /// # Errors
    /// The same as [`Trainer::count_shard`].
    pub fn count(&self, shard: u32, of: u32) -> Result<Statistics, DistilError> {
        if !(1..=of).contains(&shard) || of > MOST_SHARDS {
            let given = format!("{shard} of {of}");
            return Err(DistilError::Setting {
                name: "the shard",
                given,
                wanted: "from 1 to the number of shards, which is at most 65536",
            });
        }
        if self.is_done() {
            return Err(DistilError::Done);
        }
        let (parameters, expectation) = (self.parameters(), self.expectation());
        let mut all: Option<Statistics> = None;
        for range in self.ranges() {
            let part = expectation.shard(&range, shard, of);
            let part = expectation.statistics(parameters, self.train, part)?;
            match &mut all {
                Some(all) => all.merge(&part)?,
                None => all = Some(part),
            }
        }
        all.ok_or(DistilError::NoTokens)
    }

    /// Completes the step with the counts of all its shards.
    ///
    /// # Errors
    /// When a shard is missing or the counts are of another step. The training is then unchanged.
    pub fn apply_shards(&mut self, counts: &ShardCounts) -> Result<Report, DistilError> {
        if counts.step != self.state_hash()? {
            return Err(DistilError::OtherStep);
        }
        if let Some(shard) = (1..=counts.of).find(|shard| !counts.shards.contains(shard)) {
            return Err(DistilError::Missing { shard, of: counts.of });
        }
        self.apply(&counts.statistics)
    }

    /// The hash of the training's state: parameters, options, seed, step and sequences.
    fn state_hash(&self) -> Result<u64, DistilError> {
        Ok(fnv(self.checkpoint()?.into_iter().map(u64::from)))
    }
}
