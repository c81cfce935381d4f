//! Control on devices of libtorch against the exact one of `hmm_control`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "../../../hmm-control/tests/control/support.rs"]
mod support;

use hmm_control::{Controller, Coverage, Hmm, Lookahead, Progress, Storage, Token};
use lm_torch::tch::{Cuda, Device};
use lm_torch::{StepError, TorchController, TorchProgress};
use proptest::prelude::*;
use rand::Rng;
use support::{attribute, hmm, logits, rng, uniform};

/// The largest difference of a log phi by rounding in 32 bits.
const NEAR: f64 = 1e-4;

/// The CPU, and a GPU where there is one.
fn devices() -> Vec<Device> {
    if Cuda::is_available() { vec![Device::Cpu, Device::Cuda(0)] } else { vec![Device::Cpu] }
}

fn is_near(found: f64, wanted: f64) -> bool {
    found == wanted || wanted.is_finite() && (found - wanted).abs() <= NEAR
}

/// A model that never emits token 3 and hardly ever token 4, and an attribute, which may have a weight of 0.
fn exact(seed: u64, storage: Storage) -> Lookahead {
    let rng = &mut rng(seed);
    let states = 2 + rng.next_u32() as usize % 60;
    let vocabulary = 5 + rng.next_u32() as usize % 2000;
    let given = hmm(states, vocabulary, Storage::F64, rng);
    let mut emission = ndarray::Array2::zeros((states, vocabulary));
    let mut row = vec![0.0; states];
    for token in (0..vocabulary).filter(|token| *token != 3) {
        given.read_emission(token as Token, &mut row);
        // Below the numbers of 32 bits, where the storage can hold it.
        let rare = if storage == Storage::F64 { 1e-42 } else { 1e-30 };
        row.iter_mut().for_each(|value| *value *= if token == 4 { rare } else { 1.0 });
        emission.column_mut(token).assign(&ndarray::aview1(&row));
    }
    for mut state in emission.rows_mut() {
        let sum = state.sum();
        state /= sum;
    }
    let mut transition = ndarray::Array2::zeros((states, states));
    for to in 0..states {
        given.read_transition(to, &mut row);
        transition.column_mut(to).assign(&ndarray::aview1(&row));
    }
    let hmm = Hmm::new(given.initial(), transition.view(), emission.view(), storage).unwrap();
    let automaton_states = 1 + rng.next_u32() as usize % 4;
    Lookahead::new(hmm, attribute(vocabulary, automaton_states, rng)).unwrap()
}

/// Both after the same tokens, some of them in a prompt, some that no state emits, some outside the vocabulary.
fn read(ours: &TorchController, seed: u64) -> (Progress, TorchProgress) {
    let (rng, exact) = (&mut rng(seed), ours.controller().lookahead());
    let vocabulary = exact.hmm().vocabulary() as u32;
    let mut token = || match rng.next_u32() % 8 {
        0 => 3,
        1 => vocabulary + 5,
        _ => rng.next_u32() % vocabulary,
    };
    let (mut wanted, mut found) = (exact.start(), ours.start().unwrap());
    for place in 0..12 {
        let token = token();
        if place < 6 {
            exact.observe_prompt(&mut wanted, token);
            ours.observe_prompt(&mut found, token).unwrap();
        } else {
            exact.observe(&mut wanted, token);
            ours.observe(&mut found, token).unwrap();
        }
    }
    (wanted, found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn scores_and_beliefs_are_those_of_the_exact_look_ahead(seed: u64, remaining in 0..40_usize, storage in 0..3_usize) {
        let exact = exact(seed, [Storage::F64, Storage::F16, Storage::Bits8][storage]);
        let vocabulary = exact.hmm().vocabulary();
        for device in devices() {
            let ours = TorchController::new(Controller::new(exact.clone(), 1.0).unwrap(), device).unwrap();
            let (wanted, found) = read(&ours, seed);
            let place = found.place(remaining);
            prop_assert_eq!(place.state, wanted.state);
            prop_assert_eq!(place.log_weight, wanted.log_weight);
            for (found, wanted) in found.predicted().unwrap().iter().zip(wanted.belief.predicted()) {
                prop_assert!((f64::from(*found) - wanted).abs() < 1e-5, "{found} {wanted}");
            }
            // Every token. Another horizon comes between, so that the last vectors come from the device's store.
            let (mut scores, mut expected) = (vec![0.5; vocabulary], vec![0.5; vocabulary]);
            for remaining in [remaining, remaining + 3, remaining] {
                exact.score_all(&wanted, remaining, &mut expected);
                ours.score_all(&found, remaining, &mut scores).unwrap();
                for (token, (found, wanted)) in scores.iter().zip(&expected).enumerate() {
                    prop_assert!(is_near(*found, *wanted), "{device:?} token {token}: {found} {wanted}");
                }
            }
            // Some, in any order, and some outside the vocabulary.
            let rng = &mut rng(seed ^ 1);
            let tokens: Vec<Token> = (0..50).map(|_| rng.next_u32() % (vocabulary as u32 + 3)).collect();
            let mut some = vec![0.5; tokens.len()];
            ours.score(&found, remaining, &tokens, &mut some).unwrap();
            for (token, score) in tokens.iter().zip(some) {
                let wanted = expected.get(*token as usize).copied().unwrap_or(f64::NEG_INFINITY);
                prop_assert!(is_near(score, wanted), "{device:?} token {token}: {score} {wanted}");
            }
            ours.score(&found, remaining, &[], &mut []).unwrap();
        }
    }

    #[test]
    fn candidates_are_certified_as_with_the_exact_look_ahead(seed: u64, strength in 0.0..3.0_f64, k in 1..60_usize) {
        let exact = exact(seed, Storage::F16);
        let given = logits(exact.hmm().vocabulary(), 1.0 + 8.0 * uniform(&mut rng(seed)), &mut rng(seed));
        let controller = Controller::new(exact, strength).unwrap();
        for device in devices() {
            let on_device = TorchController::new(controller.clone(), device).unwrap();
            let (wanted, found) = read(&on_device, seed);
            let (mut ours, mut expected) = (given.clone(), given.clone());
            let coverage = Coverage::TopK(k);
            let certified = controller.adjust_candidates(&wanted, 9, &mut expected, None, coverage, 20);
            let outcome = on_device.adjust_candidates(&found, 9, &mut ours, None, coverage, 20);
            match (outcome, certified) {
                (Ok(found), Ok(wanted)) => prop_assert_eq!((found.exact, found.candidates), (wanted.exact, wanted.candidates)),
                (Err(StepError::Control(found)), Err(wanted)) => prop_assert_eq!(found, wanted),
                (found, wanted) => prop_assert!(false, "{found:?} {wanted:?}"),
            }
            for (found, wanted) in ours.iter().zip(&expected) {
                let near = found == wanted || wanted.is_finite() && (found - wanted).abs() < 1e-3 * wanted.abs().max(1.0) * strength.max(1.0) as f32;
                prop_assert!(near, "{found} {wanted}");
            }
        }
    }
}

#[test]
fn a_fork_continues_on_its_own() {
    let ours =
        TorchController::new(Controller::new(exact(5, Storage::F32), 1.0).unwrap(), Device::Cpu).unwrap();
    let mut first = ours.start().unwrap();
    ours.observe(&mut first, 1).unwrap();
    let before = first.predicted().unwrap();
    let mut second = first.fork();
    ours.observe(&mut second, 2).unwrap();
    assert_eq!(first.predicted().unwrap(), before);
    assert_ne!(second.predicted().unwrap(), before);
}

#[test]
fn a_device_that_is_missing_is_named() {
    if !Cuda::is_available() {
        let controller = Controller::new(exact(5, Storage::F32), 1.0).unwrap();
        let error = TorchController::new(controller, Device::Cuda(0)).err().unwrap();
        assert!(error.to_string().starts_with("there is no CUDA device 0"));
    }
}
