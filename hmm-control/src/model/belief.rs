//! Filtering: the distribution of the hidden state, given the tokens so far.

use super::error::ModelError;
use super::hmm::{Hmm, check_distribution, expect_shape};
use crate::{Storage, Token};

/// The distribution of the hidden state that will emit the *next* token, given all tokens so far.
///
/// The forward recursion in scaled linear probabilities: the vector sums to 1, and the scale is the separate log
/// likelihood, so that long texts lose no precision. A clone is a fork: keep one at a clause's boundary to return to
/// when the clause is rewritten. 8 bytes per state.
#[derive(Debug, Clone, PartialEq)]
pub struct Belief {
    predicted: Vec<f64>,
    log_likelihood: f64,
    tokens: usize,
}

impl Belief {
    /// Before the first token.
    pub fn start(hmm: &Hmm) -> Belief {
        Belief { predicted: hmm.initial().to_vec(), log_likelihood: 0.0, tokens: 0 }
    }

    /// A belief from another source, such as [`crate::prior::Prior`], which uses the features of a language model.
    /// Likelihood and tokens are counted from here.
    ///
    /// # Errors
    /// When there is not one probability per state, or they do not sum to 1.
    pub fn from_prior(hmm: &Hmm, predicted: Vec<f64>) -> Result<Belief, ModelError> {
        expect_shape("prior", (1, predicted.len()), (1, hmm.states()))?;
        check_distribution("prior", 0, &predicted, Storage::F64.tolerance())?;
        Ok(Belief { predicted, log_likelihood: 0.0, tokens: 0 })
    }

    /// `p(state of the next token | tokens so far)`; sums to 1.
    pub fn predicted(&self) -> &[f64] {
        &self.predicted
    }

    /// `log p(tokens so far)`; minus infinity after a token that no state emits.
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// How many tokens were observed or skipped.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Observes one token and returns `log p(token | tokens before)`. Costs one pass over the transition matrix.
    ///
    /// A token that no state emits (or one outside the vocabulary) has log probability minus infinity, and the belief is
    /// updated as if the token were missing.
    pub fn observe(&mut self, hmm: &Hmm, token: Token) -> f64 {
        let (posterior, log_probability) = self.posterior(hmm, token);
        self.advance(hmm, &posterior);
        self.log_likelihood += log_probability;
        log_probability
    }

    /// The same as [`Belief::observe`] for many texts, each with its own token: one pass over the transition matrix for
    /// all. In [`crate::Storage::F64`] the results are the same to the bit, in the others to about 1e-6.
    pub fn observe_batch(hmm: &Hmm, texts: &mut [(&mut Belief, Token)]) -> Vec<f64> {
        let posteriors = texts.iter().map(|(belief, token)| belief.posterior(hmm, *token));
        let (posteriors, log_probabilities): (Vec<_>, Vec<f64>) = posteriors.unzip();
        let moved = hmm.advance_all(&posteriors);
        for (((belief, _), predicted), log_probability) in texts.iter_mut().zip(moved).zip(&log_probabilities)
        {
            belief.arrive(predicted);
            belief.log_likelihood += log_probability;
        }
        log_probabilities
    }

    /// The distribution of the state that emitted a token, and the token's log probability.
    fn posterior(&self, hmm: &Hmm, token: Token) -> (Vec<f64>, f64) {
        let mut posterior = vec![0.0; hmm.states()];
        hmm.read_emission(token, &mut posterior);
        posterior.iter_mut().zip(&self.predicted).for_each(|(value, prior)| *value *= prior);
        let evidence: f64 = posterior.iter().sum();
        if evidence > 0.0 {
            posterior.iter_mut().for_each(|value| *value /= evidence);
            (posterior, evidence.ln())
        } else {
            (self.predicted.clone(), f64::NEG_INFINITY)
        }
    }

    /// Skips a position whose token is unknown: padding, or a dropped token.
    pub fn observe_missing(&mut self, hmm: &Hmm) {
        let posterior = self.predicted.clone();
        self.advance(hmm, &posterior);
    }

    /// `log p(token | tokens so far)`, without observing the token.
    pub fn log_probability(&self, hmm: &Hmm, token: Token) -> f64 {
        let mut emission = vec![0.0; hmm.states()];
        hmm.read_emission(token, &mut emission);
        emission.iter().zip(&self.predicted).map(|(a, b)| a * b).sum::<f64>().ln()
    }

    fn advance(&mut self, hmm: &Hmm, posterior: &[f64]) {
        let mut predicted = std::mem::take(&mut self.predicted);
        hmm.advance(posterior, &mut predicted);
        self.arrive(predicted);
    }

    fn arrive(&mut self, predicted: Vec<f64>) {
        self.predicted = predicted;
        // Numbers that are used as given sum to 1 only nearly; the difference belongs to the scale.
        let sum: f64 = self.predicted.iter().sum();
        if sum > 0.0 {
            self.predicted.iter_mut().for_each(|value| *value /= sum);
            self.log_likelihood += sum.ln();
        }
        self.tokens += 1;
    }
}
