//! Small models for the tests of files.
#![allow(dead_code, reason = "each test takes what it needs")]

use hmm_control::{Hmm, Storage};
use ndarray::Array2;
use proptest::prelude::*;

pub const STORAGES: [Storage; 5] = [Storage::F64, Storage::F32, Storage::F16, Storage::Bf16, Storage::Bits8];

/// The parameters of a model: rows that sum to 1, some numbers 0.
#[derive(Debug, Clone)]
pub struct Parameters {
    pub initial: Vec<f64>,
    /// `[from, to]`
    pub transition: Array2<f64>,
    /// `[state, token]`
    pub emission: Array2<f64>,
}

impl Parameters {
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    pub fn vocabulary(&self) -> usize {
        self.emission.ncols()
    }

    pub fn hmm(&self, storage: Storage) -> Hmm {
        Hmm::new(&self.initial, self.transition.view(), self.emission.view(), storage).unwrap()
    }
}

pub fn normalise(mut row: Vec<f64>) -> Vec<f64> {
    if row.iter().all(|value| *value == 0.0) {
        row[0] = 1.0;
    }
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
    row
}

fn distribution(length: usize) -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![1 => Just(0.0), 4 => 0.0..1.0_f64, 1 => 0.0..1e-6_f64];
    prop::collection::vec(number, length).prop_map(normalise)
}

pub fn parameters() -> impl Strategy<Value = Parameters> {
    (1_usize..=6, 1_usize..=9).prop_flat_map(|(states, tokens)| {
        (
            distribution(states),
            prop::collection::vec(distribution(states), states),
            prop::collection::vec(distribution(tokens), states),
        )
            .prop_map(move |(initial, transition, emission)| Parameters {
                initial,
                transition: Array2::from_shape_vec((states, states), transition.concat()).unwrap(),
                emission: Array2::from_shape_vec((states, tokens), emission.concat()).unwrap(),
            })
    })
}

/// One model of 3 states and 5 tokens.
pub fn small() -> Parameters {
    Parameters {
        initial: vec![0.5, 0.25, 0.25],
        transition: ndarray::array![[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.0, 0.0, 1.0]],
        emission: ndarray::array![
            [0.5, 0.25, 0.125, 0.125, 0.0],
            [0.0, 0.25, 0.25, 0.5, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0]
        ],
    }
}

/// A safetensors file by hand: what the header says, and the tensors in their order (name, type, shape, bytes).
pub fn safetensors(texts: &[(&str, &str)], tensors: &[(&str, &str, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let texts: serde_json::Map<String, serde_json::Value> =
        texts.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    header.insert("__metadata__".into(), texts.into());
    let mut place = 0;
    for (name, dtype, shape, bytes) in tensors {
        let end = place + bytes.len();
        let entry = serde_json::json!({ "dtype": dtype, "shape": shape, "data_offsets": [place, end] });
        header.insert((*name).to_owned(), entry);
        place = end;
    }
    let header = serde_json::Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    tensors.iter().for_each(|(_, _, _, bytes)| file.extend_from_slice(bytes));
    file
}

pub fn f64s<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u8> {
    values.into_iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub fn f32s<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u8> {
    values.into_iter().flat_map(|value| (*value as f32).to_le_bytes()).collect()
}
