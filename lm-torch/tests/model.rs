//! The tiny models of `lm-reference/tests/fixtures`, against what `transformers` says of them, and what holds for every
//! model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use hmm_control::{Lane, LanguageModel, Token};
use lm_reference::ReferenceModel;
use lm_torch::tch::{self, Device, Kind, Tensor};
use lm_torch::{TorchModel, Trainable};
use proptest::prelude::*;
use safetensors::SafeTensors;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

const NAMES: [&str; 4] = ["gpt2", "llama", "llama-biased", "qwen2"];
const NEAR: f32 = 1e-4;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lm-reference/tests/fixtures").join(name)
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

fn load(name: &str, kind: Kind) -> TorchModel {
    static ONE_THREAD: Once = Once::new();
    ONE_THREAD.call_once(|| tch::set_num_threads(1));
    TorchModel::load(&fixture(name), Device::Cpu, kind).unwrap()
}

/// The logits behind tokens that are read at once.
fn whole<M: LanguageModel>(model: &M, tokens: &[Token]) -> Vec<f32> {
    let mut logits = vec![f32::NAN; model.vocabulary()];
    model.step(&mut model.start(), tokens, &mut logits).unwrap();
    logits
}

#[test]
fn logits_and_hidden_states_are_those_of_transformers_and_of_plain_rust() {
    for name in NAMES {
        let model = load(name, Kind::Float);
        let reference = ReferenceModel::load(&fixture(name)).unwrap();
        let expected = expected(name);
        let mut state = model.start();
        let mut logits = vec![0.0; model.vocabulary()];
        let (mut most, mut between): (f32, f32) = (0.0, 0.0);
        for (place, token) in expected.tokens.iter().enumerate() {
            model.step(&mut state, &[*token], &mut logits).unwrap();
            most = most.max(far(&logits, &expected.logits[place]));
            most = most.max(far(model.features(&state).unwrap(), &expected.hidden[place]));
            let read = &expected.tokens[..=place];
            most = most.max(far(&whole(&model, read), &expected.logits[place]));
            between = between.max(far(&logits, &whole(&reference, read)));
        }
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
fn what_was_trained_is_saved_and_loaded_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let model = Trainable::load(&fixture(name), Device::Cpu).unwrap();
        let text = Tensor::from_slice(&[1_i64, 2, 3, 4, 5, 6, 7, 8]).view([2, 4]);
        let logits = model.logits(&text).unwrap();
        logits.square().mean(Kind::Float).backward();
        // Every parameter has a say.
        for (name, tensor) in model.variables().variables() {
            assert!(tensor.grad().defined() && tensor.grad().abs().max().double_value(&[]) > 0.0, "{name}");
        }
        model.save(folder.path(), Kind::Half).unwrap();
        let copy = model.to_model(Kind::Float).unwrap();
        let again = TorchModel::load(folder.path(), Device::Cpu, Kind::Float).unwrap();
        let reference = ReferenceModel::load(folder.path()).unwrap();
        assert_eq!(again.config(), model.config());
        let tokens = [1, 2, 3, 4];
        let last = Vec::<f32>::try_from(logits.get(0).get(3).detach()).unwrap();
        assert!(far(&last, &whole(&copy, &tokens)) < NEAR, "{name}");
        assert!(far(&whole(&again, &tokens), &whole(&reference, &tokens)) < NEAR, "{name}");
        // Rounded to eleven bits.
        assert!(far(&last, &whole(&again, &tokens)) < 0.05, "{name}");
    }
}

/// Some tokens, in pieces.
fn pieces() -> impl Strategy<Value = Vec<Vec<Token>>> {
    prop::collection::vec(prop::collection::vec(0_u32..61, 1..12), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn in_pieces_is_as_in_one(which in 0..NAMES.len(), pieces in pieces()) {
        let model = load(NAMES[which], Kind::Float);
        let mut state = model.start();
        let mut logits = vec![0.0; model.vocabulary()];
        for piece in &pieces {
            model.step(&mut state, piece, &mut logits).unwrap();
        }
        let all = pieces.concat();
        prop_assert_eq!(state.tokens(), all.len());
        prop_assert!(far(&logits, &whole(&model, &all)) < NEAR);
        // Nothing more: the same once more.
        let again = &mut vec![0.0; model.vocabulary()];
        model.step(&mut state, &[], again).unwrap();
        prop_assert!(far(&logits, again) < NEAR);
    }

    #[test]
    fn side_by_side_is_as_alone(which in 0..NAMES.len(), texts in prop::collection::vec((pieces(), 0_usize..3), 1..6)) {
        let model = load(NAMES[which], Kind::Float);
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
            prop_assert!(far(logits, &whole(&model, &pieces.concat())) < NEAR);
        }
    }

    /// A tree of forks, any of which may be read on, or dropped, at any time: each is as if it had been read alone.
    #[test]
    fn a_fork_knows_nothing_of_the_others(
        which in 0..NAMES.len(),
        steps in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::collection::vec(0_u32..61, 1..9), 0..4), 1..16,
        ),
    ) {
        let model = load(NAMES[which], Kind::Float);
        let mut logits = vec![0.0; model.vocabulary()];
        let mut texts = vec![(model.start(), Vec::new())];
        for (index, tokens, what) in steps {
            let at = index.index(texts.len());
            if texts[at].1.len() + tokens.len() > 47 {
                continue;
            }
            match what {
                0 if texts.len() > 1 => drop(texts.remove(at)),
                1 | 2 => {
                    let copy = texts[at].clone();
                    texts.push(copy);
                }
                _ => {}
            }
            let at = index.index(texts.len());
            if texts[at].1.len() + tokens.len() > 47 {
                continue;
            }
            let (state, read) = &mut texts[at];
            model.step(state, &tokens, &mut logits).unwrap();
            read.extend(tokens);
            prop_assert!(far(&logits, &whole(&model, read)) < NEAR);
        }
        // Their keys and values are their own: one token more says so.
        for (mut state, read) in texts {
            model.step(&mut state, &[7], &mut logits).unwrap();
            prop_assert!(far(&logits, &whole(&model, &[&read[..], &[7]].concat())) < NEAR);
        }
    }
}

#[test]
fn half_the_bits_give_nearly_the_same() {
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
fn forks_may_be_read_on_in_other_threads() {
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
fn what_cannot_be_loaded_is_named() {
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
fn a_step_that_cannot_be_is_refused_and_changes_nothing() {
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
