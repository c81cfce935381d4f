//! The next token: the divergence of the two models, and how many candidates have to be scored.

use crate::{Belief, Hmm, Lookahead, Progress};

/// The number of candidates that suffice for one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// Candidates that the certificate needs, with the scores of these and a bound for the others.
    pub certified: usize,
    /// Candidates that would suffice if all scores were known. The difference is the cost of the bound.
    pub enough: usize,
}

/// The smallest numbers of candidates that omit at most the share `at_most` of the controlled distribution
/// `p(v) phi(v) / sum`, at temperature 1 and strength 1. Candidates are taken in the order of `p(v) bound(v)`, as in a
/// decode step. Scores the whole vocabulary.
///
/// Where no token is allowed, none is needed.
pub fn candidates_needed(
    lookahead: &Lookahead,
    progress: &Progress,
    remaining: usize,
    logits: &[f32],
    at_most: f64,
) -> Needed {
    let mut log_phi = vec![f64::NEG_INFINITY; logits.len()];
    lookahead.score_all(progress, remaining, &mut log_phi);
    let tokens = log_softmax(logits).into_iter().zip(log_phi).zip(0..);
    // The upper bound of a token's mass, and the mass.
    let mut masses: Vec<(f64, f64)> = tokens
        .map(|((log_p, log_phi), token)| {
            let most = log_p + lookahead.bound(progress, remaining, token);
            // The score has the rounding of its storage, the bound has not.
            let mass = log_p + log_phi;
            (most.max(mass), mass)
        })
        .filter(|(most, _)| *most > f64::NEG_INFINITY)
        .collect();
    masses.sort_by(|a, b| b.0.total_cmp(&a.0));
    // One scale for all, so that small weights do not underflow together.
    let scale = masses.iter().map(|(_, mass)| *mass).fold(f64::NEG_INFINITY, f64::max);
    if scale == f64::NEG_INFINITY {
        return Needed { certified: 0, enough: 0 };
    }
    // Summed in rising order, so that a small rest is exact.
    let (mut kept, mut most_left, mut left) = (0.0, 0.0, 0.0);
    masses.iter().for_each(|(_, mass)| kept += (mass - scale).exp());
    let (mut certified, mut enough) = (None, None);
    for (number, (most, mass)) in masses.iter().enumerate().rev() {
        let mass = (mass - scale).exp();
        most_left += (most - scale).exp();
        left += mass;
        kept -= mass;
        let share = |left: f64| if left > 0.0 { left / (kept.max(0.0) + left) } else { 0.0 };
        if certified.is_none() && share(most_left) > at_most {
            certified = Some(number + 1);
        }
        if share(left) > at_most {
            enough = Some(number + 1);
            break;
        }
    }
    Needed { certified: certified.or(enough).unwrap_or(0), enough: enough.unwrap_or(0) }
}

/// The divergence of two next-token distributions after one text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Divergence {
    /// `KL(language model || hidden Markov model)` in nats; infinite where a token is impossible only under the hidden
    /// Markov model.
    pub nats: f64,
    /// The language model's entropy in nats, which no model can predict.
    pub entropy: f64,
    /// The total variation distance, in 0 to 1: how often two samplers with the same random numbers differ.
    pub total_variation: f64,
}

/// Compares the language model's logits after a text with the hidden Markov model's belief after the same text. One pass
/// over the emission matrix.
///
/// `logits` are as many as the model has tokens; at least one of them is finite.
pub fn divergence(logits: &[f32], hmm: &Hmm, belief: &Belief) -> Divergence {
    let mut predicted = vec![0.0; hmm.vocabulary()];
    hmm.emission().product(belief.predicted(), &mut predicted);
    // A rounded storage sums to 1 only nearly.
    let total: f64 = predicted.iter().sum();
    let mut found = Divergence { nats: 0.0, entropy: 0.0, total_variation: 0.0 };
    for (log_p, q) in log_softmax(logits).into_iter().zip(&predicted) {
        let (p, q) = (log_p.exp(), q / total);
        if p > 0.0 {
            found.nats += p * (log_p - q.ln());
            found.entropy -= p * log_p;
        }
        found.total_variation += (p - q).abs() / 2.0;
    }
    found
}

/// Logits as log probabilities in 64 bits.
fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shifted = |logit: &f32| f64::from(*logit) - f64::from(largest);
    let sum: f64 = logits.iter().map(|logit| shifted(logit).exp()).sum();
    logits.iter().map(|logit| shifted(logit) - sum.ln()).collect()
}
