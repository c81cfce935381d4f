//! The training batches; the batch of a step depends on its number alone.

use agent_model::dialogue::example;
use agent_model::random::Random;
use agent_model::tokenizer::{TokenizerError, TurnTokenizer, TurnTokens};

/// Turns in a step.
pub const BATCH: usize = 6;
/// Steps whose turns are sorted by length together, so that the turns of a batch are about as long.
const POOL: usize = 16;

/// The batches of one pool at a time.
pub struct Batches<'a> {
    tokenizer: &'a TurnTokenizer,
    /// The number of the pool, and its batches.
    pool: (usize, Vec<Vec<TurnTokens>>),
}

impl<'a> Batches<'a> {
    pub fn new(tokenizer: &'a TurnTokenizer) -> Batches<'a> {
        Batches { tokenizer, pool: (0, Vec::new()) }
    }

    /// The turns of a step. Seeds count from 0, and every turn is used once.
    pub fn of(&mut self, step: usize) -> Result<&[TurnTokens], TokenizerError> {
        let number = step / POOL;
        if self.pool.1.is_empty() || self.pool.0 != number {
            let seeds = (number * POOL * BATCH) as u64..((number + 1) * POOL * BATCH) as u64;
            let turns: Result<Vec<TurnTokens>, _> =
                seeds.map(|seed| self.tokenizer.example(&example(seed, false))).collect();
            let mut turns = turns?;
            turns.sort_by_key(|tokens| tokens.ids.len());
            let mut batches: Vec<Vec<TurnTokens>> = turns.chunks(BATCH).map(<[TurnTokens]>::to_vec).collect();
            let mut random = Random::new(number as u64);
            for place in (1..batches.len()).rev() {
                batches.swap(place, random.below(place + 1));
            }
            self.pool = (number, batches);
        }
        Ok(self.pool.1.get(step % POOL).map_or(&[], Vec::as_slice))
    }
}
