//! The tiny models of `lab/language-models/tests/fixtures` against the results of `transformers`, and the properties of
//! every runtime.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "../../language-models/tests/models/every_model.rs"]
mod every_model;

use every_model::{
    NAMES, NEAR, check_batch, check_forks, check_pieces, expected, far, fixture, fork_steps,
    from_transformers, pieces, texts, whole,
};
use hmm_control::{LanguageModel, Token};
use language_models::transformer::TransformerModel;
use lm_torch::tch::{self, Device, Kind, Tensor};
use lm_torch::{TorchModel, TorchState, Trainable};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::Once;

fn load(name: &str, kind: Kind) -> TorchModel {
    static ONE_THREAD: Once = Once::new();
    ONE_THREAD.call_once(|| tch::set_num_threads(1));
    TorchModel::load(&fixture(name), Device::Cpu, kind).unwrap()
}

#[test]
fn logits_and_hidden_states_are_those_of_transformers_and_of_plain_rust() {
    for name in NAMES {
        let model = load(name, Kind::Float);
        let reference = TransformerModel::load(&fixture(name)).unwrap();
        let expected = expected(name);
        let most = from_transformers(&model, &expected);
        let last = |place: usize| &expected.tokens[..=place];
        let apart = |place| far(&whole(&model, last(place)), &whole(&reference, last(place)));
        let between = (0..expected.tokens.len()).map(apart).fold(0.0, f32::max);
        println!("{name}: {most:e}, {between:e}");
        assert!(most < NEAR && between < NEAR, "{name}: {most} {between}");
    }
}

#[test]
fn a_batch_of_texts_to_train_on_has_the_same_logits() {
    for name in NAMES {
        let expected = expected(name);
        let model = Trainable::load(&fixture(name), Device::Cpu).unwrap();
        let tokens: Vec<i64> = expected.tokens.iter().map(|token| i64::from(*token)).collect();
        // Two texts: the tokens, and their second half before the first.
        let text = Tensor::from_slice(&tokens).view([1, -1]);
        let half = tokens.len() as i64 / 2;
        let other = text.roll([half], [1]);
        let logits = model.logits(&Tensor::cat(&[&text, &other], 0)).unwrap();
        let first = Vec::<f32>::try_from(logits.get(0).flatten(0, 1).detach()).unwrap();
        assert!(far(&first, &expected.logits.concat()) < NEAR, "{name}");
        let turned: Vec<Token> =
            Vec::<i64>::try_from(other.get(0)).unwrap().iter().map(|token| *token as Token).collect();
        let last = Vec::<f32>::try_from(logits.get(1).get(-1).detach()).unwrap();
        assert!(far(&last, &whole(&load(name, Kind::Float), &turned)) < NEAR, "{name}");
    }
}

#[test]
fn trained_weights_are_saved_and_loaded_by_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let model = Trainable::load(&fixture(name), Device::Cpu).unwrap();
        let text = Tensor::from_slice(&[1_i64, 2, 3, 4, 5, 6, 7, 8]).view([2, 4]);
        let logits = model.logits(&text).unwrap();
        logits.square().mean(Kind::Float).backward();
        // Every parameter has a gradient.
        for (name, tensor) in model.variables().variables() {
            assert!(tensor.grad().defined() && tensor.grad().abs().max().double_value(&[]) > 0.0, "{name}");
        }
        model.save(folder.path(), Kind::Half).unwrap();
        let copy = model.to_model(Kind::Float).unwrap();
        let again = TorchModel::load(folder.path(), Device::Cpu, Kind::Float).unwrap();
        let reference = TransformerModel::load(folder.path()).unwrap();
        assert_eq!(again.config(), model.config());
        let tokens = [1, 2, 3, 4];
        let last = Vec::<f32>::try_from(logits.get(0).get(3).detach()).unwrap();
        assert!(far(&last, &whole(&copy, &tokens)) < NEAR, "{name}");
        assert!(far(&whole(&again, &tokens), &whole(&reference, &tokens)) < NEAR, "{name}");
        // Rounded to eleven bits.
        assert!(far(&last, &whole(&again, &tokens)) < 0.05, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn reading_in_pieces_equals_reading_at_once(which in 0..NAMES.len(), pieces in pieces()) {
        check_pieces(&load(NAMES[which], Kind::Float), &pieces, TorchState::tokens)?;
    }

    #[test]
    fn a_lane_of_a_batch_equals_the_text_alone(which in 0..NAMES.len(), texts in texts()) {
        check_batch(&load(NAMES[which], Kind::Float), &texts)?;
    }

    #[test]
    fn forks_are_independent(which in 0..NAMES.len(), steps in fork_steps()) {
        check_forks(&load(NAMES[which], Kind::Float), steps)?;
    }
}

#[test]
fn bfloat16_gives_nearly_the_same() {
    for name in NAMES {
        let expected = expected(name);
        let model = load(name, Kind::BFloat16);
        let logits = whole(&model, &expected.tokens);
        let last = expected.logits.last().unwrap();
        let spread = last.iter().map(|logit| logit.abs()).fold(0.0, f32::max);
        let far = far(&logits, last);
        println!("{name}: {far} of {spread}");
        assert!(far > 0.0 && far < 0.1 * spread, "{name}: {far} of {spread}");
    }
}

#[test]
fn forks_may_continue_in_other_threads() {
    let model = load("llama", Kind::Float);
    let mut state = model.start();
    model.step(&mut state, &[1, 2, 3], &mut vec![0.0; 61]).unwrap();
    let threads: Vec<_> = (10..14)
        .map(|token| {
            let mut state = state.clone();
            std::thread::spawn(move || {
                let model = load("llama", Kind::Float);
                let mut logits = vec![0.0; 61];
                for _ in 0..20 {
                    model.step(&mut state, &[token], &mut logits).unwrap();
                }
                assert!(far(&logits, &whole(&model, &[&[1, 2, 3][..], &[token; 20]].concat())) < NEAR);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn load_errors_name_the_reason() {
    let fault = |folder: &Path| TorchModel::load(folder, Device::Cpu, Kind::Float).err().unwrap().to_string();
    assert!(fault(Path::new("/nowhere")).starts_with("cannot read /nowhere/config.json"));
    let folder = tempfile::tempdir().unwrap();
    let config = fs::read_to_string(fixture("llama").join("config.json")).unwrap();
    let write = |from: &str, to: &str| {
        assert!(config.contains(from));
        fs::write(folder.path().join("config.json"), config.replace(from, to)).unwrap();
        fault(folder.path())
    };
    assert!(write("llama3", "llama3").contains("neither `model.safetensors` nor"));
    fs::copy(fixture("llama").join("model.safetensors"), folder.path().join("model.safetensors")).unwrap();
    assert!(
        write("\"llama\"", "\"mamba\"")
            .ends_with("the model_type is `mamba`; supported are gpt2, llama, qwen2")
    );
    let shape = write("\"vocab_size\": 61", "\"vocab_size\": 62");
    assert_eq!(
        shape,
        "the tensor model.embed_tokens.weight has the shape [61, 24]; config.json asks for [62, 24]"
    );
    if !tch::Cuda::is_available() {
        let error = TorchModel::load(&fixture("llama"), Device::Cuda(0), Kind::Float).err().unwrap();
        assert!(error.to_string().starts_with("there is no CUDA device 0"));
    }
}

#[test]
fn an_invalid_step_is_refused_and_changes_nothing() {
    let model = load("gpt2", Kind::Float);
    let mut logits = vec![0.0; 61];
    let mut state = model.start();
    let fault = |outcome: Result<(), lm_torch::StepError>| outcome.err().unwrap().to_string();
    assert!(fault(model.step(&mut state, &[], &mut logits)).starts_with("nothing has been read"));
    let error = fault(model.step(&mut state, &[3, 61], &mut logits));
    assert_eq!(error, "token 61 is outside the vocabulary of 61");
    let error = fault(model.step(&mut state, &[3], &mut [0.0; 60]));
    assert_eq!(error, "there is room for 60 logits, and there are 61");
    model.step(&mut state, &[3; 48], &mut logits).unwrap();
    let error = fault(model.step(&mut state, &[3], &mut logits));
    assert_eq!(error, "the text has 49 tokens, and the model reads at most 48");
    let before = logits.clone();
    model.step(&mut state, &[], &mut logits).unwrap();
    assert!(far(&before, &logits) < 1e-5);
    model.step_batch(&mut []).unwrap();
}
