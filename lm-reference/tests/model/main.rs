//! The tiny models of `fixtures/`, against what `transformers` says of them; and what holds for every model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod decode;
mod tokenizer;

use hmm_control::{Lane, LanguageModel, Token};
use lm_reference::{Config, LoadError, ReferenceModel, StepError};
use proptest::prelude::*;
use safetensors::SafeTensors;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const NAMES: [&str; 4] = ["gpt2", "llama", "llama-biased", "qwen2"];
const NEAR: f32 = 1e-4;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// What `transformers` says: the tokens, and the logits and the last hidden state behind each.
struct Expected {
    tokens: Vec<Token>,
    logits: Vec<Vec<f32>>,
    hidden: Vec<Vec<f32>>,
}

fn expected(name: &str) -> Expected {
    let bytes = fs::read(fixture(name).join("expected.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let tokens = tensors.tensor("tokens").unwrap();
    let tokens =
        tokens.data().chunks_exact(8).map(|eight| i64::from_le_bytes(eight.try_into().unwrap()) as Token);
    let rows = |name: &str| -> Vec<Vec<f32>> {
        let tensor = tensors.tensor(name).unwrap();
        let numbers = tensor.data().chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
        numbers.collect::<Vec<f32>>().chunks(tensor.shape()[1]).map(<[f32]>::to_vec).collect()
    };
    Expected { tokens: tokens.collect(), logits: rows("logits"), hidden: rows("hidden") }
}

fn far(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
}

static MODELS: LazyLock<Vec<ReferenceModel>> =
    LazyLock::new(|| NAMES.iter().map(|name| ReferenceModel::load(&fixture(name)).unwrap()).collect());

/// The logits behind tokens that are read at once.
fn whole(model: &ReferenceModel, tokens: &[Token]) -> Vec<f32> {
    let mut logits = vec![f32::NAN; model.vocabulary()];
    model.step(&mut model.start(), tokens, &mut logits).unwrap();
    logits
}

#[test]
fn logits_and_hidden_states_are_those_of_transformers() {
    for (name, model) in NAMES.iter().zip(MODELS.iter()) {
        let expected = expected(name);
        let mut state = model.start();
        let mut logits = vec![0.0; model.vocabulary()];
        let mut most: f32 = 0.0;
        for (place, token) in expected.tokens.iter().enumerate() {
            model.step(&mut state, &[*token], &mut logits).unwrap();
            most = most.max(far(&logits, &expected.logits[place]));
            most = most.max(far(model.features(&state).unwrap(), &expected.hidden[place]));
            most = most.max(far(&whole(model, &expected.tokens[..=place]), &expected.logits[place]));
        }
        println!("{name}: {most:e}");
        assert!(most < NEAR, "{name}: {most}");
    }
}

#[test]
fn a_model_built_into_a_program_is_the_same() {
    let config = fs::read(fixture("gpt2").join("config.json")).unwrap();
    let config = Config::from_json(&config, Path::new("built in")).unwrap();
    let weights = fs::read(fixture("gpt2").join("model.safetensors")).unwrap();
    let model = ReferenceModel::from_bytes(config, &weights).unwrap();
    assert_eq!(whole(&model, &[1, 2, 3]), whole(&MODELS[0], &[1, 2, 3]));
}

#[test]
fn a_configuration_that_is_written_reads_the_same() {
    for model in MODELS.iter() {
        let again = Config::from_json(model.config().to_json().as_bytes(), Path::new("x")).unwrap();
        assert_eq!(&again, model.config());
    }
    let small = Config::small_llama(4096, 256, 4, 4, 512);
    assert_eq!(Config::from_json(small.to_json().as_bytes(), Path::new("x")).unwrap(), small);
    assert_eq!(small.inner_width, 704);
}

#[test]
fn ends_and_begins_are_read() {
    assert_eq!(MODELS[0].end(), Some(60));
    assert_eq!(MODELS[1].config().ends, [2, 3]);
    assert_eq!(MODELS[1].config().begin, Some(1));
    assert_eq!(MODELS[3].end(), None);
}

/// Some tokens, in pieces.
fn pieces() -> impl Strategy<Value = Vec<Vec<Token>>> {
    prop::collection::vec(prop::collection::vec(0_u32..61, 1..12), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn in_pieces_is_as_in_one(which in 0..NAMES.len(), pieces in pieces()) {
        let model = &MODELS[which];
        let mut state = model.start();
        let mut logits = vec![0.0; model.vocabulary()];
        for piece in &pieces {
            model.step(&mut state, piece, &mut logits).unwrap();
        }
        let all = pieces.concat();
        prop_assert_eq!(state.tokens(), all.len());
        prop_assert!(far(&logits, &whole(model, &all)) < NEAR);
        // Nothing more: the same once more.
        let again = &mut vec![0.0; model.vocabulary()];
        model.step(&mut state, &[], again).unwrap();
        prop_assert!(far(&logits, again) < NEAR);
    }

    #[test]
    fn side_by_side_is_as_alone(which in 0..NAMES.len(), texts in prop::collection::vec((pieces(), 0_usize..3), 1..6)) {
        let model = &MODELS[which];
        let mut states: Vec<_> = texts.iter().map(|_| model.start()).collect();
        let mut logits = vec![vec![0.0; model.vocabulary()]; texts.len()];
        // First all but some last pieces of each, then those, so that lanes differ in what they have read.
        let cut: Vec<usize> = texts.iter().map(|(pieces, back)| pieces.len().saturating_sub(*back).max(1)).collect();
        for second in [false, true] {
            let tokens: Vec<Vec<Token>> = texts.iter().zip(&cut).map(|((pieces, _), cut)| {
                if second { pieces[*cut..].concat() } else { pieces[..*cut].concat() }
            }).collect();
            let mut lanes: Vec<Lane<'_, _>> = states.iter_mut().zip(&tokens).zip(&mut logits)
                .map(|((state, tokens), logits)| Lane { state, tokens, logits }).collect();
            model.step_batch(&mut lanes).unwrap();
        }
        for ((pieces, _), logits) in texts.iter().zip(&logits) {
            prop_assert!(far(logits, &whole(model, &pieces.concat())) < NEAR);
        }
    }

    /// A tree of forks, any of which may be read on at any time: each is as if it had been read alone.
    #[test]
    fn a_fork_knows_nothing_of_the_others(
        which in 0..NAMES.len(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(0_u32..61, 1..9), any::<bool>()), 1..14),
    ) {
        let model = &MODELS[which];
        let mut logits = vec![0.0; model.vocabulary()];
        let mut texts = vec![(model.start(), Vec::new())];
        for (index, tokens, fork) in steps {
            let at = index.index(texts.len());
            if texts[at].1.len() + tokens.len() > 48 {
                continue;
            }
            if fork {
                let copy = texts[at].clone();
                texts.push(copy);
            }
            let (state, read) = &mut texts[at];
            model.step(state, &tokens, &mut logits).unwrap();
            read.extend(tokens);
            prop_assert!(far(&logits, &whole(model, read)) < NEAR);
        }
        for (mut state, read) in texts {
            if !read.is_empty() {
                model.step(&mut state, &[], &mut logits).unwrap();
                prop_assert!(far(&logits, &whole(model, &read)) < NEAR);
                // And its keys and values are its own: one token more says so.
                if read.len() < 48 {
                    model.step(&mut state, &[7], &mut logits).unwrap();
                    prop_assert!(far(&logits, &whole(model, &[&read[..], &[7]].concat())) < NEAR);
                }
            }
        }
    }
}

#[test]
fn a_step_that_cannot_be_is_refused_and_changes_nothing() {
    let model = &MODELS[0];
    let mut logits = vec![0.0; 61];
    let mut state = model.start();
    assert_eq!(model.step(&mut state, &[], &mut logits), Err(StepError::Nothing));
    assert_eq!(
        model.step(&mut state, &[3, 61], &mut logits),
        Err(StepError::Token { token: 61, vocabulary: 61 })
    );
    let short = &mut vec![0.0; 60];
    assert_eq!(model.step(&mut state, &[3], short), Err(StepError::Logits { found: 60, vocabulary: 61 }));
    model.step(&mut state, &[3; 48], &mut logits).unwrap();
    assert_eq!(model.step(&mut state, &[3], &mut logits), Err(StepError::Long { tokens: 49, positions: 48 }));
    let before = logits.clone();
    model.step(&mut state, &[], &mut logits).unwrap();
    assert_eq!(before, logits);
    assert_eq!(state.tokens(), 48);
}

#[test]
fn nothing_to_do_is_done() {
    assert_eq!(MODELS[0].step_batch(&mut []), Ok(()));
}

/// A copy of a fixture, to be spoilt.
fn spoilt(name: &str, spoil: impl Fn(&Path)) -> LoadError {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    assert!(ReferenceModel::load(folder.path()).is_ok());
    spoil(folder.path());
    let Err(error) = ReferenceModel::load(folder.path()) else { panic!("it was loaded") };
    error
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn what_is_missing_is_named() {
    let error = spoilt("gpt2", |folder| fs::remove_file(folder.join("config.json")).unwrap());
    assert!(error.to_string().starts_with("cannot read ") && error.to_string().contains("config.json"));
    let error = spoilt("gpt2", |folder| fs::remove_file(folder.join("model.safetensors")).unwrap());
    assert!(error.to_string().contains("neither `model.safetensors` nor `model.safetensors.index.json`"));
    let error = spoilt("qwen2", |folder| {
        fs::remove_file(folder.join("model-00002-of-00003.safetensors")).unwrap();
    });
    assert!(error.to_string().contains("model-00002-of-00003.safetensors"), "{error}");
    let index = "model.safetensors.index.json";
    let error = spoilt("qwen2", |folder| {
        replace(&folder.join(index), "model-00001-of-00003", "../model-00001-of-00003");
    });
    assert!(error.to_string().contains("is no file of this folder"), "{error}");
    let error = spoilt("qwen2", |folder| replace(&folder.join(index), "weight_map", "map"));
    assert!(error.to_string().contains("it has no `weight_map`"), "{error}");
    let error = spoilt("llama", |folder| {
        replace(&folder.join("config.json"), "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
    });
    assert_eq!(
        error.to_string(),
        "the tensor model.layers.2.input_layernorm.weight is missing from the weights"
    );
}

#[test]
fn what_is_not_offered_is_named() {
    let config = |name: &str, from: &str, to: &str| {
        spoilt(name, |folder| replace(&folder.join("config.json"), from, to)).to_string()
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
    let error = spoilt("llama", |folder| {
        replace(&folder.join("config.json"), "\"intermediate_size\": 40", "\"intermediate_size\": 41");
    });
    let message = "the tensor model.layers.0.mlp.gate_proj.weight has the shape [40, 24]; config.json asks for [41, 24]";
    assert_eq!(error.to_string(), message);
}

#[test]
fn damaged_weights_are_refused() {
    let path = Path::new("model.safetensors");
    for keep in [0, 4, 8, 100, 2000, 60_000] {
        let error = spoilt("gpt2", |folder| {
            let bytes = fs::read(folder.join(path)).unwrap();
            fs::write(folder.join(path), &bytes[..keep]).unwrap();
        });
        assert!(matches!(error, LoadError::Weights { .. }), "{error}");
    }
    let error = spoilt("gpt2", |folder| {
        let bytes = fs::read(folder.join(path)).unwrap();
        let at = bytes.windows(3).position(|three| three == b"F32").unwrap();
        fs::write(folder.join(path), [&bytes[..at], b"I32", &bytes[at + 3..]].concat()).unwrap();
    });
    assert!(
        error.to_string().ends_with("holds numbers of the kind I32; F32, F16 and BF16 are read"),
        "{error}"
    );
}
