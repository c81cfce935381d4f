//! How far plain control and sequential Monte Carlo are from the exact conditional distribution:
//! `cargo run -p hmm-control --example unbiased`.
//!
//! The language model is a table over three tokens, small enough to enumerate every text of five. The hidden Markov model
//! has nothing to do with it. Seeds are fixed, so that the table is the same on each run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "an example of the laboratory")]

#[path = "../tests/particles/models.rs"]
mod models;
#[path = "../tests/control/support.rs"]
mod support;

use hmm_control::particles::{Guide, ParticleDecoding};
use hmm_control::{
    Attribute, ControlError, Controller, Edge, Grammar, Horizon, LanguageModel, Lookahead, Sampler, Storage,
    Token,
};
use models::{Mean, Pairs, Table, Target, Text, key, total_variation};
use std::collections::BTreeMap;

const VOCABULARY: usize = 3;
const LENGTH: usize = 5;
/// Texts of each row, in runs of as many as there are particles.
const TEXTS: usize = 1 << 19;
/// Populations whose own distance is averaged.
const SINGLE: usize = 1000;

/// The exact distribution of plain control: each next token is normalised on its own.
fn plain<G: Grammar>(model: &Table, guide: Option<Guide<'_>>, grammar: G) -> BTreeMap<Text, f64> {
    let mut waiting = vec![(Vec::<Token>::new(), grammar, 1.0)];
    let mut all = BTreeMap::new();
    while let Some((text, grammar, probability)) = waiting.pop() {
        if text.len() == LENGTH {
            all.insert((text, None), probability);
            continue;
        }
        let mut logits = [0.0; VOCABULARY];
        model.step(&mut model.start(), &text, &mut logits).unwrap();
        if let Some(Guide { controller, horizon, .. }) = guide {
            let mut progress = controller.lookahead().start();
            text.iter().for_each(|token| controller.lookahead().observe(&mut progress, *token));
            let remaining = horizon.remaining(text.len());
            match controller.adjust(&progress, remaining, &mut logits, grammar.mask()) {
                Err(ControlError::NothingAllowed) => continue,
                adjusted => adjusted.unwrap(),
            }
        }
        let is_allowed = |token: Token| grammar.mask().is_none_or(|mask| mask[0] >> token & 1 == 1);
        let mut kept = Sampler::new(1.0).unwrap().distribution(&logits);
        kept.retain(|(token, _)| is_allowed(*token));
        let sum: f64 = kept.iter().map(|(_, share)| share).sum();
        for (token, share) in kept {
            let (mut text, mut grammar) = (text.clone(), grammar.clone());
            text.push(token);
            grammar.advance(token);
            waiting.push((text, grammar, probability * share / sum));
        }
    }
    all
}

fn report<G: Grammar>(name: &str, model: &Table, guide: Option<Guide<'_>>, grammar: G) {
    let weights = Target {
        model,
        temperature: 1.0,
        attribute: guide.map(|guide| guide.controller.lookahead().attribute()),
        grammar: grammar.clone(),
        most_tokens: LENGTH,
        must_end: false,
        stop: &[],
    }
    .weights();
    let evidence: f64 = weights.values().sum();
    println!("| {name}, Z = {evidence:.4} | | | | | | | |");
    let distance = total_variation(&plain(model, guide, grammar.clone()), &weights);
    println!("| plain control, exactly | {distance:.4} | | | | | | |");
    for particles in [4, 16, 64, 256] {
        let decoding = ParticleDecoding {
            model,
            guide,
            sampler: Sampler::new(1.0).unwrap(),
            most_tokens: LENGTH,
            must_end: false,
            stop: &[],
            particles,
            resample_below: 0.5,
            lanes: particles,
            threads: 1,
        };
        let runs = TEXTS / particles;
        let mut means: BTreeMap<Text, Mean> = BTreeMap::new();
        let (mut single, mut z) = (Mean::default(), Mean::default());
        let (mut effective, mut ancestors, mut resamplings) =
            (Mean::default(), Mean::default(), Mean::default());
        for run in 0..runs {
            let population = decoding.run(&[], grammar.clone(), &mut support::rng(run as u64)).unwrap();
            let mut shares: BTreeMap<Text, f64> = BTreeMap::new();
            population.texts().iter().for_each(|text| *shares.entry(key(text)).or_default() += text.share);
            if run < SINGLE {
                single.add(total_variation(&shares, &weights));
            }
            shares.into_iter().for_each(|(text, share)| means.entry(text).or_default().add(share));
            z.add(population.log_evidence().exp());
            effective.add(population.effective_sample_size());
            ancestors.add(population.ancestors() as f64);
            resamplings.add(population.resamplings() as f64);
        }
        let found = means.iter().map(|(text, mean)| (text.clone(), mean.of(runs).0)).collect();
        let distance = total_variation(&found, &weights);
        // A distribution without bias would show this much: half of the mean absolute errors of a normal distribution.
        let errors: f64 = means.values().map(|mean| mean.of(runs).1).sum();
        let noise = errors * (2.0 / std::f64::consts::PI).sqrt() / 2.0;
        let ((z, z_error), single) = (z.of(runs), single.of(runs.min(SINGLE)).0);
        println!(
            "| {particles} particles | {distance:.4} | {noise:.4} | {single:.3} | {:.2} | {:.2} | {:.2} | {:+.1} |",
            effective.of(runs).0,
            ancestors.of(runs).0,
            resamplings.of(runs).0,
            (z - evidence) / z_error,
        );
    }
}

fn main() {
    println!(
        "| | total variation of a draw | its Monte Carlo error | of one population | effective sample size | ancestors | \
         resamplings | Z, standard errors |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let model = Table { seed: 1, vocabulary: VOCABULARY, end: None, spread: 3.0 };
    let rng = &mut support::rng(1);
    // Token 2 is unwanted, and so is token 1 after itself.
    let mut attribute = Attribute::builder(VOCABULARY);
    for state in 0..2 {
        attribute.state(Edge { to: 0, log_weight: 0.0 }, 0.0);
        attribute.edge(state, 1, Edge { to: 1, log_weight: -3.0 * state as f64 });
        attribute.edge(state, 2, Edge { to: 0, log_weight: -2.0 });
    }
    let attribute = attribute.build(0).unwrap();
    let hmm = support::hmm(3, VOCABULARY, Storage::F64, rng);
    let controller = Controller::new(Lookahead::new(hmm, attribute).unwrap(), 1.0).unwrap();
    let guide = |horizon| Some(Guide { controller: &controller, horizon, floor: 1e-6 });
    // Token 0 is never written twice in a row, nor token 2 after token 1, and only token 1 after token 2.
    let grammar = Pairs::new(vec![0b110, 0b011, 0b010, 0b111]);
    report("look-ahead", &model, guide(Horizon::Length(LENGTH)), ());
    report("window of 1", &model, guide(Horizon::Window(1)), ());
    report("mask", &model, None, grammar.clone());
    report("both", &model, guide(Horizon::Length(LENGTH)), grammar);
}
