//! The tiny models of `fixtures/` against the results of `transformers`, and the properties of every runtime.

mod decode;
mod tokenizer;

use crate::every_model::{
    NAMES, NEAR, check_batch, check_forks, check_pieces, expected, fixture, fork_steps, from_transformers,
    pieces, texts, whole,
};
use hmm_control::LanguageModel;
use language_models::transformer::{Config, LoadError, StepError, TransformerModel, TransformerState};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

static MODELS: LazyLock<Vec<TransformerModel>> =
    LazyLock::new(|| NAMES.iter().map(|name| TransformerModel::load(&fixture(name)).unwrap()).collect());

#[test]
fn logits_and_hidden_states_are_those_of_transformers() {
    for (name, model) in NAMES.iter().zip(MODELS.iter()) {
        let most = from_transformers(model, &expected(name));
        println!("{name}: {most:e}");
        assert!(most < NEAR, "{name}: {most}");
    }
}

#[test]
fn a_model_built_into_a_program_is_the_same() {
    let config = fs::read(fixture("gpt2").join("config.json")).unwrap();
    let config = Config::from_json(&config, Path::new("built in")).unwrap();
    let weights = fs::read(fixture("gpt2").join("model.safetensors")).unwrap();
    let model = TransformerModel::from_bytes(config, &weights).unwrap();
    assert_eq!(whole(&model, &[1, 2, 3]), whole(&MODELS[0], &[1, 2, 3]));
}

#[test]
fn a_configuration_round_trips() {
    for model in MODELS.iter() {
        let again = Config::from_json(model.config().to_json().as_bytes(), Path::new("x")).unwrap();
        assert_eq!(&again, model.config());
    }
    let small = Config::small_llama(4096, 256, 4, 4, 512);
    assert_eq!(Config::from_json(small.to_json().as_bytes(), Path::new("x")).unwrap(), small);
    assert_eq!(small.inner_width, 704);
}

#[test]
fn begin_and_end_tokens_are_read() {
    assert_eq!(MODELS[0].end(), Some(60));
    assert_eq!(MODELS[1].config().ends, [2, 3]);
    assert_eq!(MODELS[1].config().begin, Some(1));
    assert_eq!(MODELS[3].end(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn reading_in_pieces_equals_reading_at_once(which in 0..NAMES.len(), pieces in pieces()) {
        check_pieces(&MODELS[which], &pieces, TransformerState::tokens)?;
    }

    #[test]
    fn a_lane_of_a_batch_equals_the_text_alone(which in 0..NAMES.len(), texts in texts()) {
        check_batch(&MODELS[which], &texts)?;
    }

    #[test]
    fn forks_are_independent(which in 0..NAMES.len(), steps in fork_steps()) {
        check_forks(&MODELS[which], steps)?;
    }
}

#[test]
fn an_invalid_step_is_refused_and_changes_nothing() {
    let model = &MODELS[0];
    let mut logits = vec![0.0; 61];
    let mut state = model.start();
    assert_eq!(model.step(&mut state, &[], &mut logits), Err(StepError::NoTokens));
    assert_eq!(
        model.step(&mut state, &[3, 61], &mut logits),
        Err(StepError::Token { token: 61, vocabulary: 61 })
    );
    let short = &mut vec![0.0; 60];
    assert_eq!(model.step(&mut state, &[3], short), Err(StepError::Logits { found: 60, vocabulary: 61 }));
    model.step(&mut state, &[3; 48], &mut logits).unwrap();
    assert_eq!(
        model.step(&mut state, &[3], &mut logits),
        Err(StepError::TooLong { tokens: 49, positions: 48 })
    );
    let before = logits.clone();
    model.step(&mut state, &[], &mut logits).unwrap();
    assert_eq!(before, logits);
    assert_eq!(state.tokens(), 48);
}

#[test]
fn an_empty_batch_succeeds() {
    assert_eq!(MODELS[0].step_batch(&mut []), Ok(()));
}

/// The error of loading a damaged copy of a fixture.
fn damaged(name: &str, damage: impl Fn(&Path)) -> LoadError {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    assert!(TransformerModel::load(folder.path()).is_ok());
    damage(folder.path());
    let Err(error) = TransformerModel::load(folder.path()) else { panic!("it was loaded") };
    error
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_missing_file_or_tensor_is_named() {
    let error = damaged("gpt2", |folder| fs::remove_file(folder.join("config.json")).unwrap());
    assert!(error.to_string().starts_with("cannot read ") && error.to_string().contains("config.json"));
    let error = damaged("gpt2", |folder| fs::remove_file(folder.join("model.safetensors")).unwrap());
    assert!(error.to_string().contains("neither `model.safetensors` nor `model.safetensors.index.json`"));
    let error = damaged("qwen2", |folder| {
        fs::remove_file(folder.join("model-00002-of-00003.safetensors")).unwrap();
    });
    assert!(error.to_string().contains("model-00002-of-00003.safetensors"), "{error}");
    let index = "model.safetensors.index.json";
    let error = damaged("qwen2", |folder| {
        replace(&folder.join(index), "model-00001-of-00003", "../model-00001-of-00003");
    });
    assert!(error.to_string().contains("is no file of this folder"), "{error}");
    let error = damaged("qwen2", |folder| replace(&folder.join(index), "weight_map", "map"));
    assert!(error.to_string().contains("it has no `weight_map`"), "{error}");
    let error = damaged("llama", |folder| {
        replace(&folder.join("config.json"), "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
    });
    assert_eq!(
        error.to_string(),
        "the tensor model.layers.2.input_layernorm.weight is missing from the weights"
    );
}

#[test]
fn an_unsupported_setting_is_named() {
    let config = |name: &str, from: &str, to: &str| {
        damaged(name, |folder| replace(&folder.join("config.json"), from, to)).to_string()
    };
    let error = config("llama", "\"model_type\": \"llama\"", "\"model_type\": \"mamba\"");
    assert!(
        error.ends_with("config.json: the model_type is `mamba`; supported are gpt2, llama, qwen2"),
        "{error}"
    );
    let error = config("llama", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"relu\"");
    assert!(error.ends_with("hidden_act is `relu`; only silu, swish is offered"), "{error}");
    let error = config("llama", "llama3", "yarn");
    assert!(error.ends_with("the rotary type `yarn` is not offered; default, linear, llama3 are"), "{error}");
    let error = config("qwen2", "\"use_sliding_window\": false", "\"use_sliding_window\": true");
    assert!(error.ends_with("use_sliding_window is set, which is not offered"), "{error}");
    let error = config("gpt2", "\"n_head\": 3", "\"n_head\": 5");
    assert!(error.ends_with("a width of 24 is not divided by 5 heads"), "{error}");
    let error = config("gpt2", "\"n_head\": 3", "\"n_head\": 0");
    assert!(error.ends_with("a width of 24 is not divided by 0 heads"), "{error}");
    let error = config("gpt2", "\"n_layer\": 2", "\"n_layer\": -2");
    assert!(error.ends_with("n_layer is -2, and has to be a whole number"), "{error}");
    let error = config("gpt2", "\"eos_token_id\": 60", "\"eos_token_id\": 61");
    assert!(error.ends_with("token 61 is outside the vocabulary of 61"), "{error}");
    let error = config("llama", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3");
    assert!(error.ends_with("4 heads cannot share 3 key-value heads evenly"), "{error}");
    let error = config("gpt2", "{", "[");
    assert!(error.contains("config.json: "), "{error}");
}

#[test]
fn a_wrong_shape_is_named() {
    let error = damaged("llama", |folder| {
        replace(&folder.join("config.json"), "\"intermediate_size\": 40", "\"intermediate_size\": 41");
    });
    let message = "the tensor model.layers.0.mlp.gate_proj.weight has the shape [40, 24]; config.json asks for [41, 24]";
    assert_eq!(error.to_string(), message);
}

#[test]
fn damaged_weights_are_refused() {
    let path = Path::new("model.safetensors");
    for keep in [0, 4, 8, 100, 2000, 60_000] {
        let error = damaged("gpt2", |folder| {
            let bytes = fs::read(folder.join(path)).unwrap();
            fs::write(folder.join(path), &bytes[..keep]).unwrap();
        });
        assert!(matches!(error, LoadError::Weights { .. }), "{error}");
    }
    let error = damaged("gpt2", |folder| {
        let bytes = fs::read(folder.join(path)).unwrap();
        let at = bytes.windows(3).position(|three| three == b"F32").unwrap();
        fs::write(folder.join(path), [&bytes[..at], b"I32", &bytes[at + 3..]].concat()).unwrap();
    });
    assert!(
        error.to_string().ends_with("holds numbers of the kind I32; F32, F16 and BF16 are read"),
        "{error}"
    );
}
