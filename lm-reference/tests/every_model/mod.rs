//! What holds for every language model that reads the tiny models of `lm-reference/tests/fixtures`, in whatever it runs.
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lm-reference/tests/fixtures").join(name)
}

/// What `transformers` says: the tokens, and the logits and the last hidden state behind each.
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

/// The logits behind tokens that are read at once.
pub fn whole<M: LanguageModel>(model: &M, tokens: &[Token]) -> Vec<f32> {
    let mut logits = vec![f32::NAN; model.vocabulary()];
    model.step(&mut model.start(), tokens, &mut logits).unwrap();
    logits
}

/// How far logits and features are from those of `transformers`, token by token and read at once.
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

/// Some tokens, in pieces.
pub fn pieces() -> impl Strategy<Value = Vec<Vec<Token>>> {
    prop::collection::vec(prop::collection::vec(0_u32..61, 1..12), 1..5)
}

/// Texts in pieces, and how many of the last pieces a second batch reads.
pub fn texts() -> impl Strategy<Value = Vec<(Vec<Vec<Token>>, usize)>> {
    prop::collection::vec((pieces(), 0_usize..3), 1..6)
}

/// Which text is next, what it reads, and whether it is dropped (0) or forked (1, 2) before.
pub type ForkStep = (prop::sample::Index, Vec<Token>, u8);

pub fn fork_steps() -> impl Strategy<Value = Vec<ForkStep>> {
    prop::collection::vec(
        (any::<prop::sample::Index>(), prop::collection::vec(0_u32..61, 1..9), 0_u8..4),
        1..16,
    )
}

/// In pieces is as in one; `tokens` says how many a state has read.
pub fn in_pieces<M: LanguageModel>(
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
    // Nothing more: the same once more.
    let again = &mut vec![0.0; model.vocabulary()];
    model.step(&mut state, &[], again).unwrap();
    prop_assert!(far(&logits, again) < NEAR);
    Ok(())
}

/// Side by side is as alone.
pub fn side_by_side<M: LanguageModel>(
    model: &M,
    texts: &[(Vec<Vec<Token>>, usize)],
) -> Result<(), TestCaseError> {
    let mut states: Vec<_> = texts.iter().map(|_| model.start()).collect();
    let mut logits = vec![vec![0.0; model.vocabulary()]; texts.len()];
    // First all but some last pieces of each, then those, so that lanes differ in what they have read.
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

/// A tree of forks, any of which may be read on, or dropped, at any time: each is as if it had been read alone.
pub fn forks<M: LanguageModel>(model: &M, steps: Vec<ForkStep>) -> Result<(), TestCaseError> {
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
    // Their keys and values are their own: one token more says so.
    for (mut state, read) in texts {
        model.step(&mut state, &[7], &mut logits).unwrap();
        prop_assert!(far(&logits, &whole(model, &[&read[..], &[7]].concat())) < NEAR);
    }
    Ok(())
}
