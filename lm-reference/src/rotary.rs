//! Positions, turned into queries and keys.

use crate::config::Config;

/// Cosines and sines of every position that was asked for.
pub struct Rotary {
    cosines: Vec<f32>,
    sines: Vec<f32>,
    half: usize,
}

impl Rotary {
    pub fn new(config: &Config) -> Rotary {
        let (cosines, sines) = config.rope.table(config.head_width, config.positions);
        Rotary { cosines, sines, half: config.head_width / 2 }
    }

    /// Turns every head of a row: the first half of a head is paired with the second.
    pub fn turn(&self, position: usize, row: &mut [f32]) {
        let here = position * self.half..(position + 1) * self.half;
        let cosines = self.cosines.get(here.clone()).unwrap_or_default();
        let sines = self.sines.get(here).unwrap_or_default();
        for head in row.chunks_exact_mut(2 * self.half) {
            let (first, second) = head.split_at_mut(self.half);
            for (((first, second), cosine), sine) in first.iter_mut().zip(second).zip(cosines).zip(sines) {
                (*first, *second) = (*first * cosine - *second * sine, *second * cosine + *first * sine);
            }
        }
    }
}
