//! The measures of quality, on models small enough to know the answer.

use hmm_control::quality::{
    Forecast, Line, candidates_needed, divergence, end_state, forecast, likelihood_plot, normalisation,
    quantile, reliability, top_tokens, usage,
};
use hmm_control::{Attribute, Belief, Hmm, Lookahead, Storage, Token};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn distribution(size: usize, rng: &mut impl Rng) -> Vec<f64> {
    let mut values: Vec<f64> = (0..size).map(|_| rng.random::<f64>().powi(3) + 1e-4).collect();
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
    values
}

fn random(states: usize, vocabulary: usize, storage: Storage, rng: &mut impl Rng) -> Hmm {
    let mut rows = |columns: usize| {
        let all = (0..states).flat_map(|_| distribution(columns, rng)).collect();
        Array2::from_shape_vec((states, columns), all).unwrap()
    };
    let (transition, emission) = (rows(states), rows(vocabulary));
    Hmm::new(&distribution(states, rng), transition.view(), emission.view(), storage).unwrap()
}

fn foretold(hmm: &Hmm, belief: &Belief) -> Vec<f64> {
    (0..hmm.vocabulary() as Token).map(|token| belief.log_probability(hmm, token).exp()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn divergence_is_its_definition(seed in any::<u64>(), read in proptest::collection::vec(0_u32..9, 0..6)) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let hmm = random(3, 9, Storage::F64, &mut rng);
        let mut belief = Belief::start(&hmm);
        for token in &read {
            belief.observe(&hmm, *token);
        }
        let (p, q) = (distribution(9, &mut rng), foretold(&hmm, &belief));
        // Logits may be off by any constant.
        let logits: Vec<f32> = p.iter().map(|p| (p.ln() + 17.0) as f32).collect();
        let found = divergence(&logits, &hmm, &belief);
        let nats: f64 = p.iter().zip(&q).map(|(p, q)| p * (p / q).ln()).sum();
        let entropy: f64 = -p.iter().map(|p| p * p.ln()).sum::<f64>();
        let apart: f64 = p.iter().zip(&q).map(|(p, q)| (p - q).abs() / 2.0).sum();
        prop_assert!((found.nats - nats).abs() < 1e-5);
        prop_assert!((found.entropy - entropy).abs() < 1e-5);
        prop_assert!((found.total_variation - apart).abs() < 1e-5);
        let itself: Vec<f32> = q.iter().map(|q| q.ln() as f32).collect();
        prop_assert!(divergence(&itself, &hmm, &belief).nats.abs() < 1e-5);
    }

    #[test]
    fn needed_candidates_are_the_fewest(seed in any::<u64>(), at_most in 0.0001_f64..0.5) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let hmm = random(3, 12, Storage::F64, &mut rng);
        let weights: Vec<(Token, f64)> = (0..6).map(|token| (token, -4.0 * rng.random::<f64>())).collect();
        let lookahead = Lookahead::new(hmm, Attribute::from_weights(12, weights).unwrap()).unwrap();
        let mut progress = lookahead.start();
        lookahead.observe(&mut progress, 3);
        let p = distribution(12, &mut rng);
        let logits: Vec<f32> = p.iter().map(|p| p.ln() as f32).collect();
        let needed = candidates_needed(&lookahead, &progress, 4, &logits, at_most);
        let mut log_phi = vec![0.0; 12];
        lookahead.score_all(&progress, 4, &mut log_phi);
        let mut tokens: Vec<usize> = (0..12).collect();
        let most = |token: usize| p[token] * lookahead.bound(&progress, 4, token as Token).exp();
        let mass = |token: usize| p[token] * log_phi[token].exp();
        tokens.sort_by(|a, b| most(*b).total_cmp(&most(*a)));
        let share = |kept: usize, of: &dyn Fn(usize) -> f64| {
            let left: f64 = tokens[kept..].iter().map(|token| of(*token)).sum();
            left / (left + tokens[..kept].iter().map(|token| mass(*token)).sum::<f64>())
        };
        let fewest = |of: &dyn Fn(usize) -> f64| (0..=12).find(|kept| share(*kept, of) <= at_most).unwrap();
        prop_assert_eq!(needed.certified, fewest(&most));
        prop_assert_eq!(needed.enough, fewest(&mass));
        prop_assert!(needed.enough <= needed.certified);
    }

    #[test]
    fn top_tokens_are_the_largest(seed in any::<u64>(), count in 0_usize..6) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let hmm = random(4, 10, Storage::F64, &mut rng);
        let tops = top_tokens(&hmm, count);
        for (state, top) in tops.iter().enumerate() {
            let mut all: Vec<(Token, f64)> = (0..10).map(|token| {
                let mut row = [0.0; 4];
                hmm.read_emission(token, &mut row);
                (token, row[state])
            }).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.truncate(count);
            prop_assert_eq!(top, &all);
        }
    }
}

#[test]
fn what_is_impossible_to_one_model_is_infinitely_far() {
    let hmm = Hmm::new(&[1.0], array![[1.0]].view(), array![[0.5, 0.5, 0.0]].view(), Storage::F64).unwrap();
    let belief = Belief::start(&hmm);
    assert_eq!(divergence(&[0.0, 0.0, 0.0], &hmm, &belief).nats, f64::INFINITY);
    let forbidden = divergence(&[0.0, 0.0, f32::NEG_INFINITY], &hmm, &belief);
    assert!(forbidden.nats.abs() < 1e-12 && (forbidden.entropy - 2_f64.ln()).abs() < 1e-12);
}

#[test]
fn no_candidate_is_needed_where_nothing_may_follow() {
    let hmm = random(2, 4, Storage::F32, &mut ChaCha8Rng::seed_from_u64(1));
    let all = (0..4).map(|token| (token, f64::NEG_INFINITY));
    let lookahead = Lookahead::new(hmm, Attribute::from_weights(4, all).unwrap()).unwrap();
    let needed = candidates_needed(&lookahead, &lookahead.start(), 2, &[0.0; 4], 1e-3);
    assert_eq!((needed.certified, needed.enough), (0, 0));
}

/// Draws from a hidden Markov model, without its library.
fn write(hmm: &Hmm, belief: &Belief, longest: usize, rng: &mut impl Rng) -> Vec<Token> {
    let mut belief = belief.clone();
    let mut text = Vec::new();
    for _ in 0..longest {
        let mut rest = rng.random::<f64>();
        let probabilities = foretold(hmm, &belief);
        let token = probabilities.iter().position(|p| {
            rest -= p;
            rest < 0.0
        });
        text.push(token.unwrap_or(0) as Token);
        belief.observe(hmm, text[text.len() - 1]);
    }
    text
}

#[test]
fn what_the_model_itself_writes_keeps_its_promises() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let hmm = random(3, 6, Storage::F64, &mut rng);
    let attribute = Attribute::from_phrases(6, &[(vec![0], -0.7), (vec![1, 2], f64::NEG_INFINITY)]).unwrap();
    let lookahead = Lookahead::new(hmm.clone(), attribute).unwrap();
    let horizons = [1, 2, 5];
    let mut forecasts = vec![Vec::new(); horizons.len()];
    for text in [&[][..], &[1], &[3, 3], &[5, 0, 2]] {
        let mut progress = lookahead.start();
        text.iter().for_each(|token| lookahead.observe_prompt(&mut progress, *token));
        let belief = progress.belief.clone();
        let found = forecast(&lookahead, &progress, &horizons, 4000, |longest| {
            assert_eq!(longest, 5);
            write(&hmm, &belief, longest, &mut rng)
        });
        for (all, one) in forecasts.iter_mut().zip(found) {
            assert!((one.sampled - one.predicted).abs() < 5.0 * one.variance.sqrt(), "{one:?}");
            assert!(one.sampled > 0.1 && one.variance > 0.0, "{one:?}");
            all.push(one);
        }
    }
    assert!(forecasts[2][0].predicted < forecasts[0][0].predicted);
    let summed = reliability(&forecasts[2], 2);
    assert_eq!(summed.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [2, 2]);
    assert!(summed.root_mean_square < 0.02 && summed.explained.unwrap() > 0.8, "{summed:?}");
}

#[test]
fn reliability_tells_bias_from_chance() {
    let one = |predicted: f64, sampled: f64| Forecast { predicted, sampled, variance: 0.0 };
    let forecasts: Vec<Forecast> =
        (0..100).map(|at| one(f64::from(at) / 200.0, f64::from(at) / 200.0 + 0.1)).collect();
    // In any order.
    let forecasts: Vec<Forecast> = (0..100).map(|at| forecasts[at * 37 % 100]).collect();
    let found = reliability(&forecasts, 10);
    assert_eq!(found.bins.len(), 10);
    assert!((found.bias - 0.1).abs() < 1e-12 && (found.calibration_error - 0.1).abs() < 1e-12);
    assert!((found.root_mean_square - 0.1).abs() < 1e-12);
    assert!((found.bins[0].predicted - 0.0225).abs() < 1e-12);
    // By what was promised, not by what came.
    let crossed = [one(0.1, 0.9), one(0.9, 0.1)];
    assert_eq!(reliability(&crossed, 2).bins[0].predicted, 0.1);
    // Right on average and no more: the mean explains nothing.
    let flat: Vec<Forecast> = (0..100).map(|at| one(0.5, f64::from(at % 2))).collect();
    assert!(reliability(&flat, 10).explained.unwrap().abs() < 1e-12);
    // All of the difference is chance.
    let noise: Vec<Forecast> = (0..100)
        .map(|at| Forecast { predicted: 0.5, sampled: 0.4 + 0.2 * f64::from(at % 2), variance: 0.01 })
        .collect();
    let found = reliability(&noise, 10);
    assert!(found.root_mean_square < 1e-6 && found.explained.is_none(), "{found:?}");
}

#[test]
fn usage_is_the_stationary_distribution() {
    let emission = array![[0.5, 0.5], [0.1, 0.9]];
    let hmm =
        Hmm::new(&[1.0, 0.0], array![[0.9, 0.1], [0.2, 0.8]].view(), emission.view(), Storage::F64).unwrap();
    let found = usage(&hmm, None, 1000);
    assert!(found.settled && (found.share[0] - 2.0 / 3.0).abs() < 1e-5, "{found:?}");
    assert!((found.second_eigenvalue - 0.7).abs() < 1e-9, "{found:?}");
    let entropy = 3_f64.ln() - 2_f64.ln() * 2.0 / 3.0;
    assert!((found.effective - entropy.exp()).abs() < 1e-5);
    // So do the shares of a model whose storage rounds, and whose sums are not quite 1.
    let rounded = usage(&hmm.to_storage(Storage::Bits8, Storage::F32).unwrap(), None, 1000);
    assert!(rounded.settled && (rounded.share.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{rounded:?}");
    // States in turns settle too, and never forget where they began.
    let turns = array![[0.0, 1.0], [1.0, 0.0]];
    let hmm = Hmm::new(&[1.0, 0.0], turns.view(), emission.view(), Storage::F64).unwrap();
    let found = usage(&hmm, None, 1000);
    assert!(
        found.settled && (found.share[0] - 0.5).abs() < 1e-5 && (found.second_eigenvalue - 1.0).abs() < 1e-9
    );
}

#[test]
fn what_has_ended_begins_again() {
    // Three tokens in state 0 on average, then state 1 once, then the end.
    let transition = array![[2.0 / 3.0, 1.0 / 3.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
    let emission = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let hmm = Hmm::new(&[1.0, 0.0, 0.0], transition.view(), emission.view(), Storage::F64).unwrap();
    let end = end_state(&hmm, 2).unwrap();
    assert_eq!((end.state, end.emits, end.stays, end.others), (2, 1.0, 1.0, 0.0));
    let found = usage(&hmm, Some(2), 1000);
    assert!(found.settled && found.share[2] == 0.0, "{found:?}");
    assert!((found.share[0] - 0.75).abs() < 1e-5 && (found.share[1] - 0.25).abs() < 1e-5, "{found:?}");
    assert_eq!(end_state(&hmm, 7), None);
    // Not by the convention, but told apart all the same; and of equally likely tokens the first comes first.
    let leaky = array![[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.1, 0.0, 0.9]];
    let leaky = Hmm::new(&[1.0, 0.0, 0.0], transition.view(), leaky.view(), Storage::F64).unwrap();
    let end = end_state(&leaky, 2).unwrap();
    assert_eq!((end.state, end.emits, end.others), (2, 0.9, 0.2));
    assert_eq!(top_tokens(&leaky, 2)[1], [(0, 0.4), (1, 0.4)]);
}

#[test]
fn normalisation_is_what_the_storage_rounds() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let exact = random(8, 50, Storage::F64, &mut rng);
    let found = normalisation(&exact);
    assert!(found.transition < 1e-12 && found.emission < 1e-12);
    let rounded = normalisation(&exact.to_storage(Storage::F64, Storage::Bits8).unwrap());
    assert!(rounded.transition < 1e-12 && rounded.emission > 1e-6, "{rounded:?}");
}

#[test]
fn quantiles_are_values() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!([0.0, 0.5, 0.9, 1.0].map(|share| quantile(&values, share).unwrap()), [1.0, 3.0, 5.0, 5.0]);
    assert_eq!(quantile(&values[..4], 0.4), Some(2.0));
    assert_eq!(quantile(&[], 0.5), None);
}

#[test]
fn the_plot_shows_every_line_within_the_picture() {
    let lines = [
        Line { name: "training <a&b>".into(), points: vec![(1.0, -9.5), (2.0, f64::NAN), (3.0, -7.0)] },
        Line { name: "held out".into(), points: vec![(1.0, -9.0), (3.0, -7.25)] },
        Line { name: "nothing".into(), points: vec![] },
    ];
    let svg = likelihood_plot("nats per token", &lines);
    assert!(svg.contains("training &lt;a&amp;b&gt;") && !svg.contains("NaN"));
    // Two curves and three entries of the legend; the empty curve is not drawn.
    assert_eq!(svg.matches("stroke-width=\"2\"").count(), 5);
    // The first line goes from the lower left to the upper right.
    assert!(svg.contains("points=\"72,347 627,12 \""), "{svg}");
    assert!(svg.contains("\n-7.0\n"), "{svg}");
    assert!(likelihood_plot("x", &[]).ends_with("</svg>\n"));
    let flat = Line { name: "one".into(), points: vec![(1.0, -3.0)] };
    assert!(!likelihood_plot("x", &[flat]).contains("NaN"));
}
