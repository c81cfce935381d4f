//! The cost of a decision: `cargo bench --bench policy`. With `--features peers`, `cedar-policy` answers the same
//! questions in the same run: both must agree on every question, and both are timed with and without building the
//! request from the same texts.
//!
//! Each call is timed by itself. The time includes the cost of reading the clock, which is printed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a benchmark")]

#[cfg(feature = "peers")]
mod cedar;
mod clock;
mod ours;
mod sample;

use std::hint::black_box;

use clock::{Times, human};
use evaluation::random;
use ours::{Answer, Case, answer, build, question};
use policy_dfa::{DecisionPoint, Policy, authority};
use portcullis::DEFAULT_POLICY;
use sample::samples;

const SAMPLES: usize = 20_000;
const SEED: u64 = 3;
const ROUNDS: usize = 5;
/// So few questions that they stay in the processor's cache.
const WARM: usize = 64;

fn row(what: &str, times: &Times) {
    println!("  {what:<58} {:>9} {:>9}", human(times.median()), human(times.percentile(99)));
}

fn main() {
    let compiled = || Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
    let policy = compiled();
    let (mut decision_point, _verifier) = authority(compiled(), [7; 16]);
    let cases: Vec<Case> =
        samples(SAMPLES, SEED).into_iter().map(|sample| Case::new(sample, &policy)).collect();
    let answers: Vec<Answer> = cases.iter().map(|case| decide(&mut decision_point, case)).collect();
    let of = |kind| answers.iter().filter(|answer| **answer == kind).count();
    println!(
        "{SAMPLES} sampled questions to the default policy: {} granted, {} asked, {} refused",
        of(Answer::Grant),
        of(Answer::Ask),
        of(Answer::Deny)
    );

    println!("{:<60} {:>9} {:>9}", "", "p50", "p99");
    row("clock, read twice", &Times::each(&cases, ROUNDS, |_| ()));
    let walks: Vec<_> = cases
        .iter()
        .map(|case| {
            let question = case.question();
            (policy.root(&question.event), policy.valuation(&question))
        })
        .collect();
    row(
        "walk alone, means of 64",
        &Times::batches(&walks, 64, ROUNDS, &mut |(root, valuation)| policy.outcome(*root, valuation)),
    );
    row("valuation alone", &Times::each(&cases, ROUNDS, |case| policy.valuation(&case.question())));
    let warm =
        Times::each(&cases[..WARM], ROUNDS * SAMPLES / WARM, |case| decision_point.decide(&case.question()));
    row("decide, 64 questions again and again", &warm);
    let decided = Times::each(&cases, ROUNDS, |case| decision_point.decide(&case.question()));
    row("decide, every question once a round", &decided);
    let from_texts = Times::each(&cases, ROUNDS, |case| {
        let built = build(&case.sample);
        decision_point.decide(&question(&case.sample, &built, &case.task, case.history))
    });
    row("decide, with snapshot and request built from texts", &from_texts);
    peer(&cases, &answers, &[&decided, &from_texts]);
    making();
}

fn decide(decision_point: &mut DecisionPoint, case: &Case) -> Answer {
    answer(&decision_point.decide(&case.question()))
}

#[cfg(not(feature = "peers"))]
fn peer(_: &[Case], _: &[Answer], _: &[&Times; 2]) {
    println!("  (for a comparison with cedar-policy: --features peers)");
}

#[cfg(feature = "peers")]
fn peer(cases: &[Case], answers: &[Answer], [decided, from_texts]: &[&Times; 2]) {
    let cedar = cedar::Cedar::new();
    let cases: Vec<_> = cases
        .iter()
        .zip(answers)
        .map(|(case, answer)| {
            let (request, task) = (cedar.build_validated(&case.sample), cedar.task(&case.sample));
            assert!(cedar.has_no_error(&request, &task), "cedar skipped a policy");
            assert_eq!(cedar.decide(&request, &task), *answer, "the two disagree");
            (&case.sample, request, task)
        })
        .collect();
    let theirs = Times::each(&cases, 1, |(_, request, task)| cedar.decide(request, task));
    row("cedar-policy, is_authorized", &theirs);
    let built = Times::each(&cases, 1, |(sample, _, task)| cedar.decide(&cedar.build(sample), task));
    row("cedar-policy, with the request built from texts", &built);
    println!("  both agree on all {} questions", cases.len());
    println!(
        "  medians, cedar to ours: {:.0} times; with building {:.0} times",
        theirs.median() / decided.median(),
        built.median() / from_texts.median()
    );
}

/// Times the steps from the text of the default policy to a policy that decides.
fn making() {
    let parsed = Policy::parse(DEFAULT_POLICY).unwrap();
    row("parse", &Times::each(&[DEFAULT_POLICY; 200], 1, |text| Policy::parse(text)));
    row("compile", &Times::each(&[(); 200], 1, |()| parsed.compile().unwrap()));
    let unchecked: Vec<_> = (0..10).map(|_| parsed.compile().unwrap()).collect();
    let mut check = unchecked.into_iter();
    row(
        "check, every statement",
        &Times::each(&[(); 10], 1, |()| black_box(check.next().unwrap().check().is_ok())),
    );
}
