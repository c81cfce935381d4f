//! Bytes that are not quite a file: no panic, and either an error or a model that holds.

use crate::models::{f32s, f64s, safetensors, small};
use hmm_control::{Belief, FileError, Form, ImportOptions, ModelFile, Storage};
use proptest::prelude::*;
use std::sync::Arc;

const WIDE: ImportOptions<'static> =
    ImportOptions { transition: Storage::F64, emission: Storage::F32, config: None };

fn ours() -> Vec<u8> {
    let hmm = small().hmm(Storage::F64).to_storage(Storage::F16, Storage::Bits8).unwrap();
    let mut file = ModelFile::new(hmm);
    file.end_token = Some(4);
    file.notes.insert("made by".into(), "a test".into());
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    bytes
}

fn published() -> Vec<u8> {
    let model = small();
    let logarithms: Vec<f64> = model.emission.iter().map(|value| value.ln()).collect();
    safetensors(
        &[("format", "pt")],
        &[
            ("alpha_exp", "F32", vec![3, 3], f32s(&model.transition)),
            ("beta", "F32", vec![3, 5], f32s(&logarithms)),
            ("gamma_exp", "F64", vec![1, 3], f64s(&model.initial)),
        ],
    )
}

fn header_length(bytes: &[u8]) -> usize {
    8 + usize::try_from(u64::from_le_bytes(*bytes.first_chunk().unwrap())).unwrap()
}

/// Reads, and uses what was read. Returns whether it was a model.
fn judge(bytes: &[u8]) -> bool {
    let file = match ModelFile::open(Arc::new(bytes.to_vec()), &WIDE) {
        Ok((file, _)) => file,
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains("::"), "{message}");
            assert!(!message.contains("struct ") && !message.contains("usize"), "{message}");
            return false;
        }
    };
    let mut belief = Belief::start(&file.hmm);
    for token in 0..file.hmm.vocabulary() {
        let log_probability = belief.observe(&file.hmm, token as u32);
        assert!(!log_probability.is_nan() && log_probability <= 0.2, "{log_probability}");
        assert!(belief.predicted().iter().all(|value| (0.0..=1.0 + 1e-9).contains(value)));
    }
    true
}

#[test]
fn every_truncation_is_refused() {
    for whole in [ours(), published()] {
        assert!(judge(&whole));
        for length in 0..whole.len() {
            let error = ModelFile::open(Arc::new(whole[..length].to_vec()), &WIDE).unwrap_err();
            if length >= header_length(&whole) {
                assert_eq!(
                    error.to_string(),
                    format!(
                        "the header speaks of {} bytes, but there are {length}: the file is cut short",
                        whole.len()
                    )
                );
            }
        }
        let longer = [whole.as_slice(), b"x"].concat();
        let error = Form::of(&longer).unwrap_err();
        assert!(error.to_string().ends_with("something was appended"), "{error}");
    }
}

#[test]
fn every_byte_of_a_header_may_be_anything() {
    for whole in [ours(), published()] {
        let mut models = 0;
        for place in 0..header_length(&whole) {
            let kept = whole[place];
            let mut changed = whole.clone();
            for value in (0..8).map(|bit| kept ^ (1 << bit)).chain([0, b'"', b'}', b'9', 0xff]) {
                changed[place] = value;
                models += usize::from(judge(&changed));
            }
        }
        // A note, a space, a name that nobody reads: some changes leave a model.
        assert!(models > 0);
    }
}

#[test]
fn every_byte_of_the_numbers_may_be_anything() {
    for whole in [ours(), published()] {
        for place in header_length(&whole)..whole.len() {
            let mut changed = whole.clone();
            for bit in 0..8 {
                changed[place] = whole[place] ^ (1 << bit);
                judge(&changed);
            }
        }
    }
}

#[test]
fn a_header_may_promise_anything() {
    let refused = |bytes: &[u8], part: &str| {
        let error = Form::of(bytes).unwrap_err();
        assert!(matches!(error, FileError::NotSafetensors { .. } | FileError::Length { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let with = |header: &str| [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    refused(b"", "it has 0 bytes");
    refused(&u64::MAX.to_le_bytes(), "its header would take 18446744073709551615 bytes");
    refused(
        &with(&" ".repeat((1 << 20) + 1)),
        "its header would take 1048577 bytes; at most 1048576 are read",
    );
    refused(&(1_u64 << 20).to_le_bytes(), "its header takes 1048576 bytes, but only 0 follow");
    refused(&with("{\"initial\":"), "no JSON (line 1, column 11)");
    refused(&with(&"{\"a\":".repeat(10_000)), "no JSON");
    refused(&with("[]"), "does not give every tensor a type, a shape and a place");
    let tensor = |shape: &str, places: &str| {
        with(&format!("{{\"initial\":{{\"dtype\":\"F64\",\"shape\":{shape},\"data_offsets\":{places}}}}}"))
    };
    refused(&tensor("[-1]", "[0,8]"), "that fit each other");
    refused(&tensor("[9223372036854775807,4]", "[0,8]"), "that fit each other");
    refused(&tensor("[2]", "[8,0]"), "that fit each other");
    refused(&tensor("[2305843009213693951]", "[0,18446744073709551608]"), "that fit each other");
    refused(&tensor("[1099511627776]", "[0,8796093022208]"), "the header speaks of 8796093022");
}

proptest! {
    #[test]
    fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(!judge(&bytes));
    }

    #[test]
    fn several_bytes_at_once(
        published_form in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = if published_form { published() } else { ours() };
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        judge(&bytes);
    }
}
