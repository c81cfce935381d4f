//! Whole trainings: a known model found again, the early stop, the sparse option.

use crate::common::{known, narrow, parameters, rng, sequences, some};
use hmm_control::distil::{
    DistilError, Expectation, Options, Parameters, RemainingTime, Report, Schedule, Sequences, Sparse,
    StepSize, Trainer, start,
};
use hmm_control::{Hmm, Storage};
use std::ops::ControlFlow;
use std::time::Duration;

fn per_token(hmm: &Hmm, texts: &Sequences) -> f64 {
    let model = Parameters::<f64>::from_hmm(hmm);
    Expectation::default().likelihood(&model, texts, 0..texts.len()).unwrap().per_token()
}

fn run(trainer: &mut Trainer<'_, f32>) -> Vec<Report> {
    let mut reports = Vec::new();
    let observer = |report: &Report| {
        reports.push(*report);
        ControlFlow::Continue(())
    };
    trainer.run(observer).unwrap();
    reports
}

/// From contexts, from chance and stepwise: the held-out likelihood comes close to that of the model that wrote the
/// texts, and cannot beat it by more than chance.
#[test]
fn a_known_model_is_learnt_back() {
    let (truth, mut train) = known(5, 40, 4000, 17);
    let held_out = train.split_off(400);
    let wanted = per_token(&truth, &held_out);
    let unigram = 40_f64.ln();
    let clustering = start::Clustering {
        states: 5,
        vocabulary: 40,
        search: start::KMeans::default(),
        rules: hmm_control::distil::Rules { pseudocount: 0.01, ..Default::default() },
    };
    let contexts: Parameters<f32> = start::from_contexts(&train, &clustering, &mut rng(1)).unwrap();
    let chance: Parameters<f32> = start::random(&train, 5, 40, None, &mut rng(1)).unwrap();
    let stepwise = StepSize::Decaying { exponent: 0.6, offset: 2.0 };
    for (name, first, steps, step_size, tolerance) in [
        ("contexts", &contexts, "25,1", StepSize::Whole, 0.01),
        ("contexts, stepwise", &contexts, "100,1", stepwise, 0.01),
        ("chance", &chance, "60,1", StepSize::Whole, 0.02),
    ] {
        let portions = if step_size == StepSize::Whole { 1 } else { 20 };
        let schedule = Schedule::parse(steps, portions).unwrap();
        let options = Options { step_size, threads: some(2), ..Options::new(schedule) };
        let mut trainer = Trainer::new(first.clone(), &train, &held_out, options).unwrap();
        let reports = run(&mut trainer);
        let hmm = trainer.hmm(Storage::F32, Storage::F16).unwrap();
        let found = per_token(&hmm, &held_out);
        println!("{name}: {found:.4} of {wanted:.4} after {} steps (uniform -{unigram:.4})", reports.len());
        assert!((found - wanted).abs() < tolerance, "{name}: {found} instead of {wanted}");
        let best = reports.iter().filter_map(|report| report.held_out).fold(f64::NEG_INFINITY, f64::max);
        assert!((found - best).abs() < 2e-4, "{name}: the best model is the one that is kept");
    }
}

/// A model with more states than texts learns the texts by heart.
#[test]
fn training_stops_when_held_out_texts_become_less_likely() {
    let (_, mut train) = known(4, 30, 60, 23);
    let held_out = train.split_off(40);
    let training = |patience: Option<u32>| {
        let options = Options { patience, ..Options::new(Schedule::full_batch(60).unwrap()) };
        let first = narrow(&parameters(16, 30, false, &mut rng(2)));
        let mut trainer = Trainer::new(first, &train, &held_out, options).unwrap();
        (run(&mut trainer), trainer)
    };
    let (through, _) = training(None);
    let (stopped, trainer) = training(Some(5));
    assert_eq!(through.len(), 60);
    for (stopped, through) in stopped.iter().zip(&through) {
        assert_eq!(stopped.held_out, through.held_out);
    }
    let last = stopped.last().unwrap();
    assert!(last.stopped && trainer.is_done() && last.step < 60);
    let best = stopped.iter().rev().find(|report| report.best).unwrap();
    assert_eq!(last.step, best.step + 5);
    let highest = stopped.iter().filter_map(|report| report.held_out).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(best.held_out, Some(highest));
    assert_ne!(trainer.best(), trainer.parameters());
    let kept = Expectation::default().likelihood(trainer.best(), &held_out, 0..40).unwrap();
    assert_eq!(kept.per_token(), highest);
    assert!(last.train > best.train, "the training texts still became more likely");
}

#[test]
fn sparse_transitions_stay_sparse_and_say_what_they_cost() {
    let (truth, mut train) = known(6, 30, 1500, 31);
    let held_out = train.split_off(200);
    let sparse = Some(Sparse { successors: 2, after: 30 });
    let options = Options { sparse, patience: Some(1), ..Options::new(Schedule::full_batch(45).unwrap()) };
    let first = narrow(&parameters(6, 30, false, &mut rng(8)));
    let mut trainer = Trainer::new(first.clone(), &train, &held_out, options).unwrap();
    let reports = run(&mut trainer);
    let (at, pruned) = reports.iter().find_map(|report| Some((report.step, report.pruned?))).unwrap();
    assert_eq!((at, pruned.successors), (30, 2));
    assert_eq!(reports[29].held_out, Some(pruned.after));
    assert!(pruned.after < pruned.before, "{pruned:?}");
    let dense = Options::new(Schedule::full_batch(30).unwrap());
    let mut dense = Trainer::new(first, &train, &held_out, dense).unwrap();
    assert_eq!(run(&mut dense).last().unwrap().held_out, Some(pruned.before));
    let kept = trainer.successors().unwrap();
    let mut by_hand = dense.parameters().clone();
    for (state, mut row) in by_hand.transition.rows_mut().into_iter().enumerate() {
        let mut order: Vec<usize> = (0..6).collect();
        order.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
        order[2..].iter().for_each(|dropped| row[*dropped] = 0.0);
        let sum = row.sum();
        row.mapv_inplace(|value| value / sum);
        assert!(order[..2].iter().all(|to| kept.of(state).contains(&(*to as u32))));
    }
    let by_hand = Expectation::default().likelihood(&by_hand, &held_out, 0..200).unwrap().per_token();
    assert!((by_hand - pruned.after).abs() < 1e-6, "{by_hand} instead of {}", pruned.after);
    for (state, row) in trainer.best().transition.rows().into_iter().enumerate() {
        let there: Vec<u32> = (0..6).filter(|to| row[*to as usize] > 0.0).collect();
        assert_eq!(there, kept.of(state));
        assert_eq!(there.len(), 2);
    }
    let after = reports.last().unwrap().held_out.unwrap();
    assert!(after > pruned.after, "training goes on with what is left");
    println!("pruned {pruned:?}, in the end {after}, truth {}", per_token(&truth, &held_out));
}

/// The patience begins when the transitions are sparse: a model that comes out is as sparse as it was asked to be.
#[test]
fn no_early_stop_before_the_transitions_are_sparse() {
    let (_, mut train) = known(4, 30, 60, 23);
    let held_out = train.split_off(40);
    let sparse = Some(Sparse { successors: 4, after: 50 });
    let options = Options { sparse, patience: Some(3), ..Options::new(Schedule::full_batch(60).unwrap()) };
    let first = narrow(&parameters(16, 30, false, &mut rng(2)));
    let mut trainer = Trainer::new(first, &train, &held_out, options).unwrap();
    let reports = run(&mut trainer);
    assert!(reports[..50].iter().filter(|report| !report.best).count() > 3, "it would have stopped");
    assert!(reports.len() > 50 && reports[49].pruned.is_some());
    let rows = trainer.best().transition.rows().into_iter();
    assert!(rows.into_iter().all(|row| row.iter().filter(|value| **value > 0.0).count() <= 4));
}

#[test]
fn reports_share_out_the_work() {
    let (_, mut train) = known(4, 20, 100, 3);
    let held_out = train.split_off(20);
    let options = Options::new(Schedule::parse("2,1;1,4", 4).unwrap());
    let first = narrow(&parameters(3, 20, false, &mut rng(2)));
    let mut trainer = Trainer::new(first, &train, &held_out, options).unwrap();
    let mut estimate = RemainingTime::new();
    assert_eq!(estimate.remaining(), None);
    let mut done = 0.0;
    let reports = run(&mut trainer);
    for report in &reports {
        done += report.work;
        assert!((done + report.remaining - 1.0).abs() < 1e-12);
        estimate.observe(report.work, report.remaining, Duration::from_secs_f64(100.0 * report.work));
        let left = estimate.remaining().unwrap().as_secs_f64();
        assert!((left - 100.0 * report.remaining).abs() < 1e-6);
    }
    // Of 20, 20 and 80 sequences for the E-step at three products, and 20 held out at one.
    assert!((reports[2].work - (240.0 + 20.0) / (360.0 + 60.0)).abs() < 1e-12);
    assert_eq!(reports[2].tokens, 120 * 16);
    assert_eq!(reports[2].remaining, 0.0);
    assert!(trainer.step().unwrap().is_none());
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let texts = sequences(&[vec![0, 1, 2, 1]]);
    let none = Sequences::new();
    let new = |options: Options| {
        let first = narrow(&parameters(2, 3, false, &mut rng(2)));
        Trainer::new(first, &texts, &none, options).err().unwrap().to_string()
    };
    let plain = || Options::new(Schedule::full_batch(3).unwrap());
    assert_eq!(
        new(Options { end: Some(2), ..plain() }),
        "sequence 0, place 3: token 1 follows the end token; cut the sequences behind it"
    );
    assert!(new(Options { end: Some(3), ..plain() }).starts_with("the end token 3 needs a place"));
    assert!(new(Options { token_dropout: 1.0, ..plain() }).starts_with("the token dropout is 1;"));
    assert!(new(Options { pseudocount: -1.0, ..plain() }).starts_with("the pseudocount is -1;"));
    let size = StepSize::Decaying { exponent: 0.5, offset: 0.0 };
    assert!(
        new(Options { step_size: size, ..plain() }).starts_with("the decaying step size is exponent 0.5")
    );
    let sparse = Some(Sparse { successors: 2, after: 3 });
    assert!(
        new(Options { sparse, ..plain() }).starts_with("the sparse option is 2 successors after 3 steps")
    );
    let first = narrow(&parameters(2, 3, false, &mut rng(2)));
    assert_eq!(Trainer::new(first, &none, &none, plain()).err(), Some(DistilError::NoTokens));
}
