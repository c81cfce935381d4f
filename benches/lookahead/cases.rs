//! The steps that are timed.

use crate::clock::{Case, Times, interleave, once};
use crate::naive::Naive;
use crate::{machine, model};
use hmm_control::{Belief, Constraint, Hmm, Lookahead, Storage, Token};
use ndarray::Array1;
use std::hint::black_box;

const ROUNDS: usize = 7;
const HORIZON: usize = 20;
const STORAGES: [Storage; 4] = [Storage::F32, Storage::F16, Storage::Bf16, Storage::Bits8];

fn emission_bytes(hmm: &Hmm) -> f64 {
    hmm.emission().bytes().len() as f64
}

fn transition_bytes(hmm: &Hmm) -> f64 {
    hmm.transition().bytes().len() as f64
}

fn print(cases: &[Case<'_>], times: &[Times], bandwidth: f64, naive: Option<f64>) {
    for (case, times) in cases.iter().zip(times) {
        let (median, least) = (times.cpu_median(), times.cpu_least());
        let share = case.bytes / case.share;
        let reached = share / (median * 1e6) / bandwidth * 100.0;
        let ratio = naive.map_or(String::new(), |naive| format!("{:>7.1}x", naive / median));
        println!(
            "  {:<52} {median:>9.2} {least:>9.2} {:>9.2} {:>8.1} {reached:>5.0} % {ratio}",
            case.name,
            times.wall_median(),
            share / 1e6,
        );
    }
}

pub fn run(states: usize, vocabulary: usize, bandwidth: f64, words: &[String]) {
    println!("\nrandom normalised model, h = {states}, V = {vocabulary}; load average {}", machine::load());
    let base = model::random(states, vocabulary);
    println!(
        "  {:<52} {:>9} {:>9} {:>9} {:>8} {:>7}",
        "", "CPU ms", "least", "wall ms", "MB read", "of mem."
    );
    let models: Vec<Hmm> =
        STORAGES.iter().map(|storage| base.to_storage(*storage, *storage).unwrap()).collect();
    let mut cases = Vec::new();
    for (hmm, storage) in models.iter().zip(STORAGES) {
        steps(hmm, storage, &mut cases);
    }
    cases.retain(|case| words.is_empty() || words.iter().any(|word| case.name.contains(word)));
    let times = interleave(&mut cases, ROUNDS);
    print(&cases, &times, bandwidth, None);
}

fn candidates(vocabulary: usize, count: usize) -> Vec<Token> {
    (0..count).map(|place| (place * 7919 % vocabulary) as Token).collect()
}

fn steps<'a>(hmm: &'a Hmm, storage: Storage, cases: &mut Vec<Case<'a>>) {
    let vocabulary = hmm.vocabulary();
    let lookahead = Lookahead::new(hmm.clone(), model::classifier(vocabulary)).unwrap();
    lookahead.prepare(HORIZON);
    let mut progress = lookahead.start();
    [11, 222, 3333].iter().for_each(|token| lookahead.observe(&mut progress, *token));
    let (shared, started) = (lookahead.clone(), progress.clone());
    let mut out = vec![0.0; vocabulary];
    cases.push(Case::new(format!("full vocabulary, {storage}"), emission_bytes(hmm), move || {
        shared.score_all(&started, HORIZON - 4, &mut out);
        black_box(&out);
    }));
    for count in [200, 1000] {
        let (shared, started) = (lookahead.clone(), progress.clone());
        let tokens = candidates(vocabulary, count);
        let mut out = vec![0.0; count];
        let bytes = transition_bytes(hmm) + emission_bytes(hmm) / vocabulary as f64 * count as f64;
        cases.push(Case::new(
            format!("{count} candidates and the transition, {storage}"),
            bytes,
            move || {
                let mut progress = started.clone();
                shared.observe(&mut progress, 44);
                shared.score(&progress, HORIZON - 5, &tokens, &mut out);
                black_box(&out);
            },
        ));
    }
    let mut belief: Belief = progress.belief;
    cases.push(Case::new(format!("transition alone, {storage}"), transition_bytes(hmm), move || {
        belief.observe(hmm, 55);
    }));
    let classifier = model::classifier(vocabulary);
    let weighted = classifier.exceptions(0).len() as f64 / vocabulary as f64;
    let bytes = emission_bytes(hmm) * weighted + transition_bytes(hmm) * HORIZON as f64;
    cases.push(Case::new(format!("new attribute, horizon {HORIZON}, {storage}"), bytes, move || {
        let lookahead = Lookahead::new(hmm.clone(), classifier.clone()).unwrap();
        lookahead.prepare(HORIZON);
        black_box(&lookahead);
    }));
}
