//! Properties of every runtime that reads the tiny models of `lab/language-models/tests/fixtures`.
#![allow(dead_code, reason = "every test program uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use hmm_control::{Lane, LanguageModel, Token};
use proptest::prelude::*;
use safetensors::SafeTensors;
use std::fs;
use std::path::{Path, PathBuf};

pub const NAMES: [&str; 4] = ["gpt2", "llama", "llama-biased", "qwen2"];
pub const NEAR: f32 = 1e-4;
/// Tokens that the fixtures can read.
const POSITIONS: usize = 48;

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../language-models/tests/fixtures").join(name)
}

/// The results of `transformers`: the tokens, and the logits and the last hidden state after each.
pub struct Expected {
    pub tokens: Vec<Token>,
    pub logits: Vec<Vec<f32>>,
    pub hidden: Vec<Vec<f32>>,
}

pub fn expected(name: &str) -> Expected {
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

pub fn far(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
}

/// The logits after tokens that are read at once.
pub fn whole<M: LanguageModel>(model: &M, tokens: &[Token]) -> Vec<f32> {
    let mut logits = vec![f32::NAN; model.vocabulary()];
    model.step(&mut model.start(), tokens, &mut logits).unwrap();
    logits
}

/// The largest difference of logits and features from those of `transformers`, token by token and read at once.
pub fn from_transformers<M: LanguageModel>(model: &M, expected: &Expected) -> f32 {
    let (mut state, mut most): (_, f32) = (model.start(), 0.0);
    let mut logits = vec![0.0; model.vocabulary()];
    for (place, token) in expected.tokens.iter().enumerate() {
        model.step(&mut state, &[*token], &mut logits).unwrap();
        most = most.max(far(&logits, &expected.logits[place]));
        most = most.max(far(model.features(&state).unwrap(), &expected.hidden[place]));
        most = most.max(far(&whole(model, &expected.tokens[..=place]), &expected.logits[place]));
    }
    most
}

/// Tokens split into pieces.
pub fn pieces() -> impl Strategy<Value = Vec<Vec<Token>>> {
    prop::collection::vec(prop::collection::vec(0_u32..61, 1..12), 1..5)
}

/// Texts in pieces, and how many of the last pieces a second batch reads.
pub fn texts() -> impl Strategy<Value = Vec<(Vec<Vec<Token>>, usize)>> {
    prop::collection::vec((pieces(), 0_usize..3), 1..6)
}

/// The text of the next step, the tokens that it reads, and whether it is dropped (0) or forked (1, 2) before.
pub type ForkStep = (prop::sample::Index, Vec<Token>, u8);

pub fn fork_steps() -> impl Strategy<Value = Vec<ForkStep>> {
    prop::collection::vec(
        (any::<prop::sample::Index>(), prop::collection::vec(0_u32..61, 1..9), 0_u8..4),
        1..16,
    )
}

/// Reading in pieces gives the same as reading at once; `tokens` counts the tokens of a state.
pub fn check_pieces<M: LanguageModel>(
    model: &M,
    pieces: &[Vec<Token>],
    tokens: fn(&M::State) -> usize,
) -> Result<(), TestCaseError> {
    let mut state = model.start();
    let mut logits = vec![0.0; model.vocabulary()];
    for piece in pieces {
        model.step(&mut state, piece, &mut logits).unwrap();
    }
    let all = pieces.concat();
    prop_assert_eq!(tokens(&state), all.len());
    prop_assert!(far(&logits, &whole(model, &all)) < NEAR);
    // A step without tokens repeats the logits.
    let again = &mut vec![0.0; model.vocabulary()];
    model.step(&mut state, &[], again).unwrap();
    prop_assert!(far(&logits, again) < NEAR);
    Ok(())
}

/// Each lane of a batch gives the same as the text alone.
pub fn check_batch<M: LanguageModel>(
    model: &M,
    texts: &[(Vec<Vec<Token>>, usize)],
) -> Result<(), TestCaseError> {
    let mut states: Vec<_> = texts.iter().map(|_| model.start()).collect();
    let mut logits = vec![vec![0.0; model.vocabulary()]; texts.len()];
    // The last pieces come in a second batch, so that lanes differ in how many tokens they have read.
    let cut: Vec<usize> =
        texts.iter().map(|(pieces, back)| pieces.len().saturating_sub(*back).max(1)).collect();
    for second in [false, true] {
        let part = |((pieces, _), cut): (&(Vec<Vec<Token>>, usize), &usize)| {
            if second { pieces[*cut..].concat() } else { pieces[..*cut].concat() }
        };
        let tokens: Vec<Vec<Token>> = texts.iter().zip(&cut).map(part).collect();
        let lanes = states.iter_mut().zip(&tokens).zip(&mut logits);
        let mut lanes: Vec<Lane<'_, _>> =
            lanes.map(|((state, tokens), logits)| Lane { state, tokens, logits }).collect();
        model.step_batch(&mut lanes).unwrap();
    }
    for ((pieces, _), logits) in texts.iter().zip(&logits) {
        prop_assert!(far(logits, &whole(model, &pieces.concat())) < NEAR);
    }
    Ok(())
}

/// Forks may be continued or dropped at any time; each gives the same as its text alone.
pub fn check_forks<M: LanguageModel>(model: &M, steps: Vec<ForkStep>) -> Result<(), TestCaseError> {
    let mut logits = vec![0.0; model.vocabulary()];
    let mut texts = vec![(model.start(), Vec::new())];
    for (index, tokens, what) in steps {
        let at = index.index(texts.len());
        match what {
            0 if texts.len() > 1 => drop(texts.remove(at)),
            1 | 2 => {
                let copy = texts[at].clone();
                texts.push(copy);
            }
            _ => {}
        }
        let at = index.index(texts.len());
        if texts[at].1.len() + tokens.len() >= POSITIONS {
            continue;
        }
        let (state, read) = &mut texts[at];
        model.step(state, &tokens, &mut logits).unwrap();
        read.extend(tokens);
        prop_assert!(far(&logits, &whole(model, read)) < NEAR);
    }
    // One more token shows that no fork changed the keys and values of another.
    for (mut state, read) in texts {
        model.step(&mut state, &[7], &mut logits).unwrap();
        prop_assert!(far(&logits, &whole(model, &[&read[..], &[7]].concat())) < NEAR);
    }
    Ok(())
}
