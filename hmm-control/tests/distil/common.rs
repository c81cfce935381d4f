//! Small models and texts.

use hmm_control::distil::{HmmSampler, MISSING, Parameters, Sequences};
use hmm_control::{Hmm, Storage, Token};
use ndarray::Array2;
use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::num::NonZeroUsize;

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn some(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

/// Weights that sum to 1, of which some may be exactly 0.
pub fn distribution(length: usize, zeros: bool, rng: &mut impl Rng) -> Vec<f64> {
    loop {
        let draw = |rng: &mut dyn FnMut() -> f64| if zeros && rng() < 0.25 { 0.0 } else { rng() + 0.02 };
        let weights: Vec<f64> = (0..length).map(|_| draw(&mut || rng.random::<f64>())).collect();
        let sum: f64 = weights.iter().sum();
        if sum > 0.0 {
            return weights.iter().map(|weight| weight / sum).collect();
        }
    }
}

pub fn parameters(states: usize, vocabulary: usize, zeros: bool, rng: &mut impl Rng) -> Parameters<f64> {
    let initial = distribution(states, zeros, rng);
    let mut transition = Array2::zeros((states, states));
    let mut emission = Array2::zeros((vocabulary, states));
    for state in 0..states {
        transition.row_mut(state).assign(&ndarray::arr1(&distribution(states, zeros, rng)));
        emission.column_mut(state).assign(&ndarray::arr1(&distribution(vocabulary, zeros, rng)));
    }
    Parameters { initial, transition, emission }
}

pub fn narrow(wide: &Parameters<f64>) -> Parameters<f32> {
    Parameters {
        initial: wide.initial.iter().map(|value| *value as f32).collect(),
        transition: wide.transition.mapv(|value| value as f32),
        emission: wide.emission.mapv(|value| value as f32),
    }
}

/// Texts of any tokens, some missing.
pub fn texts(vocabulary: usize, longest: usize, most: usize) -> impl Strategy<Value = Vec<Vec<Token>>> {
    let token = prop_oneof![6 => 0..vocabulary as Token, 1 => Just(MISSING)];
    prop::collection::vec(prop::collection::vec(token, 0..=longest), 1..=most)
}

pub fn sequences(texts: &[Vec<Token>]) -> Sequences {
    texts.iter().map(Vec::as_slice).collect()
}

/// A model whose states are easy to tell apart, and texts from it.
pub fn known(states: usize, vocabulary: usize, count: usize, seed: u64) -> (Hmm, Sequences) {
    let mut rng = rng(seed);
    let mut initial = vec![0.05 / (states - 1) as f64; states];
    initial[0] = 0.95;
    let transition = Array2::from_shape_fn((states, states), |(from, to)| {
        if to == (from + 1) % states { 0.85 } else { 0.15 / (states - 1) as f64 }
    });
    let emission = Array2::from_shape_fn((states, vocabulary), |(state, token)| {
        if token % states == state { 0.9 } else { 0.1 / (states - 1) as f64 }
    });
    let emission = &emission / &emission.sum_axis(ndarray::Axis(1)).insert_axis(ndarray::Axis(1));
    let hmm = Hmm::new(&initial, transition.view(), emission.view(), Storage::F64).unwrap();
    let sampler = HmmSampler::new(&hmm);
    let mut all = Sequences::new();
    (0..count).for_each(|_| all.push(&sampler.draw(16, None, &mut rng)));
    (hmm, all)
}
