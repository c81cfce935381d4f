//! The cost of parsing, compiling, proving and deciding by the default policy, and by one of 1,000 `site` rules and
//! about 200 other rules in the same run: `cargo bench -p policy-dfa --bench decide`. The samples are those of
//! `benches/policy`, which depends on the whole guard.
//!
//! With `-- count N`, nothing is timed: all samples are decided N times by the default policy, for tools that count
//! instructions. With `-- digest`, it prints a SHA-256 over the valuation of every sample, so that two versions of
//! this crate can be compared.

#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a benchmark")]

#[path = "../../../benches/policy/clock.rs"]
mod clock;
#[path = "../../../benches/policy/ours.rs"]
mod ours;
mod random;
#[path = "../../../benches/policy/sample.rs"]
mod sample;
mod scale;

use std::hint::black_box;

use clock::{Times, human};
use ours::{Answer, Case, answer};
use policy_dfa::{Axis, Checked, Compiled, DecisionPoint, Policy, authority};
use sample::samples;
use sha2::{Digest, Sha256};

const DEFAULT: &str = include_str!("../../policies/default.policy");
const SAMPLES: usize = 20_000;
const SEED: u64 = 3;
const ROUNDS: usize = 5;
/// So few questions that they stay in the processor's cache.
const WARM: usize = 64;

fn cases(policy: &Compiled<Checked>) -> Vec<Case> {
    samples(SAMPLES, SEED).into_iter().map(|sample| Case::new(sample, policy)).collect()
}

fn compiled(text: &str) -> Compiled<Checked> {
    Policy::parse(text).unwrap().compile().unwrap().check().unwrap_or_else(|error| panic!("{error}"))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare(),
        ["digest"] => digest(),
        ["count", rounds] => count(rounds.parse().unwrap()),
        _ => panic!("nothing, `digest` or `count N`"),
    }
}

/// Decides without a clock.
fn count(rounds: usize) {
    let policy = compiled(DEFAULT);
    let cases = cases(&policy);
    let (mut decision_point, _verifier) = authority(policy, [7; 16]);
    for _ in 0..rounds {
        for case in &cases {
            let _ = black_box(decision_point.decide(black_box(&case.question())));
        }
    }
}

/// Prints a hash over the valuations of every sample, for both policies.
fn digest() {
    for text in [DEFAULT.to_owned(), scale::text(DEFAULT)] {
        let policy = compiled(&text);
        let mut digest = Sha256::new();
        for case in &cases(&policy) {
            let valuation = policy.valuation(&case.question());
            digest.update(Axis::ALL.iter().map(|axis| valuation.get(*axis)).collect::<Vec<u8>>());
        }
        let bytes: [u8; 32] = digest.finalize().into();
        println!("{}: {}", policy.policy().name(), bytes.map(|byte| format!("{byte:02x}")).concat());
    }
}

/// The measurements of one policy.
type Rows = Vec<(&'static str, Times)>;

fn compare() {
    let ours = rows(DEFAULT);
    let large = rows(&scale::text(DEFAULT));
    println!("{:<40} {:>9} {:>9}   {:>9} {:>9}   ratio", "", "default", "p99", "1,000", "p99");
    for ((what, default), (_, large)) in ours.iter().zip(&large) {
        println!(
            "  {what:<38} {:>9} {:>9}   {:>9} {:>9}   {:.1}",
            human(default.median()),
            human(default.percentile(99)),
            human(large.median()),
            human(large.percentile(99)),
            large.median() / default.median()
        );
    }
}

fn rows(text: &str) -> Rows {
    let parsed = Policy::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let canonical = parsed.to_string();
    let sites = canonical.lines().filter(|line| line.starts_with("site ")).count();
    let mut unchecked = (0..10).map(|_| parsed.compile().unwrap()).collect::<Vec<_>>().into_iter();
    let mut rows: Rows = vec![
        ("parse", Times::each(&[(); 20], 1, |()| Policy::parse(text).unwrap())),
        ("compile", Times::each(&[(); 20], 1, |()| parsed.compile().unwrap())),
        (
            "check, every statement",
            Times::each(&[(); 10], 1, |()| unchecked.next().unwrap().check().unwrap()),
        ),
        ("to bytes", Times::each(&[(); 20], 1, |()| parsed.compile().unwrap().to_bytes())),
    ];
    let policy = compiled(text);
    println!("{} bytes, {sites} sites, {} other rules; {policy}", canonical.len(), scale::rules(&canonical));
    let cases = cases(&policy);
    let (mut decision_point, _verifier) = authority(compiled(text), [7; 16]);
    let answers: Vec<Answer> = cases.iter().map(|case| decide(&mut decision_point, case)).collect();
    let of = |kind| answers.iter().filter(|answer| **answer == kind).count();
    println!(
        "  {SAMPLES} questions: {} granted, {} asked, {} refused",
        of(Answer::Grant),
        of(Answer::Ask),
        of(Answer::Deny)
    );
    rows.push(("clock, read twice", Times::each(&cases, ROUNDS, |_| ())));
    // The cost of making the question itself, whose data are mostly outside the processor's cache.
    rows.push((
        "question alone, once a round",
        Times::each(&cases, ROUNDS, |case| {
            black_box(case.question());
        }),
    ));
    rows.push((
        "valuation, once a round",
        Times::each(&cases, ROUNDS, |case| policy.valuation(&case.question())),
    ));
    rows.push((
        "decide, 64 again and again",
        Times::each(&cases[..WARM], ROUNDS * SAMPLES / WARM, |case| decision_point.decide(&case.question())),
    ));
    rows.push((
        "decide, every question once a round",
        Times::each(&cases, ROUNDS, |case| decision_point.decide(&case.question())),
    ));
    rows.push((
        "decide, means of 64, once a round",
        Times::batches(&cases, 64, ROUNDS, &mut |case: &Case| decision_point.decide(&case.question())),
    ));
    rows
}

fn decide(decision_point: &mut DecisionPoint, case: &Case) -> Answer {
    answer(&decision_point.decide(&case.question()))
}
