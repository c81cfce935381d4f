//! The weighted texts against the exact conditional distribution.

use crate::models::{Mean, Pairs, Table, Target, Text, key, total_variation};
use crate::support::{HmmModel, attribute, hmm, rng};
use hmm_control::particles::{Guide, ParticleDecoding, ParticleError, Population};
use hmm_control::{
    Attribute, ClausePolicy, Controller, Decoding, Edge, Grammar, Hmm, Horizon, LanguageModel, Lookahead,
    RateMeter, Sampler, Scored, Storage, Token,
};
use std::collections::BTreeMap;

/// The particles of most tests: few, so that a bias that shrinks with their number would show.
const PARTICLES: usize = 6;
const RUNS: usize = 8000;
/// Texts with fewer expected particles in all runs are counted together.
const FEWEST: f64 = 150.0;
/// The largest distance in standard errors, over all texts of all cases (some 700: the chance is below 1e-3).
const FARTHEST: f64 = 5.0;

pub fn decoding<'a, M>(
    model: &'a M,
    guide: Option<Guide<'a>>,
    most_tokens: usize,
) -> ParticleDecoding<'a, M> {
    ParticleDecoding {
        model,
        guide,
        sampler: Sampler::new(1.0).unwrap(),
        most_tokens,
        must_end: false,
        stop: &[],
        particles: PARTICLES,
        resample_below: 0.7,
        lanes: 100,
        threads: 1,
    }
}

/// A look-ahead of a random hidden Markov model that has nothing to do with the language model.
pub fn stranger(seed: u64, vocabulary: usize, states: usize) -> Lookahead {
    let rng = &mut rng(seed);
    let attribute = attribute(vocabulary, states, rng);
    Lookahead::new(hmm(3, vocabulary, Storage::F64, rng), attribute).unwrap()
}

fn run<M: LanguageModel>(
    decoding: &ParticleDecoding<'_, M>,
    grammar: impl Grammar,
    seed: u64,
) -> Option<Population> {
    match decoding.run(&[], grammar, &mut rng(seed)) {
        Ok(population) => Some(population),
        Err(ParticleError::Extinct { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn target<'a, M: LanguageModel, G: Grammar>(
    decoding: &ParticleDecoding<'a, M>,
    grammar: G,
    temperature: f64,
) -> Target<'a, M, G> {
    Target {
        model: decoding.model,
        temperature,
        attribute: decoding.guide.map(|guide| guide.controller.lookahead().attribute()),
        grammar,
        most_tokens: decoding.most_tokens,
        must_end: decoding.must_end,
        stop: decoding.stop,
    }
}

/// The distances in standard errors between the mean of `exp(log_evidence) * share` and `p(x) a(x)`, by text, and that of
/// the evidence. This product is unbiased for any number of particles.
fn distances<M: LanguageModel, G: Grammar>(
    decoding: &ParticleDecoding<'_, M>,
    grammar: &G,
    weights: &BTreeMap<Text, f64>,
) -> (Vec<f64>, f64) {
    let evidence: f64 = weights.values().sum();
    let is_common = |weight: f64| weight / evidence * (RUNS * PARTICLES) as f64 > FEWEST;
    let (mut means, mut rest, mut total): (BTreeMap<&Text, Mean>, _, _) =
        (BTreeMap::new(), Mean::default(), Mean::default());
    for seed in 0..RUNS as u64 {
        let (mut found, mut rare, mut sum) = (BTreeMap::new(), 0.0, 0.0);
        if let Some(population) = run(decoding, grammar.clone(), seed) {
            sum = population.log_evidence().exp();
            for text in population.texts() {
                let text_key = key(text);
                let weight = *weights.get(&text_key).expect("a text of weight 0 has no share");
                match is_common(weight) {
                    true => *found.entry(text_key).or_insert(0.0) += text.share * sum,
                    false => rare += text.share * sum,
                }
            }
        }
        for (text, weight) in weights {
            if is_common(*weight) {
                means.entry(text).or_default().add(found.get(text).copied().unwrap_or(0.0));
            }
        }
        rest.add(rare);
        total.add(sum);
    }
    let mut apart: Vec<f64> = means.iter().map(|(text, mean)| mean.apart(weights[*text], RUNS)).collect();
    let rare: f64 = weights.values().filter(|weight| !is_common(**weight)).sum();
    if rare / evidence * (RUNS * PARTICLES) as f64 > FEWEST {
        apart.push(rest.apart(rare, RUNS));
    }
    (apart, total.apart(evidence, RUNS))
}

/// The errors are as large as their standard errors say.
#[track_caller]
fn assert_unbiased<M: LanguageModel>(
    name: &str,
    decoding: &ParticleDecoding<'_, M>,
    grammar: &impl Grammar,
    temperature: f64,
) {
    let weights = target(decoding, grammar.clone(), temperature).weights();
    let (apart, evidence) = distances(decoding, grammar, &weights);
    let farthest = apart.iter().copied().fold(0.0, f64::max);
    let spread = apart.iter().map(|apart| apart * apart).sum::<f64>() / apart.len() as f64;
    println!(
        "{name}: {} texts, {} compared, farthest {farthest:.2}, spread {spread:.2}, Z {evidence:.2}",
        weights.len(),
        apart.len()
    );
    assert!(apart.len() >= 10, "{name}: {} texts are compared", apart.len());
    assert!(farthest < FARTHEST, "{name}: {farthest} standard errors");
    assert!(evidence < 4.0, "{name}: the evidence is {evidence} standard errors away");
    // Neither smaller nor larger: a chi-square statistic by its degrees of freedom, wide for few texts.
    let width = 6.0 * (2.0 / apart.len() as f64).sqrt();
    assert!((1.0 - width..1.0 + width).contains(&spread), "{name}: {spread}");
}

#[test]
fn a_look_ahead_alone_is_unbiased() {
    let model = Table { seed: 1, vocabulary: 4, end: None, spread: 3.0 };
    for (seed, strength, horizon) in [
        (1, 1.0, Horizon::Length(5)),
        (2, 1.0, Horizon::Window(1)),
        (3, 2.0, Horizon::Length(5)),
        (6, 0.0, Horizon::Window(50)),
    ] {
        let controller = Controller::new(stranger(seed, 4, 2), strength).unwrap();
        let guide = Guide { controller: &controller, horizon, floor: 1e-6 };
        assert_unbiased(
            &format!("strength {strength}, {horizon:?}"),
            &decoding(&model, Some(guide), 5),
            &(),
            1.0,
        );
    }
}

#[test]
fn a_mask_alone_and_with_a_look_ahead_is_unbiased() {
    let model = Table { seed: 2, vocabulary: 4, end: None, spread: 3.0 };
    let grammar = Pairs::random(4, &mut rng(7));
    assert_unbiased("mask", &decoding(&model, None, 5), &grammar, 1.0);
    let controller = Controller::new(stranger(5, 4, 3), 1.0).unwrap();
    for horizon in [Horizon::Length(5), Horizon::Window(2)] {
        let guide = Guide { controller: &controller, horizon, floor: 1e-6 };
        assert_unbiased(&format!("both, {horizon:?}"), &decoding(&model, Some(guide), 5), &grammar, 1.0);
    }
}

#[test]
fn ends_of_the_text_are_weighed_as_a_part_of_it() {
    let model = Table { seed: 3, vocabulary: 4, end: Some(3), spread: 1.5 };
    // Ending is weighed, too: a text that ends in another state than the first has a lower weight.
    let mut builder = Attribute::builder(4);
    builder.state(Edge { to: 0, log_weight: -0.1 }, 0.0);
    builder.state(Edge { to: 1, log_weight: -0.4 }, -1.5);
    builder.edge(0, 1, Edge { to: 1, log_weight: 0.0 });
    builder.edge(1, 2, Edge { to: 0, log_weight: -0.2 });
    builder.edge(1, 3, Edge { to: 1, log_weight: -0.7 });
    let hmm = hmm(3, 4, Storage::F64, &mut rng(11));
    let lookahead = Lookahead::new(hmm, builder.build(0).unwrap()).unwrap();
    let controller = Controller::new(lookahead, 1.0).unwrap();
    let guide = Guide { controller: &controller, horizon: Horizon::Length(5), floor: 1e-6 };
    let plain = decoding(&model, Some(guide), 5);
    assert_unbiased("end token", &plain, &(), 1.0);
    let must_end = ParticleDecoding { must_end: true, ..decoding(&model, Some(guide), 5) };
    assert_unbiased("must end", &must_end, &(), 1.0);
    // A text ends at token 2 or 3; token 0 is never written twice in a row.
    let grammar = Pairs::new(vec![0b1110, 0b1111, 0, 0, 0b0111]);
    let stopped = ParticleDecoding { stop: &[2], must_end: true, ..decoding(&model, None, 6) };
    assert_unbiased("stop token and mask", &stopped, &grammar, 1.0);
}

#[test]
fn the_samplers_distribution_is_the_one_that_is_conditioned() {
    let model = Table { seed: 4, vocabulary: 4, end: Some(0), spread: 1.5 };
    let controller = Controller::new(stranger(21, 4, 2), 1.0).unwrap();
    let guide = Guide { controller: &controller, horizon: Horizon::Length(5), floor: 1e-6 };
    let sampler = Sampler::new(0.7).unwrap();
    assert_unbiased(
        "temperature",
        &ParticleDecoding { sampler, ..decoding(&model, Some(guide), 5) },
        &(),
        0.7,
    );
}

/// The positive control: without weights the same guidance misses by far what the weights meet.
#[test]
fn guidance_without_weights_is_biased() {
    let model = Table { seed: 1, vocabulary: 4, end: None, spread: 3.0 };
    let controller = Controller::new(stranger(1, 4, 2), 1.0).unwrap();
    let guide = Guide { controller: &controller, horizon: Horizon::Length(5), floor: 1e-6 };
    let decoding = decoding(&model, Some(guide), 5);
    let weights = target(&decoding, (), 1.0).weights();
    let evidence: f64 = weights.values().sum();
    let mut means: BTreeMap<&Text, Mean> = weights.keys().map(|text| (text, Mean::default())).collect();
    let runs = RUNS * PARTICLES;
    let rng = &mut rng(5);
    for _ in 0..runs {
        let (mut progress, mut state, mut text) = (controller.lookahead().start(), model.start(), Vec::new());
        let mut logits = [0.0; 4];
        model.step(&mut state, &[], &mut logits).unwrap();
        for generated in 0..5 {
            let remaining = guide.horizon.remaining(generated);
            controller.adjust(&progress, remaining, &mut logits, None).unwrap();
            let token = decoding.sampler.draw(&logits, rng).unwrap();
            controller.lookahead().observe(&mut progress, token);
            model.step(&mut state, &[token], &mut logits).unwrap();
            text.push(token);
        }
        let found = (text, None);
        means.iter_mut().for_each(|(text, mean)| mean.add(f64::from(u8::from(**text == found))));
    }
    let common = weights.iter().filter(|(_, weight)| **weight / evidence * runs as f64 > FEWEST);
    let apart: Vec<f64> = common.map(|(text, weight)| means[text].apart(weight / evidence, runs)).collect();
    let farthest = apart.iter().copied().fold(0.0, f64::max);
    let spread = apart.iter().map(|apart| apart * apart).sum::<f64>() / apart.len() as f64;
    println!("without weights: farthest {farthest:.1}, spread {spread:.1}");
    assert!(farthest > 4.0 * FARTHEST && spread > 20.0, "{farthest} {spread}");
}

/// With the language model's own hidden Markov model and the whole text as the horizon nothing is left to weigh.
#[test]
fn the_exact_look_ahead_makes_all_weights_equal() {
    for seed in 0..6 {
        let rng = &mut rng(seed);
        let hmm = hmm(3, 5, Storage::F64, rng);
        // After an end nothing counts, so that the expectation past it is the text's own weight.
        let (end, attribute) = match seed % 2 {
            0 => (None, attribute(5, 2, rng)),
            _ => (Some(4), attribute(5, 2, rng).ended_by(4).unwrap()),
        };
        let lookahead = Lookahead::new(hmm.clone(), attribute).unwrap();
        let expected = lookahead.expectation(&lookahead.start(), 6);
        let controller = Controller::new(lookahead, 1.0).unwrap();
        let model = HmmModel { hmm, end };
        let guide = Guide { controller: &controller, horizon: Horizon::Length(6), floor: 0.0 };
        let decoding =
            ParticleDecoding { particles: 50, resample_below: 0.999, ..decoding(&model, Some(guide), 6) };
        let population = decoding.run(&[], (), rng).unwrap();
        assert!((population.log_evidence() - expected).abs() < 1e-5, "{seed}: {expected} {population:?}");
        assert!(population.steps().iter().all(|step| step.effective_sample_size > 50.0 - 1e-6));
        assert_eq!((population.resamplings(), population.ancestors()), (0, 50));
        assert_eq!(population.texts().len(), 50);
        assert!(population.effective_sample_size() > 50.0 - 1e-6);
    }
}

#[test]
fn without_guide_and_grammar_the_texts_are_the_models_own() {
    let model = Table { seed: 6, vocabulary: 3, end: None, spread: 2.0 };
    let decoding = decoding(&model, None, 4);
    assert_unbiased("neither", &decoding, &(), 1.0);
    let population = decoding.run(&[1], (), &mut rng(1)).unwrap();
    assert!((population.effective_sample_size() - PARTICLES as f64).abs() < 1e-9);
    assert!(population.log_evidence().abs() < 1e-9);
}

/// An attribute that a later token has to fulfil, which a short window holds impossible at the beginning.
#[test]
fn a_floor_keeps_what_the_window_holds_impossible() {
    let mut builder = Attribute::builder(3);
    builder.state(Edge { to: 0, log_weight: 0.0 }, f64::NEG_INFINITY);
    builder.state(Edge { to: 1, log_weight: 0.0 }, 0.0);
    builder.edge(0, 2, Edge { to: 1, log_weight: 0.0 });
    let hmm = hmm(2, 3, Storage::F64, &mut rng(31));
    let lookahead = Lookahead::new(hmm, builder.build(0).unwrap()).unwrap();
    let controller = Controller::new(lookahead, 1.0).unwrap();
    let model = Table { seed: 7, vocabulary: 3, end: None, spread: 1.5 };
    let guide = |floor| Guide { controller: &controller, horizon: Horizon::Window(0), floor };
    assert_unbiased("floor", &decoding(&model, Some(guide(0.2)), 4), &(), 1.0);
    // The control: zeros that are trusted lose every text whose first token is another one.
    let trusting = decoding(&model, Some(guide(0.0)), 4);
    let weights = target(&trusting, (), 1.0).weights();
    let (apart, evidence) = distances(&trusting, &(), &weights);
    assert!(evidence > 20.0 && apart.iter().any(|apart| *apart > 20.0), "{evidence} {apart:?}");
}

/// The same for a hidden Markov model that never writes a token after another, where the language model does.
#[test]
fn a_floor_keeps_what_the_hidden_markov_model_holds_impossible() {
    let (transition, emission) =
        (ndarray::array![[1.0, 0.0], [0.0, 1.0]], ndarray::array![[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]);
    let hmm = Hmm::new(&[0.5, 0.5], transition.view(), emission.view(), Storage::F64).unwrap();
    // The last token has to be token 2.
    let mut builder = Attribute::builder(3);
    builder.state(Edge { to: 0, log_weight: 0.0 }, f64::NEG_INFINITY);
    builder.state(Edge { to: 0, log_weight: 0.0 }, 0.0);
    (0..2).for_each(|state| builder.edge(state, 2, Edge { to: 1, log_weight: 0.0 }));
    let controller = Controller::new(Lookahead::new(hmm, builder.build(0).unwrap()).unwrap(), 1.0).unwrap();
    let model = Table { seed: 8, vocabulary: 3, end: None, spread: 1.5 };
    let guide = |floor| Guide { controller: &controller, horizon: Horizon::Length(4), floor };
    assert_unbiased("floor, zeros", &decoding(&model, Some(guide(0.1)), 4), &(), 1.0);
    let trusting = decoding(&model, Some(guide(0.0)), 4);
    let weights = target(&trusting, (), 1.0).weights();
    assert!(distances(&trusting, &(), &weights).1 > 20.0);
}

/// One population of many particles is near the exact distribution, and nearer than one of few.
#[test]
fn a_population_approaches_the_exact_distribution() {
    let model = Table { seed: 1, vocabulary: 3, end: None, spread: 3.0 };
    let controller = Controller::new(stranger(1, 3, 2), 1.0).unwrap();
    let guide = Guide { controller: &controller, horizon: Horizon::Length(4), floor: 1e-6 };
    let distance = |particles| {
        let decoding = ParticleDecoding { particles, ..decoding(&model, Some(guide), 4) };
        let weights = target(&decoding, (), 1.0).weights();
        let mean = |sum: f64, seed| {
            let mut found = BTreeMap::new();
            let population = run(&decoding, (), seed).unwrap();
            for text in population.texts() {
                *found.entry(key(text)).or_insert(0.0) += text.share;
            }
            sum + total_variation(&found, &weights) / 20.0
        };
        (0..20).fold(0.0, mean)
    };
    let distances = [16, 256, 4096].map(distance);
    println!("{distances:?}");
    // By the root of the number of particles: a quarter at each step.
    for pair in distances.windows(2) {
        assert!((0.15..0.4).contains(&(pair[1] / pair[0])), "{distances:?}");
    }
}

/// One particle writes what the decode loop writes.
#[test]
fn one_particle_is_plain_controlled_decoding() {
    let model = Table { seed: 9, vocabulary: 5, end: None, spread: 3.0 };
    let controller = Controller::new(stranger(9, 5, 3), 1.5).unwrap();
    let horizon = Horizon::Length(12);
    let guide = Guide { controller: &controller, horizon, floor: 0.0 };
    let particles = ParticleDecoding { particles: 1, ..decoding(&model, Some(guide), 12) };
    let plain = Decoding {
        model: &model,
        controller: &controller,
        horizon,
        scored: Scored::All,
        meter: &RateMeter::new(controller.lookahead().clone(), 4),
        policy: &ClausePolicy::new(0.0, "none"),
        sampler: Sampler::new(1.0).unwrap(),
        read_token: |_: Token, bytes: &mut Vec<u8>| bytes.push(b'a'),
        most_tokens: 12,
        stop: &[],
    };
    for seed in 0..100 {
        let wanted = plain.generate(&[1, 3], (), &mut rng(seed), |_| {}).unwrap();
        let found = particles.run(&[1, 3], (), &mut rng(seed)).unwrap();
        assert_eq!(found.texts()[0].tokens, wanted.tokens, "{seed}");
        assert_eq!(found.effective_sample_size(), 1.0);
    }
}
