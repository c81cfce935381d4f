//! How probable a continuation is from each state.

use crate::{Hmm, Token};

/// `p(continuation | state of its first token)`, as a vector with largest entry 1 and the logarithm of its scale.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Likelihood {
    pub relative: Vec<f64>,
    pub log_scale: f64,
}

impl Likelihood {
    /// The backward recursion over a whole continuation; none where no state can emit it.
    pub fn of(hmm: &Hmm, continuation: &[Token]) -> Option<Likelihood> {
        let mut relative = vec![1.0; hmm.states()];
        let mut later = vec![0.0; hmm.states()];
        let mut emission = vec![0.0; hmm.states()];
        let mut log_scale = 0.0;
        for (number, token) in continuation.iter().rev().enumerate() {
            // After the last token anything may come, with probability 1.
            if number > 0 {
                later.copy_from_slice(&relative);
                hmm.transition().transposed_product(&later, &mut relative);
            }
            hmm.read_emission(*token, &mut emission);
            relative.iter_mut().zip(&emission).for_each(|(value, emission)| *value *= emission);
            let largest = relative.iter().copied().fold(0.0, f64::max);
            if largest == 0.0 {
                return None;
            }
            relative.iter_mut().for_each(|value| *value /= largest);
            log_scale += largest.ln();
        }
        Some(Likelihood { relative, log_scale })
    }

    /// `log p(continuation)` under a distribution of the first token's state; minus infinity where it is impossible.
    pub fn log_probability(&self, distribution: &[f64]) -> f64 {
        let sum: f64 = self.relative.iter().zip(distribution).map(|(l, p)| l * p).sum();
        sum.ln() + self.log_scale
    }

    /// Those of many continuations, in their order. The number of threads changes the time and nothing else.
    pub fn of_all(hmm: &Hmm, continuations: &[&[Token]], threads: usize) -> Vec<Option<Likelihood>> {
        let share = continuations.len().div_ceil(threads.max(1)).max(1);
        let mut all = vec![None; continuations.len()];
        std::thread::scope(|scope| {
            for (results, continuations) in all.chunks_mut(share).zip(continuations.chunks(share)) {
                scope.spawn(move || {
                    for (result, continuation) in results.iter_mut().zip(continuations) {
                        *result = Likelihood::of(hmm, continuation);
                    }
                });
            }
        });
        all
    }
}
