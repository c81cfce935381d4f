//! The next token, as foretold by both models.

use super::log_softmax;
use crate::{Belief, Hmm};

/// How far two models' next tokens are apart, after one text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Divergence {
    /// `KL(language model || hidden Markov model)` in nats; infinite where the hidden Markov model holds impossible what
    /// the language model may write.
    pub nats: f64,
    /// The language model's own entropy in nats: what of the next token nobody can foretell.
    pub entropy: f64,
    /// Half the sum of the differences, in 0 to 1: how often two samplers that share their luck would differ.
    pub total_variation: f64,
}

/// Compares the language model's logits after a text with what the hidden Markov model believes of the same text. One
/// pass over the emission matrix.
///
/// `logits` are as many as the model has tokens; at least one of them is finite.
pub fn divergence(logits: &[f32], hmm: &Hmm, belief: &Belief) -> Divergence {
    let mut foretold = vec![0.0; hmm.vocabulary()];
    hmm.emission().product(belief.predicted(), &mut foretold);
    // A rounded storage sums to 1 only nearly.
    let total: f64 = foretold.iter().sum();
    let mut found = Divergence { nats: 0.0, entropy: 0.0, total_variation: 0.0 };
    for (log_p, q) in log_softmax(logits).into_iter().zip(&foretold) {
        let (p, q) = (log_p.exp(), q / total);
        if p > 0.0 {
            found.nats += p * (log_p - q.ln());
            found.entropy -= p * log_p;
        }
        found.total_variation += (p - q).abs() / 2.0;
    }
    found
}
