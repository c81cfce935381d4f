//! The steps that are timed.

use crate::clock::{Case, Times, interleave};
use crate::error::{REMAINING, TEXT};
use crate::naive::Naive;
use crate::roofline::Point;
use crate::{error, machine, model};
use hmm_control::{
    Belief, Controller, Coverage, Hmm, Lookahead, Precision, Progress, Request, Storage, Token,
};
use std::hint::black_box;

const ROUNDS: usize = 7;
/// The number of tokens that a new attribute is prepared for.
const HORIZON: usize = 20;
const REQUESTS: usize = 32;
/// States of the automaton, as many as in the reference times of Ctrl-G.
const STATES: usize = 11;
const STORAGES: [Storage; 4] = [Storage::F32, Storage::F16, Storage::Bf16, Storage::Bits8];

fn emission_bytes(hmm: &Hmm) -> f64 {
    hmm.emission().bytes().len() as f64
}

fn transition_bytes(hmm: &Hmm) -> f64 {
    hmm.transition().bytes().len() as f64
}

/// The operations of one request over the full vocabulary: the sums over the states for a token, with and without the
/// attribute, each a product and a sum for each state.
fn operations(hmm: &Hmm) -> f64 {
    4.0 * (hmm.states() * hmm.vocabulary()) as f64
}

fn wanted(name: &str, words: &[String]) -> bool {
    words.is_empty() || words.iter().any(|word| name.contains(word))
}

fn print(cases: &[Case<'_>], times: &[Times], bandwidth: f64, naive: Option<f64>) {
    for (case, times) in cases.iter().zip(times) {
        let (median, least) = (times.cpu_median(), times.cpu_least());
        let share = case.bytes / case.share;
        let reached = share / (median * 1e6) / bandwidth * 100.0;
        let ratio = naive.map_or(String::new(), |naive| format!("{:>8.1}x", naive / median));
        println!(
            "  {:<46} {median:>9.2} {least:>9.2} {:>9.2} {:>8.1} {reached:>5.0} %{ratio}",
            case.name,
            times.wall_median(),
            share / 1e6,
        );
    }
}

/// Times all steps at one size. Returns those of the roofline.
pub fn run(states: usize, vocabulary: usize, bandwidth: f64, words: &[String]) -> Vec<Point> {
    println!("\nrandom normalised model, h = {states}, V = {vocabulary}; load average {}", machine::load());
    println!(
        "  {:<46} {:>9} {:>9} {:>9} {:>8} {:>7}  {:>8}",
        "", "CPU ms", "least", "wall ms", "MB read", "of mem.", "naive is"
    );
    let base = model::random(states, vocabulary);
    let narrow = base.to_storage(Storage::F16, Storage::F16).unwrap();
    let naive = compare(&base, &narrow, bandwidth);
    let exact = wanted("error", words).then(|| error::exact(&base));
    let models: Vec<Hmm> = STORAGES
        .iter()
        .map(|storage| match storage {
            Storage::F32 => base.clone(),
            Storage::F16 => narrow.clone(),
            storage => base.to_storage(*storage, *storage).unwrap(),
        })
        .collect();
    let mut cases = Vec::new();
    for (hmm, storage) in models.iter().zip(STORAGES) {
        steps(hmm, storage, &mut cases);
    }
    cases.retain(|case| wanted(&case.name, words));
    let times = interleave(&mut cases, ROUNDS);
    print(&cases, &times, bandwidth, Some(naive));
    for (hmm, storage) in models.iter().zip(STORAGES) {
        if let Some(exact) = &exact {
            for precision in [Precision::Full, Precision::Bf16] {
                let (largest, mean) = error::distance(hmm, exact, precision);
                println!(
                    "  error of log phi against 64 bits, {storage}, {precision:?}: largest {largest:.1e}, mean {mean:.1e}"
                );
            }
        }
    }
    let points = cases.iter().zip(&times).filter(|(case, _)| case.operations > 0.0);
    let point = |(case, times): (&Case<'_>, &Times)| Point {
        storage: case.name.rsplit_once(", ").map_or_else(String::new, |(_, storage)| storage.to_owned()),
        is_batch: case.share > 1.0,
        intensity: case.operations / case.bytes,
        speed: case.operations / case.share / times.cpu_median() / 1e6,
    };
    points.map(point).collect()
}

/// Times the naive step and ours alternately. Returns the naive step's milliseconds.
fn compare(base: &Hmm, narrow: &Hmm, bandwidth: f64) -> f64 {
    let naive = Naive::new(base);
    let states = base.states();
    let posterior = vec![1.0 / states as f32; states];
    let backward = vec![0.5; states];
    let lookahead = Lookahead::new(narrow.clone(), model::classifier(narrow.vocabulary())).unwrap();
    let mut progress = lookahead.start();
    let mut out = vec![0.0; narrow.vocabulary()];
    let mut cases = vec![
        Case::new("naive (as TRACE does it), a step", naive.bytes(), || {
            black_box(naive.step(&posterior, &backward));
        }),
        Case::new(
            "a step: full vocabulary and transition, f16",
            emission_bytes(narrow) + transition_bytes(narrow),
            || {
                lookahead.observe(&mut progress, 44);
                lookahead.score_all(&progress, REMAINING, &mut out);
            },
        ),
    ];
    let times = interleave(&mut cases, 3);
    let milliseconds = times[0].cpu_median();
    print(&cases, &times, bandwidth, Some(milliseconds));
    milliseconds
}

fn candidates(vocabulary: usize, count: usize) -> Vec<Token> {
    (0..count).map(|place| (place * 7919 % vocabulary) as Token).collect()
}

fn steps<'a>(hmm: &'a Hmm, storage: Storage, cases: &mut Vec<Case<'a>>) {
    let vocabulary = hmm.vocabulary();
    let lookahead = Lookahead::new(hmm.clone(), model::classifier(vocabulary)).unwrap();
    lookahead.prepare(HORIZON);
    let mut progress = lookahead.start();
    TEXT.iter().for_each(|token| lookahead.observe(&mut progress, *token));

    let (shared, started) = (lookahead.clone(), progress.clone());
    let mut out = vec![0.0; vocabulary];
    let case = Case::new(format!("full vocabulary, {storage}"), emission_bytes(hmm), move || {
        shared.score_all(&started, REMAINING, &mut out);
        black_box(&out);
    });
    cases.push(case.with_operations(operations(hmm)));
    for count in [200, 1000] {
        let (shared, started) = (lookahead.clone(), progress.clone());
        let tokens = candidates(vocabulary, count);
        let mut out = vec![0.0; count];
        let bytes = transition_bytes(hmm) + emission_bytes(hmm) / vocabulary as f64 * count as f64;
        cases.push(Case::new(format!("{count} candidates and transition, {storage}"), bytes, move || {
            let mut progress = started.clone();
            shared.observe(&mut progress, 44);
            shared.score(&progress, REMAINING - 1, &tokens, &mut out);
            black_box(&out);
        }));
    }
    // A decode step: logits as wide as a trained model's, and the passes over the vocabulary.
    let controller = Controller::new(lookahead.clone(), 1.0).unwrap();
    let (started, logits) = (progress.clone(), model::logits(vocabulary));
    let mut adjusted = logits.clone();
    let bytes = emission_bytes(hmm) / vocabulary as f64 * 200.0;
    cases.push(Case::new(format!("top 50 under the certificate, {storage}"), bytes, move || {
        adjusted.copy_from_slice(&logits);
        let coverage = Coverage::TopK(50);
        let certificate =
            controller.adjust_candidates(&started, REMAINING, &mut adjusted, None, coverage, 200).unwrap();
        black_box(certificate);
    }));
    batches(&lookahead, &progress, storage, cases);
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
    if storage == Storage::F16 {
        let lookahead = Lookahead::new(hmm.clone(), model::automaton(vocabulary, STATES)).unwrap();
        let progress = lookahead.start();
        let mut out = vec![0.0; vocabulary];
        let name = format!("automaton of {STATES} states, full, {storage}");
        // Two tokens ahead: the cost does not depend on it, the set-up does.
        lookahead.prepare(2);
        cases.push(Case::new(name, emission_bytes(hmm), move || {
            lookahead.score_all(&progress, 2, &mut out);
            black_box(&out);
        }));
    }
}

fn batches<'a>(lookahead: &Lookahead, progress: &Progress, storage: Storage, cases: &mut Vec<Case<'a>>) {
    let hmm = lookahead.hmm();
    let mut texts: Vec<Progress> = (0..REQUESTS).map(|_| progress.clone()).collect();
    texts.iter_mut().enumerate().for_each(|(number, text)| lookahead.observe(text, number as Token));
    let name = format!("{REQUESTS} requests, full vocabulary, each, {storage}");
    let case = scores(lookahead, &texts, (1, Precision::Full), name);
    cases.push(case.with_operations(operations(hmm) * REQUESTS as f64));
    if storage == Storage::F16 {
        threads(lookahead, &texts, cases);
    }
    if storage == Storage::Bf16 {
        let name = format!("{REQUESTS} requests, full vocabulary, each, bf16 products");
        cases.push(
            scores(lookahead, &texts, (1, Precision::Bf16), name)
                .with_operations(operations(hmm) * REQUESTS as f64),
        );
        let name = format!("{REQUESTS} on 2 threads, full vocabulary, each, bf16 products");
        cases.push(scores(lookahead, &texts, (2, Precision::Bf16), name));
    }
    let shared = lookahead.clone();
    let name = format!("{REQUESTS} requests, transition, each, {storage}");
    let case = Case::new(name, transition_bytes(hmm), move || {
        let mut requests: Vec<_> = texts.iter_mut().map(|text| (text, 66)).collect();
        shared.observe_batch(&mut requests);
    });
    cases.push(case.shared(REQUESTS));
}

/// A batch and a single request on one thread and on two, whose wall times are to be compared.
fn threads<'a>(lookahead: &Lookahead, texts: &[Progress], cases: &mut Vec<Case<'a>>) {
    for (count, threads) in [(1, 1), (1, 2), (REQUESTS, 1), (REQUESTS, 2)] {
        let name = format!("{count} on {threads} threads, full vocabulary, each, f16");
        cases.push(scores(lookahead, texts.get(..count).unwrap(), (threads, Precision::Full), name));
    }
}

/// One batch of scores, a request for each text.
fn scores<'a>(
    lookahead: &Lookahead,
    texts: &[Progress],
    (threads, precision): (usize, Precision),
    name: String,
) -> Case<'a> {
    let (shared, started) = (lookahead.clone(), texts.to_vec());
    let mut outs = vec![vec![0.0; lookahead.hmm().vocabulary()]; texts.len()];
    let case = Case::new(name, emission_bytes(lookahead.hmm()), move || {
        let mut requests: Vec<Request<'_>> = started
            .iter()
            .zip(&mut outs)
            .map(|(progress, out)| Request { progress, remaining: REMAINING - 1, out })
            .collect();
        shared.score_batch(&mut requests, threads, precision);
    });
    case.shared(texts.len())
}
