//! Scoring many requests in one pass over the emissions.

use super::exact::{Lookahead, Progress};
use super::targets::Targets;
use crate::model::{Batch, Precision};
use crate::{Belief, Token};

/// A request with more vectors (the belief and its targets) than this is scored separately: a batch multiplies every
/// token with all of them, a separate pass with two.
const MOST_VECTORS: usize = 5;

/// The tokens of a thread are a multiple of this, so that blocks of rows stay whole.
const BLOCK: usize = 48;

/// A request of a batch: the text so far, how many tokens remain after the next, and the slice for its scores.
pub struct Request<'a> {
    /// The text so far.
    pub progress: &'a Progress,
    /// Tokens after the next.
    pub remaining: usize,
    /// `out[v]` becomes `log phi(v)`.
    pub out: &'a mut [f64],
}

/// The part of one request that one thread computes.
struct Part<'a> {
    progress: &'a Progress,
    targets: &'a Targets,
    /// The index of its first product among those of the batch.
    place: usize,
    out: &'a mut [f64],
}

/// The work of one thread: a range of tokens, for the requests of the batch and for those that are scored separately.
#[derive(Default)]
struct Work<'a> {
    joined: Vec<Part<'a>>,
    alone: Vec<Part<'a>>,
}

impl Lookahead {
    /// The same as [`Lookahead::score_all`] for every request, by `threads` threads (0 counts as 1). The emissions are
    /// read and decoded once for all, so that a request of a large batch costs only its arithmetic; a single request
    /// may be split over threads too. The scores do not depend on the number of threads, and only in their last digits
    /// on the rest of the batch if the precision is full. [`Precision::Bf16`] is faster and less exact.
    pub fn score_batch(&self, requests: &mut [Request<'_>], threads: usize, precision: Precision) {
        let hmm = self.hmm();
        let targets: Vec<Targets> = requests
            .iter()
            .map(|Request { progress, remaining, .. }| {
                self.targets(progress, *remaining, self.attribute().targets(progress.state))
            })
            .collect();
        let size = hmm.vocabulary().div_ceil(threads.max(1)).next_multiple_of(BLOCK);
        let mut works: Vec<Work<'_>> =
            (0..hmm.vocabulary().div_ceil(size)).map(|_| Work::default()).collect();
        let mut vectors: Vec<&[f64]> = Vec::new();
        for (request, targets) in requests.iter_mut().zip(&targets) {
            let (progress, place) = (request.progress, vectors.len());
            let alone = targets.vectors().count() > MOST_VECTORS;
            if !alone {
                vectors.extend(targets.vectors());
            }
            for (work, out) in works.iter_mut().zip(request.out.chunks_mut(size)) {
                let part = Part { progress, targets, place, out };
                if alone { work.alone.push(part) } else { work.joined.push(part) }
            }
        }
        let batch = &Batch::new(hmm.emission().storage(), precision, &vectors, hmm.states());
        std::thread::scope(|scope| {
            let mut works = works.into_iter().enumerate();
            let first = works.next();
            for (number, work) in works {
                scope.spawn(move || self.score_part(number * size, work, batch));
            }
            // The calling thread works too.
            if let Some((_, work)) = first {
                self.score_part(0, work, batch);
            }
        });
    }

    fn score_part(&self, start: usize, work: Work<'_>, batch: &Batch) {
        let edges = |part: &Part<'_>| self.attribute().edges(part.progress.state).skip(start);
        for part in work.alone {
            self.write(part.progress, part.targets, edges(&part), part.out);
        }
        let length = work.joined.iter().map(|part| part.out.len()).max().unwrap_or(0);
        let mut parts: Vec<_> = work.joined.into_iter().map(|part| (edges(&part), part)).collect();
        self.hmm().emission().products(start..start + length, batch, |row, products| {
            for (edges, part) in &mut parts {
                let own = products.get(part.place..).unwrap_or_default();
                if let (Some((_, edge)), Some(out)) = (edges.next(), part.out.get_mut(row - start)) {
                    *out = part.targets.log_worth(part.progress.log_weight, &edge, own).min(0.0);
                }
            }
        });
    }

    /// The same as [`Lookahead::observe`] for every request: one pass over the transition matrix for all.
    pub fn observe_batch(&self, requests: &mut [(&mut Progress, Token)]) {
        for (progress, token) in requests.iter_mut() {
            self.step(progress, *token);
        }
        let mut beliefs: Vec<(&mut Belief, Token)> =
            requests.iter_mut().map(|(progress, token)| (&mut progress.belief, *token)).collect();
        Belief::observe_batch(self.hmm(), &mut beliefs);
    }
}
