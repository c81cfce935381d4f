//! The sampler against the straight way of doing it.

use crate::support::{logits, rng, softmax, uniform};
use hmm_control::{ControlError, Sampler, Token};
use proptest::prelude::*;

/// Sort all, cut, cut, normalise.
fn naive(logits: &[f32], temperature: f64, k: Option<usize>, p: Option<f64>) -> Vec<(Token, f64)> {
    let probabilities = softmax(logits, temperature);
    let mut all: Vec<(Token, f64)> =
        (0..).zip(probabilities).filter(|(token, _)| logits[*token as usize].is_finite()).collect();
    all.sort_by(|a, b| logits[b.0 as usize].partial_cmp(&logits[a.0 as usize]).unwrap().then(a.0.cmp(&b.0)));
    all.truncate(k.unwrap_or(usize::MAX));
    let total: f64 = all.iter().map(|(_, probability)| probability).sum();
    if let Some(p) = p {
        let mut sum = 0.0;
        let count = all.iter().take_while(|(_, probability)| {
            let goes_on = sum < p * total;
            sum += probability;
            goes_on
        });
        let count = count.count();
        all.truncate(count);
    }
    let total: f64 = all.iter().map(|(_, probability)| probability).sum();
    all.into_iter().map(|(token, probability)| (token, probability / total)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_may_be_drawn_is_what_the_definition_says(
        seed: u64,
        count in 1usize..3000,
        spread in 0.1..20.0,
        temperature in 0.3..3.0,
        k in prop::option::of(1usize..800),
        p in prop::option::of(0.01..1.0),
    ) {
        let rng = &mut rng(seed);
        let mut logits = logits(count, spread, rng);
        // Ties, and tokens that are forbidden.
        logits.iter_mut().for_each(|logit| *logit = (*logit * 16.0).round() / 16.0);
        logits.iter_mut().skip(1).filter(|_| uniform(rng) < 0.1).for_each(|logit| *logit = f32::NEG_INFINITY);
        let mut sampler = Sampler::new(temperature).unwrap();
        if let Some(k) = k { sampler = sampler.top_k(k) }
        if let Some(p) = p { sampler = sampler.top_p(p).unwrap() }
        let mut found = sampler.distribution(&logits);
        let mut wanted = naive(&logits, temperature, k, p);
        if k.is_none() && p.is_none() {
            found.sort_by_key(|(token, _)| *token);
            wanted.sort_by_key(|(token, _)| *token);
        }
        // One more or less, where the share is reached to the last digit.
        prop_assert!(found.len().abs_diff(wanted.len()) <= usize::from(p.is_some()));
        let lengths_differ = found.len() != wanted.len();
        for (found, wanted) in found.iter().zip(&wanted) {
            prop_assert_eq!(found.0, wanted.0);
            let apart = (found.1 - wanted.1).abs();
            prop_assert!(apart < 1e-9 || lengths_differ, "{apart}");
        }
        let drawn = sampler.draw(&logits, rng).unwrap();
        prop_assert!(found.iter().any(|(token, probability)| *token == drawn && *probability > 0.0));
        let greedy = Sampler::new(0.0).unwrap().draw(&logits, rng);
        prop_assert_eq!(greedy, naive(&logits, 1.0, Some(1), None).first().map(|(token, _)| *token));
    }
}

#[test]
fn draws_are_as_frequent_as_they_are_probable() {
    let logits = [0.0_f32, 1.0, f32::NEG_INFINITY, -2.0, 2.0];
    let sampler = Sampler::new(0.7).unwrap();
    let (mut counts, rng, draws) = ([0_u32; 5], &mut rng(1), 40_000);
    for _ in 0..draws {
        counts[sampler.draw(&logits, rng).unwrap() as usize] += 1;
    }
    for (count, probability) in counts.iter().zip(softmax(&logits, 0.7)) {
        let expected = probability * f64::from(draws);
        assert!((f64::from(*count) - expected).abs() <= 4.0 * expected.sqrt(), "{counts:?}");
    }
    assert_eq!(counts[2], 0);
}

#[test]
fn what_cannot_be_drawn_and_settings_that_cannot_be() {
    let rng = &mut rng(1);
    let sampler = Sampler::new(1.0).unwrap();
    assert_eq!(sampler.draw(&[f32::NEG_INFINITY; 3], rng), None);
    assert_eq!(sampler.draw(&[], rng), None);
    assert_eq!(sampler.draw(&[f32::NAN, 0.0, f32::INFINITY], rng), Some(1));
    for temperature in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Sampler::new(temperature), Err(ControlError::Setting { .. })));
    }
    for p in [0.0, -0.5, 1.5, f64::NAN] {
        assert!(matches!(sampler.top_p(p), Err(ControlError::Setting { .. })));
    }
}
