//! The training batches; the batch of a step depends on its number alone.

use agent_model::dialogue::example;
use agent_model::random::Random;
use agent_model::words::{Tokens, Words, WordsError};

/// Turns in a step.
pub const BATCH: usize = 6;
/// Steps whose turns are sorted by length together, so that the turns of a batch are about as long.
const POOL: usize = 16;

/// The batches of one pool at a time.
pub struct Batches<'a> {
    words: &'a Words,
    /// The number of the pool, and its batches.
    pool: (usize, Vec<Vec<Tokens>>),
}

impl<'a> Batches<'a> {
    pub fn new(words: &'a Words) -> Batches<'a> {
        Batches { words, pool: (0, Vec::new()) }
    }

    /// The turns of a step. Seeds count from 0, and every turn is used once.
    pub fn of(&mut self, step: usize) -> Result<&[Tokens], WordsError> {
        let number = step / POOL;
        if self.pool.1.is_empty() || self.pool.0 != number {
            let seeds = (number * POOL * BATCH) as u64..((number + 1) * POOL * BATCH) as u64;
            let turns: Result<Vec<Tokens>, _> =
                seeds.map(|seed| self.words.example(&example(seed, false))).collect();
            let mut turns = turns?;
            turns.sort_by_key(|tokens| tokens.ids.len());
            let mut batches: Vec<Vec<Tokens>> = turns.chunks(BATCH).map(<[Tokens]>::to_vec).collect();
            let mut random = Random::new(number as u64);
            for place in (1..batches.len()).rev() {
                batches.swap(place, random.below(place + 1));
            }
            self.pool = (number, batches);
        }
        Ok(self.pool.1.get(step % POOL).map_or(&[], Vec::as_slice))
    }
}
