//! The training data of a prior.

use super::error::SampleError;
use crate::{LanguageModel, Token};
use rand::{Rng, RngExt};

/// One position in a text: the language model's features there, and the text on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollout {
    /// The language model's features after the prefix.
    pub features: Vec<f32>,
    /// The tokens before the position, used only by the comparison with plain filtering.
    pub prefix: Vec<Token>,
    /// The tokens after it.
    pub continuation: Vec<Token>,
}

/// The positions of [`Rollout`]s in a sampled text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Positions {
    /// Tokens to sample after the prompt; fewer where the language model ends the text.
    pub tokens: usize,
    /// The step between positions in tokens; the first is at the prompt's end.
    pub every: usize,
    /// Length of a continuation; shorter only where the language model ended the text.
    pub ahead: usize,
}

impl Rollout {
    /// Samples a text after a prompt from the language model's own distribution, and takes rollouts from it.
    ///
    /// # Errors
    /// When the language model fails or exposes no features, its logits allow no token, or a step or length is 0.
    pub fn sample<M: LanguageModel>(
        model: &M,
        prompt: &[Token],
        positions: Positions,
        rng: &mut impl Rng,
    ) -> Result<Vec<Rollout>, SampleError<M::Error>> {
        if positions.every == 0 || positions.ahead == 0 {
            return Err(SampleError::Positions);
        }
        let mut state = model.start();
        let mut logits = vec![0.0; model.vocabulary()];
        let mut text = prompt.to_vec();
        let mut seen = Vec::new();
        let mut unread = prompt.to_vec();
        let mut ended = false;
        for number in 0..positions.tokens {
            model.step(&mut state, &unread, &mut logits).map_err(SampleError::Model)?;
            if number % positions.every == 0 {
                let features = model.features(&state).ok_or(SampleError::NoFeatures)?;
                seen.push((text.len(), features.to_vec()));
            }
            let token = draw(&logits, rng).ok_or(SampleError::Logits { tokens: text.len() })?;
            text.push(token);
            unread = vec![token];
            if model.end() == Some(token) {
                ended = true;
                break;
            }
        }
        let rollouts = seen.into_iter().filter_map(|(place, features)| {
            let (prefix, rest) = text.split_at_checked(place)?;
            let whole = rest.get(..positions.ahead).or(ended.then_some(rest))?;
            Some(Rollout { features, prefix: prefix.to_vec(), continuation: whole.to_vec() })
        });
        Ok(rollouts.collect())
    }
}

fn draw(logits: &[f32], rng: &mut impl Rng) -> Option<Token> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits.iter().map(|logit| f64::from(logit - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    // Also where all are minus infinity, whose difference is NaN.
    if !sum.is_finite() {
        return None;
    }
    let mut rest = rng.random::<f64>() * sum;
    let passed = |weight: &f64| {
        rest -= weight;
        rest < 0.0
    };
    // Rounding may leave a rest after the last token; the last possible one is then drawn.
    let place = weights.iter().position(passed).or(weights.iter().rposition(|weight| *weight > 0.0))?;
    Token::try_from(place).ok()
}
