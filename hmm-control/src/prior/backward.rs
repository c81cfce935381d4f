//! How probable a continuation is from each state.

use crate::chain::Scaled;
use crate::hmm::multiply;
use crate::{Hmm, Token};

/// `p(continuation | state of its first token)`, by state; none where no state can emit it.
pub(super) fn likelihood(hmm: &Hmm, continuation: &[Token]) -> Option<Scaled> {
    let mut scaled = Scaled::new(vec![1.0; hmm.states()], 0.0);
    let mut moved = vec![1.0; hmm.states()];
    let mut emission = vec![0.0; hmm.states()];
    for (number, token) in continuation.iter().rev().enumerate() {
        // After the last token anything may come, with probability 1.
        if number > 0 {
            hmm.retreat(&scaled.values, &mut moved);
        }
        hmm.read_emission(*token, &mut emission);
        scaled = Scaled::new(multiply(&emission, &moved), scaled.log_scale);
    }
    (scaled.log_scale > f64::NEG_INFINITY).then_some(scaled)
}

/// Those of many continuations, in their order. The number of threads changes the time and nothing else.
pub(super) fn likelihoods(hmm: &Hmm, continuations: &[&[Token]], threads: usize) -> Vec<Option<Scaled>> {
    each(continuations, threads, |continuation| likelihood(hmm, continuation))
}

/// `log p(continuation)` under a distribution of the first token's state; minus infinity where it is impossible.
pub(super) fn log_probability(likelihood: &Scaled, distribution: &[f64]) -> f64 {
    multiply(&likelihood.values, distribution).iter().sum::<f64>().ln() + likelihood.log_scale
}

/// One result an item, in their order, computed on so many threads.
pub(super) fn each<I: Sync, O: Send>(items: &[I], threads: usize, work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    let mut results: Vec<Option<O>> = items.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for (results, items) in results.chunks_mut(share).zip(items.chunks(share)) {
            let work = &work;
            scope.spawn(move || {
                results.iter_mut().zip(items).for_each(|(result, item)| *result = Some(work(item)));
            });
        }
    });
    results.into_iter().flatten().collect()
}
