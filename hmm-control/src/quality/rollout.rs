//! The look-ahead's expectation, estimated by sampling the language model.

use crate::{Attribute, Lane, LanguageModel, Sampler, Token};

/// The state of a text in an attribute's automaton, and the weight of its generated tokens so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The automaton's state.
    pub state: usize,
    /// The log weight so far.
    pub log_weight: f64,
}

/// The mean of a sample, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RolloutEstimate {
    /// The mean weight, in `[0, 1]`.
    pub mean: f64,
    /// Its standard error: 0 where nothing was sampled, infinite for a single rollout.
    pub standard_error: f64,
    /// Number of rollouts.
    pub rollouts: usize,
}

/// Why an estimate could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RolloutError<E> {
    /// The model failed.
    #[error(transparent)]
    Model(#[from] E),
    /// The model's logits allow no token.
    #[error("the language model gives no token a chance: every logit is minus infinity or not a number")]
    NoToken,
}

/// Estimates the look-ahead by letting the language model write on: the baseline that [`crate::Lookahead`] is compared with.
///
/// It is unbiased for the language model, where the look-ahead is exact for the hidden Markov model that approximates it,
/// and slower by orders of magnitude: `rollouts * remaining` steps of the model for each candidate.
#[derive(Debug, Clone)]
pub struct RolloutLookahead {
    attribute: Attribute,
    sampler: Sampler,
    rollouts: usize,
    lanes: usize,
}

impl RolloutLookahead {
    /// An estimator: `rollouts` for each candidate (0 counts as 1), drawn by `sampler` (temperature 1 for the model's
    /// own distribution), at most `lanes` of them in one batch. A lane costs a copy of the model's state and a logit for
    /// every token of the vocabulary.
    pub fn new(attribute: Attribute, sampler: Sampler, rollouts: usize, lanes: usize) -> RolloutLookahead {
        RolloutLookahead { attribute, sampler, rollouts: rollouts.max(1), lanes: lanes.max(1) }
    }

    /// The state before the first generated token.
    pub fn start(&self) -> Standing {
        Standing { state: self.attribute.start(), log_weight: 0.0 }
    }

    /// Observes a generated token.
    pub fn observe(&self, standing: &mut Standing, token: Token) {
        let edge = self.attribute.step(standing.state, token);
        standing.state = edge.to;
        standing.log_weight += edge.log_weight;
    }

    /// For each candidate `v`: the mean weight of the whole text, if `v` comes next and the model writes `remaining` more
    /// tokens, or up to the end of the text if that comes first. [`crate::Lookahead::score`] gives its logarithm.
    ///
    /// The result does not depend on the number of lanes.
    ///
    /// # Errors
    /// When the model fails, and [`RolloutError::NoToken`] where its logits allow no token.
    pub fn score<M: LanguageModel>(
        &self,
        model: &M,
        read: &M::State,
        standing: Standing,
        remaining: usize,
        candidates: &[Token],
        rng: &mut impl rand::Rng,
    ) -> Result<Vec<RolloutEstimate>, RolloutError<M::Error>> {
        let mut logits = vec![0.0; model.vocabulary()];
        let mut estimates = Vec::with_capacity(candidates.len());
        for &token in candidates {
            let mut standing = standing;
            self.observe(&mut standing, token);
            let is_over = remaining == 0 || model.end() == Some(token);
            estimates.push(if is_over || standing.log_weight == f64::NEG_INFINITY {
                RolloutEstimate { mean: self.weight(standing), standard_error: 0.0, rollouts: 0 }
            } else {
                let mut state = read.clone();
                model.step(&mut state, &[token], &mut logits)?;
                self.roll(model, &state, &logits, standing, remaining, rng)?
            });
        }
        Ok(estimates)
    }

    /// The mean weight of the whole text, with `remaining` tokens still to come. Its logarithm is the
    /// counterpart of [`crate::Lookahead::expectation`].
    ///
    /// # Errors
    /// When the model fails, and [`RolloutError::NoToken`] where its logits allow no token.
    pub fn expectation<M: LanguageModel>(
        &self,
        model: &M,
        read: &M::State,
        standing: Standing,
        remaining: usize,
        rng: &mut impl rand::Rng,
    ) -> Result<RolloutEstimate, RolloutError<M::Error>> {
        let (mut state, mut logits) = (read.clone(), vec![0.0; model.vocabulary()]);
        model.step(&mut state, &[], &mut logits)?;
        self.roll(model, &state, &logits, standing, remaining, rng)
    }

    fn weight(&self, standing: Standing) -> f64 {
        (standing.log_weight + self.attribute.log_final(standing.state)).exp()
    }

    fn roll<M: LanguageModel>(
        &self,
        model: &M,
        state: &M::State,
        logits: &[f32],
        standing: Standing,
        remaining: usize,
        rng: &mut impl rand::Rng,
    ) -> Result<RolloutEstimate, RolloutError<M::Error>> {
        let mut weights = Vec::with_capacity(self.rollouts);
        while weights.len() < self.rollouts {
            let lanes = self.lanes.min(self.rollouts - weights.len());
            let mut batch: Vec<Walker<M::State>> = (0..lanes)
                .map(|_| Walker {
                    state: state.clone(),
                    logits: logits.to_vec(),
                    standing,
                    // Drawn walker by walker, so that the result does not depend on the batches.
                    points: (0..remaining).map(|_| Sampler::point(rng)).collect(),
                    last: [0],
                    is_over: false,
                })
                .collect();
            for step in 0..remaining {
                if step > 0 {
                    let going = batch.iter_mut().filter(|walker| !walker.is_over);
                    let mut lanes: Vec<_> = going.map(Walker::lane).collect();
                    if lanes.is_empty() {
                        break;
                    }
                    model.step_batch(&mut lanes)?;
                }
                for walker in &mut batch {
                    self.walk(walker, step, model.end()).ok_or(RolloutError::NoToken)?;
                }
            }
            weights.extend(batch.iter().map(|walker| self.weight(walker.standing)));
        }
        Ok(RolloutEstimate::of(&weights))
    }

    /// Draws one more token; none where the logits allow none.
    fn walk<S>(&self, walker: &mut Walker<S>, step: usize, end: Option<Token>) -> Option<()> {
        if walker.is_over {
            return Some(());
        }
        let point = walker.points.get(step).copied().unwrap_or_default();
        let token = self.sampler.pick(&walker.logits, point)?;
        self.observe(&mut walker.standing, token);
        walker.last = [token];
        walker.is_over = end == Some(token) || walker.standing.log_weight == f64::NEG_INFINITY;
        Some(())
    }
}

/// One rollout.
struct Walker<S> {
    state: S,
    logits: Vec<f32>,
    standing: Standing,
    points: Vec<f64>,
    last: [Token; 1],
    is_over: bool,
}

impl<S> Walker<S> {
    fn lane(&mut self) -> Lane<'_, S> {
        Lane { state: &mut self.state, tokens: &self.last, logits: &mut self.logits }
    }
}

impl RolloutEstimate {
    fn of(weights: &[f64]) -> RolloutEstimate {
        let count = weights.len() as f64;
        let mean = weights.iter().sum::<f64>() / count;
        let squares: f64 = weights.iter().map(|weight| (weight - mean).powi(2)).sum();
        let variance = match weights.len() {
            0 | 1 => f64::INFINITY,
            // All hits, or all misses, give no variance: as if there were one more of each (Laplace's rule).
            _ if squares == 0.0 && (mean == 0.0 || mean == 1.0) => {
                (mean * count + 1.0) / (count + 2.0) * (1.0 - (mean * count + 1.0) / (count + 2.0))
            }
            _ => squares / (count - 1.0),
        };
        RolloutEstimate { mean, standard_error: (variance / count).sqrt(), rollouts: weights.len() }
    }
}
