//! The training batches; the batch of a step depends on its number alone.

use std::error::Error;

use agent_model::random::Random;

use crate::turns::Turn;

/// Turns in a step.
pub const BATCH: usize = 6;
/// Steps whose turns are sorted by length together, so that the turns of a batch are about as long.
const POOL: usize = 16;

/// The batches of one pool at a time.
pub struct Batches<F> {
    turn: F,
    /// The number of the pool, and its batches.
    pool: (usize, Vec<Vec<Turn>>),
}

impl<F: Fn(u64) -> Result<Turn, Box<dyn Error>>> Batches<F> {
    /// Batches of the turns that `turn` makes of their numbers.
    pub fn new(turn: F) -> Batches<F> {
        Batches { turn, pool: (0, Vec::new()) }
    }

    /// The turns of a step. They are numbered from 0, and every turn is used once.
    pub fn of(&mut self, step: usize) -> Result<&[Turn], Box<dyn Error>> {
        let number = step / POOL;
        if self.pool.1.is_empty() || self.pool.0 != number {
            let numbers = (number * POOL * BATCH) as u64..((number + 1) * POOL * BATCH) as u64;
            let turns: Result<Vec<Turn>, _> = numbers.map(&self.turn).collect();
            let mut turns = turns?;
            turns.sort_by_key(|turn| turn.tokens.ids.len());
            let mut batches: Vec<Vec<Turn>> = turns.chunks(BATCH).map(<[Turn]>::to_vec).collect();
            let mut random = Random::new(number as u64);
            for place in (1..batches.len()).rev() {
                batches.swap(place, random.below(place + 1));
            }
            self.pool = (number, batches);
        }
        Ok(self.pool.1.get(step % POOL).map_or(&[], Vec::as_slice))
    }
}
