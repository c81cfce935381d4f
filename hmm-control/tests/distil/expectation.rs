//! The E-step against the sum over all hidden paths.

use crate::common::{narrow, parameters, rng, sequences, some, texts};
use hmm_control::distil::{Dropout, Expectation, MISSING, Parameters, Sequences, Statistics};
use hmm_control::{Belief, Storage, Token};
use proptest::prelude::*;

#[derive(Default)]
struct Enumerated {
    initial: Vec<f64>,
    transition: Vec<Vec<f64>>,
    emission: Vec<Vec<f64>>,
    log_likelihood: f64,
    impossible: u64,
}

/// The probability of a path together with the tokens.
fn joint(model: &Parameters<f64>, path: &[usize], text: &[Token]) -> f64 {
    let mut product = 1.0;
    for (place, (&state, &token)) in path.iter().zip(text).enumerate() {
        product *= match place {
            0 => model.initial[state],
            _ => model.transition[[path[place - 1], state]],
        };
        if token != MISSING {
            product *= model.emission[[token as usize, state]];
        }
    }
    product
}

fn paths(states: usize, length: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        all = all
            .iter()
            .flat_map(|path| (0..states).map(move |state| [path.as_slice(), &[state]].concat()))
            .collect();
    }
    all
}

fn enumerate(model: &Parameters<f64>, texts: &[Vec<Token>]) -> Enumerated {
    let (states, vocabulary) = (model.states(), model.vocabulary());
    let mut sum = Enumerated {
        initial: vec![0.0; states],
        transition: vec![vec![0.0; states]; states],
        emission: vec![vec![0.0; vocabulary]; states],
        ..Enumerated::default()
    };
    for text in texts {
        // A token that cannot come behind the ones before it is taken for missing.
        let mut possible: Vec<Token> = Vec::new();
        for &token in text {
            possible.push(token);
            let total: f64 =
                paths(states, possible.len()).iter().map(|path| joint(model, path, &possible)).sum();
            if total == 0.0 {
                *possible.last_mut().unwrap() = MISSING;
                sum.impossible += 1;
            }
        }
        let weights: Vec<(Vec<usize>, f64)> = paths(states, possible.len())
            .into_iter()
            .map(|path| (path.clone(), joint(model, &path, &possible)))
            .collect();
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        sum.log_likelihood += total.ln();
        for (path, weight) in weights {
            let weight = weight / total;
            for (place, (&state, &token)) in path.iter().zip(&possible).enumerate() {
                match place {
                    0 => sum.initial[state] += weight,
                    _ => sum.transition[path[place - 1]][state] += weight,
                }
                if token != MISSING {
                    sum.emission[state][token as usize] += weight;
                }
            }
        }
    }
    sum
}

fn compare(found: &Statistics, wanted: &Enumerated, tolerance: f64) -> Result<(), TestCaseError> {
    let close = |name: &str, found: f64, wanted: f64| {
        prop_assert!((found - wanted).abs() <= tolerance, "{name}: {found} instead of {wanted}");
        Ok(())
    };
    prop_assert_eq!(found.impossible(), wanted.impossible);
    if wanted.impossible == 0 {
        close("log likelihood", found.log_likelihood(), wanted.log_likelihood)?;
    } else {
        prop_assert_eq!(found.log_likelihood(), f64::NEG_INFINITY);
    }
    for state in 0..wanted.initial.len() {
        close("initial", found.initial(state), wanted.initial[state])?;
        for to in 0..wanted.initial.len() {
            close("transition", found.transition(state, to), wanted.transition[state][to])?;
        }
        for (token, count) in wanted.emission[state].iter().enumerate() {
            close("emission", found.emission(state, token as Token), *count)?;
        }
    }
    Ok(())
}

fn count(model: &Parameters<f64>, all: &Sequences, lanes: usize) -> Statistics {
    let expectation = Expectation { lanes: some(lanes), ..Expectation::default() };
    expectation.statistics(model, all, 0..all.len()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn counts_are_those_of_all_paths(
        seed in any::<u64>(), states in 1_usize..=3, zeros in any::<bool>(), lanes in 1_usize..=4,
        texts in texts(4, 5, 4),
    ) {
        let model = parameters(states, 4, zeros, &mut rng(seed));
        let all = sequences(&texts);
        let wanted = enumerate(&model, &texts);
        let found = count(&model, &all, lanes);
        compare(&found, &wanted, 1e-9)?;
        prop_assert_eq!(found.sequences(), texts.len() as u64);
        prop_assert_eq!(found.positions(), all.tokens().len() as u64);
        let there = all.tokens().iter().filter(|token| **token != MISSING).count() as u64;
        prop_assert_eq!(found.tokens() + found.impossible(), there);

        let likelihood = Expectation::default().likelihood(&model, &all, 0..all.len()).unwrap();
        prop_assert_eq!(likelihood.log.is_finite(), wanted.impossible == 0);
        prop_assert!(wanted.impossible > 0 || (likelihood.log - wanted.log_likelihood).abs() < 1e-9);

        let found = Expectation::default().statistics(&narrow(&model), &all, 0..all.len()).unwrap();
        compare(&found, &wanted, 2e-4)?;
    }

    /// The independent filter of [`Belief`] gives the same likelihood for long texts.
    #[test]
    fn the_likelihood_is_that_of_the_filter(seed in any::<u64>(), texts in texts(6, 80, 5)) {
        let model = parameters(5, 6, false, &mut rng(seed));
        let hmm = model.to_hmm(Storage::F64, Storage::F64).unwrap();
        let mut wanted = 0.0;
        for text in &texts {
            let mut belief = Belief::start(&hmm);
            for &token in text {
                if token == MISSING { belief.observe_missing(&hmm) } else { belief.observe(&hmm, token); }
            }
            wanted += belief.log_likelihood();
        }
        let all = sequences(&texts);
        let found = count(&model, &all, 3).log_likelihood();
        prop_assert!((found - wanted).abs() < 1e-8, "{found} instead of {wanted}");
    }

    /// Dropped tokens are missing tokens, the same ones whatever the lanes and wherever a shard begins.
    #[test]
    fn dropped_is_missing(seed in any::<u64>(), step in 0_u32..5, cut in 0_usize..6, texts in texts(4, 6, 6)) {
        let model = parameters(3, 4, false, &mut rng(seed));
        let dropout = Dropout { probability: 0.4, seed, step, first: 0 };
        let with = |all: &Sequences, first: u64, lanes: usize| {
            let dropout = Some(Dropout { first, ..dropout });
            let expectation = Expectation { lanes: some(lanes), dropout, ..Expectation::default() };
            expectation.statistics(&model, all, 0..all.len()).unwrap()
        };
        let whole = with(&sequences(&texts), 0, 8);
        // What was dropped, found out one token at a time: its emission was not counted.
        let mut dropped = texts.clone();
        for (number, text) in texts.iter().enumerate() {
            for place in 0..text.len() {
                let mut only = vec![MISSING; text.len()];
                only[place] = text[place];
                if with(&sequences(&[only]), number as u64, 1).tokens() == 0 {
                    dropped[number][place] = MISSING;
                }
            }
        }
        compare(&whole, &enumerate(&model, &dropped), 1e-9)?;

        let cut = cut.min(texts.len());
        let mut parts = with(&sequences(&texts[..cut]), 0, 2);
        parts.merge(&with(&sequences(&texts[cut..]), cut as u64, 3)).unwrap();
        prop_assert_eq!(parts.tokens(), whole.tokens());
        prop_assert!((parts.log_likelihood() - whole.log_likelihood()).abs() < 1e-9);
    }
}

#[test]
fn dropout_drops_its_share_and_differs_by_step() {
    let model = parameters(2, 4, false, &mut rng(1));
    let texts: Vec<Vec<Token>> = vec![vec![0, 1, 2, 3, 0, 1, 2, 3]; 500];
    let tokens = |step: u32, seed: u64| {
        let dropout = Some(Dropout { probability: 0.25, seed, step, first: 0 });
        let expectation = Expectation { dropout, ..Expectation::default() };
        expectation.statistics(&model, &sequences(&texts), 0..500).unwrap()
    };
    let share = tokens(0, 9).tokens() as f64 / 4000.0;
    assert!((share - 0.75).abs() < 0.03, "{share} of the tokens are left");
    assert_ne!(tokens(0, 9), tokens(1, 9));
    assert_ne!(tokens(0, 9), tokens(0, 10));
    assert_eq!(tokens(3, 9), tokens(3, 9));
}

/// A state that the text rules out explains what follows incomparably better: nothing overflows, and nothing but
/// the certain path is counted.
#[test]
fn long_texts_against_the_grain_stay_finite() {
    let initial = vec![1.0_f32, 0.0];
    let transition = ndarray::array![[1.0_f32, 0.0], [0.0, 1.0]];
    let emission = ndarray::array![[1e-3_f32, 1.0], [0.999, 0.0]];
    let model = Parameters { initial, transition, emission };
    let all = sequences(&[vec![0; 400]]);
    let counts = Expectation::default().statistics(&model, &all, 0..1).unwrap();
    assert!((counts.log_likelihood() - 400.0 * 1e-3_f64.ln()).abs() < 0.01);
    assert!((counts.transition(0, 0) - 399.0).abs() < 1e-3);
    assert_eq!(counts.transition(1, 1), 0.0);
    assert!((counts.emission(0, 0) - 400.0).abs() < 1e-3);
}

/// Rounding does not add up over a long text: in 32 bits, too, every place is counted once.
#[test]
fn long_texts_do_not_drift() {
    let model = narrow(&parameters(40, 50, false, &mut rng(12)));
    let text: Vec<Token> = (0..20_000).map(|place| place * place % 47).collect();
    let all = sequences(&[text]);
    let counts = Expectation::default().statistics(&model, &all, 0..1).unwrap();
    let emitted: f64 = (0..50)
        .flat_map(|token| (0..40).map(move |state| (state, token)))
        .map(|(s, t)| counts.emission(s, t))
        .sum();
    let initial: f64 = (0..40).map(|state| counts.initial(state)).sum();
    assert!((emitted / 20_000.0 - 1.0).abs() < 1e-6, "{emitted} emissions");
    assert!((initial - 1.0).abs() < 1e-6, "{initial} first states");
}

#[test]
fn a_token_outside_the_vocabulary_is_named() {
    let model = parameters(2, 4, false, &mut rng(1));
    let all = sequences(&[vec![1, 2], vec![0, 4]]);
    let error = Expectation::default().statistics(&model, &all, 0..2).unwrap_err();
    assert_eq!(error.to_string(), "sequence 1, place 1: token 4 is outside the vocabulary of 4 tokens");
    assert!(Expectation::default().statistics(&model, &all, 0..1).is_ok());
}
