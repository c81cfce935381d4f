//! Random small models, and a language model that is a hidden Markov model.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a fault in a test shows as a panic; not every test uses all of it"
)]

use hmm_control::{Attribute, Belief, Edge, Hmm, LanguageModel, Storage, Token};
use ndarray::Array2;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::convert::Infallible;

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A distribution with a few heavy entries and many light ones.
pub fn distribution(count: usize, rng: &mut impl Rng) -> Vec<f64> {
    let weights: Vec<f64> = (0..count).map(|_| (6.0 * uniform(rng)).exp() - 0.99).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

pub fn hmm(states: usize, vocabulary: usize, storage: Storage, rng: &mut impl Rng) -> Hmm {
    let mut rows = |columns: usize| -> Array2<f64> {
        let all: Vec<f64> = (0..states).flat_map(|_| distribution(columns, rng)).collect();
        Array2::from_shape_vec((states, columns), all).unwrap()
    };
    let (transition, emission) = (rows(states), rows(vocabulary));
    Hmm::new(&distribution(states, rng), transition.view(), emission.view(), storage).unwrap()
}

/// An automaton of some states where every third token or so is weighted, and some are forbidden.
pub fn attribute(vocabulary: usize, states: usize, rng: &mut impl Rng) -> Attribute {
    let mut builder = Attribute::builder(vocabulary);
    for _ in 0..states {
        let to = (rng.next_u32() as usize) % states;
        // In some states the exceptions are what is wanted, and the rest weighs little.
        let most = if uniform(rng) < 0.3 { 8.0 } else { 0.05 };
        builder.state(Edge { to, log_weight: -most * uniform(rng) }, 0.0);
    }
    for state in 0..states {
        for token in 0..vocabulary as Token {
            let kind = uniform(rng);
            if kind < 0.35 {
                let log_weight = if kind < 0.1 { f64::NEG_INFINITY } else { -8.0 * uniform(rng) };
                builder.edge(state, token, Edge { to: (rng.next_u32() as usize) % states, log_weight });
            }
        }
    }
    builder.build(0).unwrap()
}

/// Logits like a language model's: a few tokens have nearly all of the mass.
pub fn logits(count: usize, spread: f64, rng: &mut impl Rng) -> Vec<f32> {
    (0..count).map(|_| (spread * (uniform(rng) + uniform(rng) - 1.0)) as f32).collect()
}

pub fn softmax(logits: &[f32], temperature: f64) -> Vec<f64> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> =
        logits.iter().map(|logit| ((f64::from(*logit) - f64::from(top)) / temperature).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// A language model that is a hidden Markov model: its state is what is believed, its logits are `log p`.
pub struct HmmModel {
    pub hmm: Hmm,
    pub end: Option<Token>,
}

impl LanguageModel for HmmModel {
    type State = Belief;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        self.hmm.vocabulary()
    }

    fn end(&self) -> Option<Token> {
        self.end
    }

    fn start(&self) -> Belief {
        Belief::start(&self.hmm)
    }

    fn step(&self, state: &mut Belief, tokens: &[Token], logits: &mut [f32]) -> Result<(), Infallible> {
        for &token in tokens {
            state.observe(&self.hmm, token);
        }
        for (token, logit) in logits.iter_mut().enumerate() {
            *logit = state.log_probability(&self.hmm, token as Token) as f32;
        }
        Ok(())
    }
}
