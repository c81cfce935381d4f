//! Rollouts of a language model that is a hidden Markov model agree with the exact look-ahead.

use crate::support::{HmmModel, attribute, hmm, rng};
use hmm_control::{
    Attribute, Lane, LanguageModel, Lookahead, RolloutError, RolloutLookahead, Sampler, Storage, Token,
};
use std::cell::Cell;

#[test]
fn rollouts_agree_with_the_look_ahead() {
    let (mut squares, mut count) = (0.0, 0);
    for seed in 0..12 {
        let rng = &mut rng(seed);
        let model = HmmModel { hmm: hmm(4, 8, Storage::F64, rng), end: None };
        let attribute = attribute(8, 1 + seed as usize % 3, rng);
        let lookahead = Lookahead::new(model.hmm.clone(), attribute.clone()).unwrap();
        let rollouts = RolloutLookahead::new(attribute, Sampler::new(1.0).unwrap(), 1500, 500);

        // A prompt, then a token that is not forbidden.
        let (mut progress, mut state) = (lookahead.start(), model.start());
        let mut standing = rollouts.start();
        lookahead.observe_prompt(&mut progress, 3);
        state.observe(&model.hmm, 3);
        if let Some(token) =
            (0..8).find(|token| lookahead.attribute().step(progress.state, *token).log_weight > -9.0)
        {
            lookahead.observe(&mut progress, token);
            rollouts.observe(&mut standing, token);
            state.observe(&model.hmm, token);
        }
        assert_eq!((standing.state, standing.log_weight), (progress.state, progress.log_weight));

        let candidates: Vec<Token> = (0..8).collect();
        for remaining in [0, 1, 5] {
            let mut log_phi = [0.0; 8];
            lookahead.score(&progress, remaining, &candidates, &mut log_phi);
            let estimates = rollouts.score(&model, &state, standing, remaining, &candidates, rng).unwrap();
            for (estimate, log_phi) in estimates.iter().zip(log_phi) {
                let apart = (estimate.mean - log_phi.exp()).abs();
                // The model's logits are in 32 bits.
                assert!(
                    apart <= 4.0 * estimate.standard_error + 1e-6,
                    "{seed} {remaining} {estimate:?} {log_phi}"
                );
                if estimate.standard_error > 1e-4 {
                    squares += (apart / estimate.standard_error).powi(2);
                    count += 1;
                }
            }
            let estimate = rollouts.expectation(&model, &state, standing, remaining, rng).unwrap();
            let exact = lookahead.expectation(&progress, remaining).exp();
            assert!((estimate.mean - exact).abs() <= 4.0 * estimate.standard_error + 1e-6);
        }
    }
    // The errors are as large as they say, not larger and not smaller.
    let spread = squares / f64::from(count);
    assert!((0.7..1.4).contains(&spread), "{spread} over {count}");
}

#[test]
fn the_number_of_lanes_makes_no_difference() {
    let model = HmmModel { hmm: hmm(3, 6, Storage::F32, &mut rng(40)), end: Some(5) };
    let attribute = attribute(6, 2, &mut rng(41));
    let estimates = |lanes| {
        let rollouts = RolloutLookahead::new(attribute.clone(), Sampler::new(0.8).unwrap(), 50, lanes);
        rollouts
            .score(&model, &model.start(), rollouts.start(), 6, &[0, 1, 2, 3, 4, 5], &mut rng(42))
            .unwrap()
    };
    assert_eq!(estimates(1), estimates(7));
    assert_eq!(estimates(1), estimates(1000));
}

/// A model that counts how many sequences it was asked to read at most at once, and writes token 1, then ends.
struct Script {
    most: Cell<usize>,
    steps: Cell<usize>,
}

impl LanguageModel for Script {
    type State = usize;
    type Error = std::convert::Infallible;

    fn vocabulary(&self) -> usize {
        3
    }

    fn end(&self) -> Option<Token> {
        Some(2)
    }

    fn start(&self) -> usize {
        0
    }

    fn step(&self, state: &mut usize, tokens: &[Token], logits: &mut [f32]) -> Result<(), Self::Error> {
        *state += tokens.len();
        logits.fill(f32::NEG_INFINITY);
        logits[if *state < 3 { 1 } else { 2 }] = 0.0;
        self.steps.set(self.steps.get() + 1);
        Ok(())
    }

    fn step_batch(&self, lanes: &mut [Lane<'_, usize>]) -> Result<(), Self::Error> {
        self.most.set(self.most.get().max(lanes.len()));
        lanes.iter_mut().try_for_each(|lane| self.step(lane.state, lane.tokens, lane.logits))
    }
}

#[test]
fn a_rollout_stops_at_the_end_of_the_text() {
    let model = Script { most: Cell::new(0), steps: Cell::new(0) };
    let half = 0.5_f64.ln();
    let attribute = Attribute::from_weights(3, [(1, half), (0, half), (2, half)]).unwrap();
    let rollouts = RolloutLookahead::new(attribute, Sampler::new(1.0).unwrap(), 10, 4);
    let standing = rollouts.start();
    // 0, then 1, 1, then the end: four tokens, however many might come.
    for remaining in [3, 50] {
        let estimate = rollouts.score(&model, &0, standing, remaining, &[0], &mut rng(1)).unwrap()[0];
        assert!((estimate.mean - 0.0625).abs() < 1e-12 && estimate.standard_error < 1e-12, "{estimate:?}");
        assert_eq!(estimate.rollouts, 10);
    }
    assert_eq!(model.most.get(), 4);
    // Nothing is asked of the model where nothing is left to chance.
    model.steps.set(0);
    let over = rollouts.score(&model, &0, standing, 9, &[2], &mut rng(1)).unwrap()[0];
    assert_eq!((over.mean, over.standard_error, over.rollouts), (0.5, 0.0, 0));
    assert_eq!(model.steps.get(), 0);
    let single =
        RolloutLookahead::new(Attribute::from_weights(3, []).unwrap(), Sampler::new(1.0).unwrap(), 0, 0);
    let estimate = single.score(&model, &0, standing, 9, &[0], &mut rng(1)).unwrap()[0];
    assert_eq!((estimate.mean, estimate.rollouts), (1.0, 1));
    assert!(estimate.standard_error.is_infinite());
}

/// A model whose logits are of no use.
struct Mute(f32);

impl LanguageModel for Mute {
    type State = ();
    type Error = std::convert::Infallible;

    fn vocabulary(&self) -> usize {
        3
    }

    fn end(&self) -> Option<Token> {
        Some(2)
    }

    fn start(&self) {}

    fn step(&self, _: &mut (), _: &[Token], logits: &mut [f32]) -> Result<(), Self::Error> {
        logits.fill(self.0);
        Ok(())
    }
}

#[test]
fn a_model_that_gives_no_token_a_chance_is_an_error_and_no_end() {
    let attribute = Attribute::from_weights(3, [(1, -1.0)]).unwrap();
    let rollouts = RolloutLookahead::new(attribute, Sampler::new(1.0).unwrap(), 10, 4);
    for logit in [f32::NAN, f32::NEG_INFINITY] {
        let found = rollouts.expectation(&Mute(logit), &(), rollouts.start(), 3, &mut rng(1));
        assert_eq!(found, Err(RolloutError::NoToken), "{logit}");
    }
}
