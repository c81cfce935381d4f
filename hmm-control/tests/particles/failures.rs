//! What goes wrong says so.

use crate::exact::{decoding, stranger};
use crate::models::{Pairs, Table};
use crate::support::rng;
use hmm_control::particles::{Guide, ParticleDecoding, ParticleError};
use hmm_control::{
    Attribute, ControlError, Controller, Edge, Ended, Grammar, Horizon, Lane, LanguageModel, Lookahead,
    MaskWords, Storage, Token,
};
use std::cell::Cell;

fn table(end: Option<Token>) -> Table {
    Table { seed: 1, vocabulary: 4, end, spread: 2.0 }
}

#[test]
fn an_extinct_population_says_when_and_what_to_do() {
    let model = table(None);
    // After two tokens nothing is allowed.
    let found = decoding(&model, None, 5).run(&[], Pairs::new(vec![0b1000, 0, 0, 0, 0b0001]), &mut rng(1));
    assert_eq!(found.clone(), Err(ParticleError::Extinct { particles: 6, tokens: 3 }));
    let message = found.unwrap_err().to_string();
    assert!(message.starts_with("all 6 particles have weight 0 after 3 tokens"), "{message}");
    // No token ends a text that has to end.
    let must_end = ParticleDecoding { must_end: true, ..decoding(&model, None, 4) };
    let found = must_end.run(&[], (), &mut rng(1));
    assert_eq!(found, Err(ParticleError::Extinct { particles: 6, tokens: 4 }));
    // An attribute that no text has.
    let mut builder = Attribute::builder(4);
    builder.state(Edge { to: 0, log_weight: 0.0 }, f64::NEG_INFINITY);
    let hmm = crate::support::hmm(2, 4, Storage::F32, &mut rng(1));
    let lookahead = Lookahead::new(hmm, builder.build(0).unwrap()).unwrap();
    let controller = Controller::new(lookahead, 1.0).unwrap();
    for (floor, horizon) in [(0.0, Horizon::Length(4)), (1.0, Horizon::Window(1))] {
        let guide = Guide { controller: &controller, horizon, floor };
        let found = decoding(&model, Some(guide), 4).run(&[], (), &mut rng(1));
        assert_eq!(found, Err(ParticleError::Extinct { particles: 6, tokens: 1 }));
    }
}

#[test]
fn a_text_of_no_tokens_has_the_weight_of_the_empty_text() {
    let model = table(Some(0));
    let mut builder = Attribute::builder(4);
    builder.state(Edge { to: 0, log_weight: 0.0 }, -0.25);
    let hmm = crate::support::hmm(2, 4, Storage::F64, &mut rng(1));
    let lookahead = Lookahead::new(hmm, builder.build(0).unwrap()).unwrap();
    let controller = Controller::new(lookahead, 1.0).unwrap();
    let guide = Guide { controller: &controller, horizon: Horizon::Window(3), floor: 0.0 };
    let empty = decoding(&model, Some(guide), 0);
    let population = empty.run(&[2], (), &mut rng(1)).unwrap();
    assert!((population.log_evidence() + 0.25).abs() < 1e-12);
    assert!(population.texts().iter().all(|text| text.tokens.is_empty() && text.ended == Ended::Length));
    let must_end = ParticleDecoding { must_end: true, ..empty };
    let found = must_end.run(&[2], (), &mut rng(1));
    assert_eq!(found, Err(ParticleError::Extinct { particles: 6, tokens: 0 }));
}

#[test]
fn settings_out_of_range_are_refused() {
    let model = table(None);
    let controller = Controller::new(stranger(1, 4, 1), 1.0).unwrap();
    let other = Controller::new(stranger(1, 5, 1), 1.0).unwrap();
    let horizon = Horizon::Window(1);
    for given in [-0.1, 1.5, f64::NAN] {
        let found = ParticleDecoding { resample_below: given, ..decoding(&model, None, 2) };
        let found = found.run(&[], (), &mut rng(1)).unwrap_err();
        assert!(matches!(found, ParticleError::Control(ControlError::Setting { .. })), "{found}");
        let guide = Guide { controller: &controller, horizon, floor: given };
        let found = decoding(&model, Some(guide), 2).run(&[], (), &mut rng(1)).unwrap_err();
        assert!(found.to_string().starts_with("the floor of the guide is"), "{found}");
    }
    let guide = Guide { controller: &other, horizon, floor: 0.0 };
    let found = decoding(&model, Some(guide), 2).run(&[], (), &mut rng(1));
    assert_eq!(found, Err(ControlError::Logits { found: 4, vocabulary: 5 }.into()));
    let none = ParticleDecoding { particles: 0, lanes: 0, threads: 0, ..decoding(&model, None, 2) };
    assert_eq!(none.run(&[], (), &mut rng(1)).unwrap().particles(), 1);
}

#[derive(Clone)]
struct Short;

impl Grammar for Short {
    fn mask(&self) -> Option<&MaskWords> {
        Some(&[])
    }

    fn advance(&mut self, _: Token) {}
}

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("out of memory")]
struct Full;

/// A model that fails, or whose logits do, after some steps of a text, and that counts its batches.
struct Faulty {
    after: usize,
    logit: Option<f32>,
    batches: Cell<usize>,
}

impl LanguageModel for Faulty {
    type State = usize;
    type Error = Full;

    fn vocabulary(&self) -> usize {
        3
    }

    fn end(&self) -> Option<Token> {
        None
    }

    fn start(&self) -> usize {
        0
    }

    fn step(&self, state: &mut usize, tokens: &[Token], logits: &mut [f32]) -> Result<(), Full> {
        *state += tokens.len();
        logits.fill(0.0);
        if *state >= self.after {
            logits[1] = self.logit.ok_or(Full)?;
        }
        Ok(())
    }

    fn step_batch(&self, lanes: &mut [Lane<'_, usize>]) -> Result<(), Full> {
        self.batches.set(self.batches.get() + 1);
        assert!(lanes.len() <= 2 && lanes.iter().all(|lane| lane.tokens.len() == 1));
        lanes.iter_mut().try_for_each(|lane| self.step(lane.state, lane.tokens, lane.logits))
    }
}

#[test]
fn faults_of_the_model_and_the_mask_are_told() {
    for after in [0, 2] {
        for (logit, wanted) in [
            (None, ParticleError::Model(Full)),
            (Some(f32::INFINITY), ControlError::Logit { token: 1, logit: f32::INFINITY }.into()),
        ] {
            let model = Faulty { after, logit, batches: Cell::new(0) };
            let decoding = ParticleDecoding { lanes: 2, ..decoding(&model, None, 4) };
            assert_eq!(decoding.run(&[], (), &mut rng(1)), Err(wanted));
        }
    }
    let model = Faulty { after: 100, logit: None, batches: Cell::new(0) };
    let decoding = ParticleDecoding { lanes: 2, ..decoding(&model, None, 4) };
    let found = decoding.run(&[], Short, &mut rng(1));
    assert_eq!(found, Err(ControlError::Mask { found: 0, needed: 1 }.into()));
    // The first token needs no batch, since all read the same prompt; the last one is not read.
    decoding.run(&[0, 1], (), &mut rng(1)).unwrap();
    assert_eq!(model.batches.get(), 3 * 3);
}
