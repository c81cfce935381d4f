//! Control of logits: the formula, what is forbidden, and the certificate against the full vocabulary.

use crate::support::{attribute, hmm, logits, rng, softmax, uniform};
use hmm_control::{
    Attribute, AttributeError, ControlError, Controller, Coverage, Horizon, Lookahead, Place, Progress,
    Sampler, Storage, strengthened,
};
use proptest::prelude::*;
use rand::Rng;

struct Case {
    controller: Controller,
    progress: Progress,
    remaining: usize,
    logits: Vec<f32>,
    mask: Option<Vec<u64>>,
}

/// A model, an attribute, some tokens read, logits with some at minus infinity, perhaps a mask.
fn case(seed: u64, strength: f64) -> Case {
    let rng = &mut rng(seed);
    let states = 2 + rng.next_u32() as usize % 6;
    let vocabulary = 5 + rng.next_u32() as usize % 300;
    let storage = [Storage::F64, Storage::F32, Storage::F16][rng.next_u32() as usize % 3];
    let automaton_states = 1 + rng.next_u32() as usize % 3;
    let attribute = attribute(vocabulary, automaton_states, rng);
    let lookahead = Lookahead::new(hmm(states, vocabulary, storage, rng), attribute).unwrap();
    let mut progress = lookahead.start();
    for _ in 0..rng.next_u32() % 4 {
        lookahead.observe_prompt(&mut progress, rng.next_u32() % vocabulary as u32);
    }
    // What was written so far has some weight, but is not forbidden.
    for _ in 0..rng.next_u32() % 3 {
        let mut next = progress.clone();
        lookahead.observe(&mut next, rng.next_u32() % vocabulary as u32);
        if next.log_weight > f64::NEG_INFINITY {
            progress = next;
        }
    }
    let spread = 1.0 + 14.0 * uniform(rng);
    let mut logits = logits(vocabulary, spread, rng);
    logits.iter_mut().filter(|_| uniform(rng) < 0.05).for_each(|logit| *logit = f32::NEG_INFINITY);
    let words = vocabulary.div_ceil(64);
    let mask = (uniform(rng) < 0.5).then(|| (0..words).map(|_| rng.next_u64() | rng.next_u64()).collect());
    let controller = Controller::new(lookahead, strength).unwrap();
    Case { controller, progress, remaining: rng.next_u32() as usize % 6, logits, mask }
}

fn full(case: &Case) -> Result<Vec<f32>, ControlError> {
    let mut logits = case.logits.clone();
    case.controller.adjust(&case.progress, case.remaining, &mut logits, case.mask.as_deref())?;
    Ok(logits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_comes_out_is_the_formula(seed: u64, strength in prop_oneof![Just(0.0), Just(1.0), 0.1..5.0]) {
        let case = case(seed, strength);
        let Ok(out) = full(&case) else { return Ok(()) };
        let mut log_phi = vec![0.0; out.len()];
        case.controller.lookahead().score_all(&case.progress, case.remaining, &mut log_phi);
        let mask = case.mask.clone().unwrap_or_else(|| vec![u64::MAX; out.len().div_ceil(64)]);
        for token in 0..out.len() {
            let is_allowed = mask[token / 64] >> (token % 64) & 1 == 1;
            if !is_allowed || log_phi[token] == f64::NEG_INFINITY || case.logits[token] == f32::NEG_INFINITY {
                prop_assert_eq!(out[token], f32::NEG_INFINITY);
                prop_assert_eq!(softmax(&out, 1.0)[token], 0.0);
            } else {
                let added = if strength == 0.0 { 0.0 } else { strengthened(log_phi[token], strength) };
                let wanted = f64::from(case.logits[token]) + added;
                prop_assert!((f64::from(out[token]) - wanted).abs() <= 1e-6 * wanted.abs().max(1.0));
            }
        }
    }

    #[test]
    fn what_is_left_out_never_weighs_more_than_certified(
        seed: u64,
        strength in prop_oneof![Just(1.0), 0.0..6.0],
        at_most in prop_oneof![Just(0.0), 1e-6..0.5],
        temperature in 0.4..2.0,
        first in 0usize..40,
    ) {
        let case = case(seed, strength);
        let coverage = Coverage::Mass { at_most, temperature };
        let mut some = case.logits.clone();
        let result = case.controller.adjust_candidates(
            &case.progress, case.remaining, &mut some, case.mask.as_deref(), coverage, first);
        let all = full(&case);
        prop_assert_eq!(all.as_ref().err(), result.as_ref().err());
        let (Ok(all), Ok(certificate)) = (all, result) else { return Ok(()) };
        let probabilities = softmax(&all, temperature);
        let mut left_out = 0.0;
        for token in 0..all.len() {
            if some[token] == f32::NEG_INFINITY {
                left_out += probabilities[token];
            } else {
                prop_assert!((some[token] - all[token]).abs() <= 1e-5 * all[token].abs().max(1.0));
            }
        }
        prop_assert!(left_out <= certificate.left_out_mass_at_most, "{left_out} {certificate:?}");
        prop_assert!(certificate.left_out_mass_at_most <= at_most);
        prop_assert!(some.iter().filter(|logit| **logit > f32::NEG_INFINITY).count() <= certificate.candidates);
        prop_assert!(!certificate.exact || left_out == 0.0);
    }

    #[test]
    fn samplers_that_cut_draw_the_same(
        seed: u64,
        strength in prop_oneof![Just(1.0), 0.0..6.0],
        temperature in prop_oneof![Just(0.0), 0.4..2.0],
        k in prop::option::of(1usize..30),
        p in prop::option::of(0.05..1.0),
        first in 0usize..20,
    ) {
        let case = case(seed, strength);
        let mut sampler = Sampler::new(temperature).unwrap();
        if let Some(k) = k { sampler = sampler.top_k(k) }
        if let Some(p) = p { sampler = sampler.top_p(p).unwrap() }
        let coverage = sampler.coverage(0.0);
        let mut some = case.logits.clone();
        let result = case.controller.adjust_candidates(
            &case.progress, case.remaining, &mut some, case.mask.as_deref(), coverage, first);
        let all = full(&case);
        prop_assert_eq!(all.as_ref().err(), result.as_ref().err());
        let (Ok(all), Ok(certificate)) = (all, result) else { return Ok(()) };
        prop_assert!(certificate.exact);
        let (wanted, found) = (sampler.distribution(&all), sampler.distribution(&some));
        prop_assert_eq!(wanted.len(), found.len());
        for (wanted, found) in wanted.iter().zip(&found) {
            prop_assert_eq!(wanted.0, found.0);
            prop_assert!((wanted.1 - found.1).abs() < 1e-9, "{wanted:?} {found:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Where the share may be a little off, what is kept is the nucleus of a share that is as near as was asked.
    #[test]
    fn a_nearly_exact_nucleus_is_that_of_a_share_nearby(
        seed: u64,
        strength in 0.5..3.0,
        p in 0.05..1.0,
        within in 1e-4..0.3,
        temperature in 0.4..2.0,
    ) {
        let case = case(seed, strength);
        let coverage = Coverage::TopP { p, temperature, within };
        let mut some = case.logits.clone();
        let result = case.controller.adjust_candidates(
            &case.progress, case.remaining, &mut some, case.mask.as_deref(), coverage, 2);
        let (Ok(all), Ok(_)) = (full(&case), result) else { return Ok(()) };
        let nucleus = Sampler::new(temperature).unwrap().top_p(p).unwrap().distribution(&some);
        let sampler = Sampler::new(temperature).unwrap().top_k(all.len());
        let all = sampler.distribution(&all);
        // The most probable ones, in order.
        for (kept, wanted) in nucleus.iter().zip(&all) {
            prop_assert_eq!(kept.0, wanted.0);
        }
        let share = |count: usize| all[..count].iter().map(|(_, probability)| probability).sum::<f64>();
        prop_assert!(share(nucleus.len()) >= p * (1.0 - within) - 1e-9);
        prop_assert!(share(nucleus.len() - 1) < p + 1e-9);
    }
}

/// Peaked logits over a large vocabulary: the certificate has to stop early, or it is of no use.
#[test]
fn few_candidates_suffice() {
    let rng = &mut rng(5);
    let vocabulary = 20_000;
    let attribute = Attribute::from_weights(
        vocabulary,
        (0..vocabulary as u32).filter(|token| token % 5 == 0).map(|token| (token, -3.0)),
    )
    .unwrap();
    let lookahead = Lookahead::new(hmm(4, vocabulary, Storage::F32, rng), attribute).unwrap();
    let mut logits = logits(vocabulary, 4.0, rng);
    logits.iter_mut().take(60).for_each(|logit| *logit += 12.0);
    let controller = Controller::new(lookahead, 1.0).unwrap();
    let progress = controller.lookahead().start();
    for coverage in [
        Coverage::Mass { at_most: 0.01, temperature: 1.0 },
        Coverage::TopK(10),
        Coverage::TopP { p: 0.9, temperature: 1.0, within: 0.01 },
    ] {
        let mut some = logits.clone();
        let certificate =
            controller.adjust_candidates(&progress, 16, &mut some, None, coverage, 100).unwrap();
        assert!(certificate.candidates <= 400, "{coverage:?} {certificate:?}");
        assert!(certificate.left_out_mass_at_most < 0.02, "{coverage:?} {certificate:?}");
    }
}

#[test]
fn nothing_allowed_is_said_and_is_not_a_number_nowhere() {
    let hmm = hmm(3, 4, Storage::F64, &mut rng(1));
    let nothing = Attribute::from_weights(4, (0..4).map(|token| (token, f64::NEG_INFINITY))).unwrap();
    let only_2 = Attribute::from_weights(4, [0, 1, 3].map(|token| (token, f64::NEG_INFINITY))).unwrap();
    let without_2 = [0b1011_u64];
    let coverage = Coverage::TopK(2);
    for (attribute, mask) in [(&nothing, None), (&only_2, Some(&without_2[..]))] {
        let controller =
            Controller::new(Lookahead::new(hmm.clone(), attribute.clone()).unwrap(), 2.0).unwrap();
        let progress = controller.lookahead().start();
        let mut logits = [0.5_f32; 4];
        assert_eq!(controller.adjust(&progress, 2, &mut logits, mask), Err(ControlError::NothingAllowed));
        assert_eq!(logits, [f32::NEG_INFINITY; 4]);
        let mut logits = [0.5_f32; 4];
        let result = controller.adjust_candidates(&progress, 2, &mut logits, mask, coverage, 1);
        assert_eq!(result, Err(ControlError::NothingAllowed));
        assert_eq!(logits, [f32::NEG_INFINITY; 4]);
    }
    // The one that is left is certain, however small its share was.
    let controller = Controller::new(Lookahead::new(hmm, only_2).unwrap(), 2.0).unwrap();
    let mut logits = [30.0_f32, 30.0, -60.0, 30.0];
    controller.adjust(&controller.lookahead().start(), 5, &mut logits, None).unwrap();
    assert_eq!(softmax(&logits, 1.0), [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn faults_are_named_and_leave_the_logits() {
    let hmm = hmm(2, 70, Storage::F64, &mut rng(2));
    let plain = Attribute::from_weights(70, []).unwrap();
    let lookahead = Lookahead::new(hmm, plain).unwrap();
    for strength in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = Controller::new(lookahead.clone(), strength).err();
        assert!(matches!(refused, Some(AttributeError::Strength { .. })));
    }
    let controller = Controller::new(lookahead, 1.0).unwrap();
    let progress = controller.lookahead().start();
    for bad in [f32::NAN, f32::INFINITY] {
        let mut logits = [0.0_f32; 70];
        logits[7] = bad;
        let error = controller.adjust(&progress, 2, &mut logits, None).unwrap_err();
        assert!(matches!(error, ControlError::Logit { token: 7, .. }), "{error}");
        let coverage = Coverage::TopK(1);
        let error = controller.adjust_candidates(&progress, 2, &mut logits, None, coverage, 1).unwrap_err();
        assert!(matches!(error, ControlError::Logit { token: 7, .. }), "{error}");
        assert_eq!(logits[8], 0.0);
    }
    let mut logits = [0.0_f32; 70];
    assert_eq!(
        controller.adjust(&progress, 2, &mut logits[..69], None),
        Err(ControlError::Logits { found: 69, vocabulary: 70 })
    );
    assert_eq!(
        controller.adjust(&progress, 2, &mut logits, Some(&[u64::MAX])),
        Err(ControlError::Mask { found: 1, needed: 2 })
    );
    for coverage in [
        Coverage::Mass { at_most: 1.0, temperature: 1.0 },
        Coverage::Mass { at_most: f64::NAN, temperature: 1.0 },
        Coverage::Mass { at_most: 0.1, temperature: 0.0 },
        Coverage::TopP { p: 0.0, temperature: 1.0, within: 0.0 },
        Coverage::TopP { p: 0.5, temperature: 1.0, within: -1.0 },
        Coverage::TopP { p: 0.5, temperature: f64::NAN, within: 0.0 },
    ] {
        let error = controller.adjust_candidates(&progress, 2, &mut logits, None, coverage, 1).unwrap_err();
        assert!(matches!(error, ControlError::Setting { .. }), "{coverage:?}");
    }
}

#[test]
fn a_fault_of_scores_from_elsewhere_is_passed_on_and_leaves_the_logits() {
    #[derive(Debug, PartialEq)]
    enum Fault {
        Control(ControlError),
        Device,
    }
    impl From<ControlError> for Fault {
        fn from(error: ControlError) -> Fault {
            Fault::Control(error)
        }
    }
    let plain = Attribute::from_weights(70, []).unwrap();
    let lookahead = Lookahead::new(hmm(2, 70, Storage::F64, &mut rng(2)), plain).unwrap();
    let controller = Controller::new(lookahead, 1.0).unwrap();
    let place = Place { state: 0, log_weight: 0.0, remaining: 2 };
    let mut logits = [1.0_f32; 70];
    let mut calls = 0;
    // The second call is needed, since one token does not have nearly all of the distribution.
    let nearly_all = Coverage::Mass { at_most: 0.01, temperature: 1.0 };
    let outcome = controller.adjust_candidates_by(place, &mut logits, None, nearly_all, 1, |_, out| {
        calls += 1;
        out.fill(0.0);
        if calls == 2 { Err(Fault::Device) } else { Ok(()) }
    });
    assert_eq!(outcome, Err(Fault::Device));
    assert_eq!(logits, [1.0; 70]);
    let none = Some(&[0, 0][..]);
    let outcome =
        controller.adjust_candidates_by(place, &mut logits, none, Coverage::TopK(1), 1, |_, _| Ok(()));
    assert_eq!(outcome, Err(Fault::Control(ControlError::NothingAllowed)));
}

#[test]
fn horizons_count_what_comes_after_the_next_token() {
    assert_eq!(Horizon::Window(8).remaining(1000), 8);
    assert_eq!(Horizon::Length(3).remaining(0), 2);
    assert_eq!(Horizon::Length(3).remaining(2), 0);
    assert_eq!(Horizon::Length(3).remaining(9), 0);
}
