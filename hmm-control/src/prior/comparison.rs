//! Comparing a prior with plain filtering.

use super::error::PriorError;
use super::head::Prior;
use super::objective::{each, likelihoods, log_probability};
use super::rollout::Rollout;
use crate::{Belief, Hmm, Token};
use std::fmt;

/// The log probability of continuations under plain filtering and under a prior, on the same rollouts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Number of compared rollouts.
    pub rollouts: usize,
    /// Rollouts left out because they are impossible under the model.
    pub impossible: usize,
    /// The horizon in tokens; a shorter rollout counts with its own length.
    pub tokens: usize,
    /// Mean of `log p(next tokens | prefix)` with the filter's belief after the prefix, in nats.
    pub plain: f64,
    /// Mean of `log p(next tokens | features)` with the prior's belief, in nats.
    pub prior: f64,
    /// The standard error of the paired difference `prior - plain`. Rollouts are treated as independent; several from one
    /// text are not, so that this understates it.
    pub standard_error: f64,
}

impl Comparison {
    /// The advantage of the prior in nats per rollout; below 0 it is worse.
    pub fn gain(&self) -> f64 {
        self.prior - self.plain
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rollouts, {} tokens ahead: filter {:.4}, prior {:.4} nats, gain {:+.4} (standard error {:.4}); {} \
             impossible",
            self.rollouts,
            self.tokens,
            self.plain,
            self.prior,
            self.gain(),
            self.standard_error,
            self.impossible
        )
    }
}

impl Prior {
    /// Compares the prior with plain filtering on the next `tokens` tokens of rollouts that it was not trained on.
    ///
    /// Costs a filter over every prefix and one backward pass over every continuation, on that many threads.
    ///
    /// # Errors
    /// When the head does not fit the model or the features, or no rollout is possible.
    pub fn compare(
        &self,
        hmm: &Hmm,
        rollouts: &[Rollout],
        tokens: usize,
        threads: usize,
    ) -> Result<Comparison, PriorError> {
        let ahead = |rollout: &Rollout| rollout.continuation.len().min(tokens);
        let continuations: Vec<&[Token]> = rollouts
            .iter()
            .map(|rollout| rollout.continuation.get(..ahead(rollout)).unwrap_or_default())
            .collect();
        let likelihoods = likelihoods(hmm, &continuations, threads);
        let filtered = each(rollouts, threads, |rollout| filter(hmm, &rollout.prefix));
        let mut pairs = Vec::with_capacity(rollouts.len());
        for ((rollout, likelihood), filtered) in rollouts.iter().zip(&likelihoods).zip(&filtered) {
            let belief = self.belief(hmm, &rollout.features)?;
            let Some(likelihood) = likelihood else { continue };
            let pair =
                (log_probability(likelihood, filtered), log_probability(likelihood, belief.predicted()));
            if pair.0.is_finite() && pair.1.is_finite() {
                pairs.push(pair);
            }
        }
        if pairs.is_empty() {
            return Err(PriorError::NoRollouts { part: "the data to compare on" });
        }
        let count = pairs.len() as f64;
        let plain = pairs.iter().map(|pair| pair.0).sum::<f64>() / count;
        let prior = pairs.iter().map(|pair| pair.1).sum::<f64>() / count;
        let spread: f64 = pairs.iter().map(|pair| (pair.1 - pair.0 - (prior - plain)).powi(2)).sum();
        Ok(Comparison {
            rollouts: pairs.len(),
            impossible: rollouts.len() - pairs.len(),
            tokens,
            plain,
            prior,
            standard_error: (spread / (count - 1.0).max(1.0) / count).sqrt(),
        })
    }
}

/// The filter's belief after a prefix.
fn filter(hmm: &Hmm, prefix: &[Token]) -> Vec<f64> {
    let mut belief = Belief::start(hmm);
    for token in prefix {
        belief.observe(hmm, *token);
    }
    belief.predicted().to_vec()
}
