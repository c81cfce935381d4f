//! Our own form of file: what is written is read, to the bit, in place, and by others too.

use crate::models::{STORAGES, f64s, parameters, safetensors, small};
use hmm_control::{FileError, Form, Hmm, Matrix, ModelFile, SharedBytes, Storage};
use proptest::prelude::*;
use safetensors::SafeTensors;
use std::sync::Arc;

fn written(file: &ModelFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<ModelFile, FileError> {
    ModelFile::read(Arc::new(bytes.to_vec()))
}

fn assert_same(one: &Matrix, other: &Matrix) {
    assert_eq!((one.rows(), one.columns()), (other.rows(), other.columns()));
    assert_eq!(one.storage(), other.storage());
    assert_eq!(one.bytes(), other.bytes());
    let bits = |matrix: &Matrix| matrix.scales().iter().map(|scale| scale.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(one), bits(other));
}

fn assert_same_model(one: &Hmm, other: &Hmm) {
    let bits = |hmm: &Hmm| hmm.initial().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(one), bits(other));
    assert_same(one.transition(), other.transition());
    assert_same(one.emission(), other.emission());
}

/// Bytes at any address that is `shift` off a multiple of 8.
struct Shifted {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Shifted {
    fn new(bytes: &[u8], shift: usize) -> Shifted {
        let mut shifted = vec![0; bytes.len() + 16];
        let start = (16 - shifted.as_ptr().addr() % 8 + shift) % 16;
        shifted[start..start + bytes.len()].copy_from_slice(bytes);
        Shifted { bytes: shifted, start, length: bytes.len() }
    }
}

impl AsRef<[u8]> for Shifted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

fn lies_in(matrix: &Matrix, bytes: &SharedBytes) -> bool {
    let outer = (**bytes).as_ref().as_ptr_range();
    let inner = matrix.bytes().as_ptr_range();
    outer.start <= inner.start && inner.end <= outer.end
}

proptest! {
    #[test]
    fn every_storage_comes_back_to_the_bit(
        parameters in parameters(),
        transition in prop::sample::select(&STORAGES),
        emission in prop::sample::select(&STORAGES),
        end in any::<prop::sample::Index>(),
        notes in prop::collection::btree_map(any::<String>(), any::<String>(), 0..3),
        shift in 0_usize..8,
    ) {
        let Ok(hmm) = parameters.hmm(Storage::F64).to_storage(transition, emission) else {
            return Err(TestCaseError::reject("too narrow a storage"));
        };
        let mut file = ModelFile::new(hmm);
        file.end_token = Some(end.index(parameters.vocabulary()) as u32);
        file.notes = notes;
        let bytes = written(&file);
        prop_assert_eq!(Form::of(&bytes).unwrap(), Form::Portcullis);

        let shared: SharedBytes = Arc::new(Shifted::new(&bytes, shift));
        let again = ModelFile::read(Arc::clone(&shared)).unwrap();
        assert_same_model(&again.hmm, &file.hmm);
        prop_assert_eq!(again.end_token, file.end_token);
        prop_assert_eq!(&again.notes, &file.notes);
        // In place if and only if the bytes allow it, since the writer aligns every tensor.
        for matrix in [again.hmm.transition(), again.hmm.emission()] {
            prop_assert_eq!(lies_in(matrix, &shared), shift % matrix.storage().bytes() == 0);
        }
        prop_assert_eq!(written(&again), bytes, "the same model gives the same bytes");
    }

    #[test]
    fn the_library_of_safetensors_agrees(
        parameters in parameters(),
        storage in prop::sample::select(&STORAGES),
    ) {
        let Ok(hmm) = parameters.hmm(Storage::F64).to_storage(storage, storage) else {
            return Err(TestCaseError::reject("too narrow a storage"));
        };
        let bytes = written(&ModelFile::new(hmm.clone()));
        let theirs = SafeTensors::deserialize(&bytes).unwrap();
        prop_assert_eq!(theirs.len(), if storage.is_scaled() { 5 } else { 3 });
        let emission = theirs.tensor("emission").unwrap();
        prop_assert_eq!(emission.shape(), &[hmm.vocabulary(), hmm.states()]);
        prop_assert_eq!(emission.data(), hmm.emission().bytes());
        let transition = theirs.tensor("transition").unwrap();
        prop_assert_eq!(transition.data(), hmm.transition().bytes());
        // A cache line for what comes first, and every tensor aligned to its numbers.
        let (length, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        prop_assert_eq!((length + 8) % 64, 0);
        for (name, info) in metadata.tensors() {
            prop_assert_eq!(info.data_offsets.0 % (info.dtype.bitsize() / 8), 0, "{}", name);
        }
    }
}

#[test]
fn matrices_of_the_usual_sizes_lie_on_cache_lines() {
    for storage in STORAGES {
        let states = 64;
        let even = |rows: usize, storage| {
            Matrix::from_rows(rows, states, storage, |_, row| row.fill(1.0 / rows as f64))
        };
        let initial = vec![1.0 / 64.0; 64];
        let hmm = Hmm::from_parts(initial, even(64, storage), even(257, storage)).unwrap();
        let bytes = written(&ModelFile::new(hmm));
        let (length, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        for name in ["transition", "emission"] {
            let place = metadata.info(name).unwrap().data_offsets.0 + length + 8;
            assert_eq!(place % 64, 0, "{name} in {storage}");
        }
    }
}

/// A file as another writer might leave it: the emissions behind a tensor of odd length that is not ours.
#[test]
fn a_tensor_out_of_place_is_copied() {
    let model = small();
    let texts = texts("1", "f64");
    let bytes = safetensors(
        &texts,
        &[
            ("initial", "F64", vec![3], f64s(&model.initial)),
            ("comment", "U8", vec![3], vec![1, 2, 3]),
            ("transition", "F64", vec![3, 3], f64s(model.transition.t().iter())),
            ("emission", "F64", vec![5, 3], f64s(model.emission.t().iter())),
        ],
    );
    let file = read(&bytes).unwrap();
    assert_same_model(&file.hmm, &model.hmm(Storage::F64));
}

fn texts(version: &'static str, storage: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("format", "portcullis-hmm"),
        ("version", version),
        ("transition", "by target"),
        ("emission", "by token"),
        ("transition.storage", storage),
        ("emission.storage", storage),
    ]
}

/// The small model in f64, changed before it is put together; what is said of it.
fn told(
    change: impl Fn(
        &mut Vec<(&'static str, &'static str)>,
        &mut Vec<(&'static str, &'static str, Vec<usize>, Vec<u8>)>,
    ),
) -> String {
    let model = small();
    let mut texts = texts("1", "f64");
    let mut tensors = vec![
        ("initial", "F64", vec![3], f64s(&model.initial)),
        ("transition", "F64", vec![3, 3], f64s(model.transition.t().iter())),
        ("emission", "F64", vec![5, 3], f64s(model.emission.t().iter())),
    ];
    change(&mut texts, &mut tensors);
    read(&safetensors(&texts, &tensors)).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
}

#[test]
fn an_error_says_what_is_wrong() {
    assert_eq!(told(|_, _| {}), "fine");
    assert_eq!(
        told(|texts, _| texts[1].1 = "2"),
        "this is version `2` of the format; version `1` is read here"
    );
    assert_eq!(
        told(|texts, _| {
            texts.remove(1);
        }),
        "the header's `version` is not there, but `1` was expected"
    );
    assert_eq!(
        told(|texts, _| texts[2].1 = "by source"),
        "the header's `transition` is `by source`, but `by target` was expected"
    );
    assert_eq!(
        told(|texts, _| texts[5].1 = "f8"),
        "the header's `emission.storage` is `f8`, but `f64`, `f32`, `f16`, `bf16` or `bits8` was expected"
    );
    assert_eq!(
        told(|texts, _| texts[5].1 = "f32"),
        "tensor `emission` holds numbers of type F64, but F32 was expected"
    );
    assert_eq!(
        told(|texts, _| texts.push(("end_token", "5"))),
        "the header's `end_token` is `5`, but a token below 5 was expected"
    );
    assert_eq!(
        told(|_, tensors| tensors[0] = ("initial", "F32", vec![6], tensors[0].3.clone())),
        "tensor `initial` holds numbers of type F32, but F64 was expected"
    );
    assert_eq!(
        told(|_, tensors| tensors[2].2 = vec![3, 5]),
        "tensor `emission` has the shape [3, 5], but [tokens, 3] was expected"
    );
    assert_eq!(
        told(|_, tensors| tensors[1].2 = vec![9]),
        "tensor `transition` has the shape [9], but [3, 3] was expected"
    );
    assert_eq!(
        told(|_, tensors| drop(tensors.remove(2))),
        "tensor `emission` is missing; the file has `initial`, `transition`"
    );
    assert_eq!(
        told(|_, tensors| tensors[2] = ("emission", "F64", vec![0, 3], vec![])),
        "tensor `emission` has the shape [0, 3], but [tokens, 3] was expected"
    );
    assert_eq!(
        told(|_, tensors| tensors[1].3[..8].copy_from_slice(&2.0_f64.to_le_bytes())),
        "transition of state 0 holds 2, which is no probability"
    );
    assert_eq!(
        told(|_, tensors| tensors[2].3[..8].copy_from_slice(&f64::NAN.to_le_bytes())),
        "emission of state 0 holds NaN, which is no probability"
    );
    assert_eq!(
        told(|_, tensors| tensors[0].3[..8].copy_from_slice(&0.0_f64.to_le_bytes())),
        "initial of state 0 sums to 0.5, not to 1 (tolerance 0.0001)"
    );
    assert!(
        told(|texts, tensors| {
            texts[0].1 = "pt";
            tensors[1].0 = "weight\u{1b}[31m";
        })
        .ends_with("the file has `initial`, `weight\\u{1b}[31m`, `emission`")
    );
}

#[test]
fn a_scale_hides_nothing() {
    for (first, last, row) in [
        // Minus times minus would be a probability; so would zero times anything.
        (f32::NAN, 0_u8, "row 0, holds NaN"),
        (f32::INFINITY, 0, "row 0, holds inf"),
        (-0.0, 0, "row 0, holds -0"),
        (0.0, 7, "row 0, holds 0"),
    ] {
        let model = small();
        let file = ModelFile::new(model.hmm(Storage::F64).to_storage(Storage::F64, Storage::Bits8).unwrap());
        let mut bytes = written(&file);
        let (length, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let place = |name: &str| metadata.info(name).unwrap().data_offsets.0 + length + 8;
        let (scale, row_0) = (place("emission.scale"), place("emission"));
        bytes[scale..scale + 4].copy_from_slice(&first.to_le_bytes());
        bytes[row_0..row_0 + 3].fill(last);
        let error = read(&bytes).unwrap_err();
        assert!(matches!(error, FileError::Scale { row: 0, .. }), "{error}");
        assert!(error.to_string().starts_with(&format!("tensor `emission.scale`, {row}")), "{error}");
    }
}

#[test]
fn notes_have_a_limit_and_a_failed_writer_is_told() {
    let mut file = ModelFile::new(small().hmm(Storage::F32));
    file.notes.insert("log".into(), "x".repeat(1 << 20));
    let mut bytes = Vec::new();
    assert!(matches!(file.write(&mut bytes), Err(FileError::Notes { .. })));
    assert!(bytes.is_empty(), "nothing is written before it is known that all can be");

    file.notes.clear();
    let mut short = [0; 400];
    let error = file.write(&mut &mut short[..]).unwrap_err();
    assert_eq!(error.to_string(), "the model could not be written: failed to write whole buffer");
}
