//! The forms of TRACE and Ctrl-G: what Python wrote is the model that Python says it is, and what is said of it.
//!
//! `files/make.py` writes the fixtures, those of our own form included.

use crate::models::{STORAGES, f32s, f64s, parameters, safetensors, small};
use hmm_control::{FileError, Form, Hmm, ImportOptions, ImportReport, ModelFile, Storage};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

type Tensor = (&'static str, &'static str, Vec<usize>, Vec<u8>);

const WIDE: ImportOptions<'static> =
    ImportOptions { transition: Storage::F64, emission: Storage::F64, config: None };

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The largest relative difference between two models' numbers.
fn difference(one: &Hmm, other: &Hmm) -> f64 {
    assert_eq!((one.states(), one.vocabulary()), (other.states(), other.vocabulary()));
    let relative = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()) };
    let mut largest = one.initial().iter().zip(other.initial()).map(relative).fold(0.0, f64::max);
    for (one, other) in [(one.transition(), other.transition()), (one.emission(), other.emission())] {
        let (mut left, mut right) = (vec![0.0; one.columns()], vec![0.0; one.columns()]);
        for row in 0..one.rows() {
            one.read_row(row, &mut left);
            other.read_row(row, &mut right);
            largest = left.iter().zip(&right).map(relative).fold(largest, f64::max);
        }
    }
    largest
}

#[test]
fn what_python_wrote_after_our_page_is_read() {
    let wide = ModelFile::read(Arc::new(fixture("ours_f64.safetensors"))).unwrap();
    assert_eq!((wide.hmm.states(), wide.hmm.vocabulary(), wide.end_token), (8, 50, Some(7)));
    assert_eq!(wide.notes.into_iter().collect::<Vec<_>>(), [("made by".to_owned(), "make.py".to_owned())]);
    let narrow = ModelFile::read(Arc::new(fixture("ours_f16.safetensors"))).unwrap();
    assert_eq!(narrow.hmm.emission().storage(), Storage::F16);
    let converted = wide.hmm.to_storage(Storage::F64, Storage::F16).unwrap();
    assert_eq!(narrow.hmm.emission().bytes(), converted.emission().bytes());
    assert_eq!(narrow.hmm.emission().scales(), converted.emission().scales());
}

#[test]
fn the_published_forms_hold_the_model_that_was_put_in() {
    let direct = ModelFile::read(Arc::new(fixture("ours_f64.safetensors"))).unwrap().hmm;
    for (name, form, tolerance) in [
        // Logarithms in 32 bits: half a unit of 16 in the last place is 5e-7 of a probability.
        ("trace_f32.safetensors", Form::Trace, 2e-6),
        ("ctrlg_f64.safetensors", Form::CtrlG, 1e-14),
    ] {
        let bytes = fixture(name);
        assert_eq!(Form::of(&bytes).unwrap(), form);
        let (file, report) = ModelFile::import(&bytes, &WIDE).unwrap();
        let found = difference(&file.hmm, &direct);
        assert!(found <= tolerance, "{name}: off by {found}");
        assert_eq!((report.form, report.end_state, report.end_token), (form, None, None));
        assert!((report.largest.sum - 1.0).abs() < 1e-6, "{report:?}");
        assert_eq!(file.notes["imported from"], form.to_string());

        let (opened, second) = ModelFile::open(Arc::new(bytes.clone()), &WIDE).unwrap();
        assert_eq!((difference(&opened.hmm, &file.hmm), second), (0.0, Some(report)));
        let error = ModelFile::read(Arc::new(bytes)).unwrap_err();
        assert!(error.to_string().starts_with(&format!("this is a model of {form}; import it")), "{error}");
    }
    let ours: Arc<Vec<u8>> = Arc::new(fixture("ours_f64.safetensors"));
    assert!(matches!(ModelFile::import(&ours, &WIDE), Err(FileError::NotPublished)));
    assert!(ModelFile::open(ours, &ImportOptions::default()).unwrap().1.is_none());
}

#[test]
fn the_end_state_is_found() {
    let bytes = fixture("trace_end_f32.safetensors");
    let (file, report) = ModelFile::import(&bytes, &WIDE).unwrap();
    assert_eq!((report.end_state, report.end_token, file.end_token), (Some(7), Some(49), Some(49)));
    // What the published programs write beside it.
    let config = r#"{"eos_token_id": 49, "hidden_size": 8, "sep_token_id": null, "vocab_size": 50}"#;
    let options = ImportOptions { config: Some(config), ..WIDE };
    assert_eq!(ModelFile::import(&bytes, &options).unwrap().1, report);
    // A last state that emits one token, and goes on to others.
    let (_, report) = imported(row(2, [0.5, 0.25, 0.25])).unwrap();
    assert_eq!((report.end_state, report.end_token), (None, None));
    // Another end than that which the last state emits: then it is no end state.
    let other = ImportOptions { config: Some(r#"{"eos_token_id": 3}"#), ..WIDE };
    let (_, report) = ModelFile::import(&bytes, &other).unwrap();
    assert_eq!((report.end_state, report.end_token), (None, Some(3)));
}

#[test]
fn a_config_of_another_model_is_refused() {
    let bytes = fixture("trace_end_f32.safetensors");
    for (config, told) in [
        ("{", "config.json: no JSON (line 1, column 1)"),
        (r#"{"hidden_states": 9}"#, "config.json: `hidden_states` is 9, but tensor `beta` has 8 rows"),
        (r#"{"hidden_size": 9}"#, "config.json: `hidden_size` is 9, but tensor `beta` has 8 rows"),
        (r#"{"vocab_size": 51}"#, "config.json: `vocab_size` is 51, but tensor `beta` has 50 columns"),
        (r#"{"eos_token_id": 50}"#, "config.json: `eos_token_id` is 50, but the model has 50 tokens"),
        (r#"{"eos_token_id": -1}"#, "config.json: `eos_token_id` is no whole number of at least 0"),
    ] {
        let error = ModelFile::import(&bytes, &ImportOptions { config: Some(config), ..WIDE }).unwrap_err();
        assert_eq!(error.to_string(), told);
    }
}

/// The tensors of Ctrl-G for the small model, in f64 for the transitions, else in f32.
fn tensors() -> Vec<Tensor> {
    let model = small();
    let logarithms: Vec<f64> = model.emission.iter().map(|value| value.ln()).collect();
    let initial: Vec<f64> = model.initial.iter().map(|value| value.ln()).collect();
    vec![
        ("alpha_exp", "F64", vec![3, 3], f64s(&model.transition)),
        ("beta", "F32", vec![3, 5], f32s(&logarithms)),
        ("gamma", "F32", vec![3], f32s(&initial)),
    ]
}

fn imported(change: impl Fn(&mut Vec<Tensor>)) -> Result<(ModelFile, ImportReport), FileError> {
    let mut tensors = tensors();
    change(&mut tensors);
    ModelFile::import(&safetensors(&[("format", "pt")], &tensors), &WIDE)
}

fn told(change: impl Fn(&mut Vec<Tensor>)) -> String {
    imported(change).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
}

fn row(state: usize, values: [f64; 3]) -> impl Fn(&mut Vec<Tensor>) {
    move |tensors| tensors[0].3[state * 24..(state + 1) * 24].copy_from_slice(&f64s(&values))
}

#[test]
fn a_leak_is_divided_out_and_told() {
    let (file, report) = imported(row(2, [1e-4, 1e-4, 1.0])).unwrap();
    assert_eq!((report.largest.tensor, report.largest.state), ("alpha_exp", 2));
    assert!((report.largest.sum - 1.0002).abs() < 1e-12, "{report:?}");
    assert_eq!((report.end_state, report.end_token), (Some(2), Some(4)));
    let mut to_last = vec![0.0; 3];
    file.hmm.transition().read_row(2, &mut to_last);
    assert!((to_last[2] - 1.0 / 1.0002).abs() < 1e-15, "{to_last:?}");
}

#[test]
fn an_error_names_the_tensor() {
    assert_eq!(told(|_| {}), "fine");
    assert_eq!(
        told(row(1, [0.5, 0.25, 0.125])),
        "alpha_exp of state 1 sums to 0.875, not to 1 (tolerance 0.001)"
    );
    assert_eq!(told(row(1, [-0.5, 0.75, 0.75])), "alpha_exp of state 1 holds -0.5, which is no probability");
    assert_eq!(told(row(0, [f64::NAN, 0.5, 0.5])), "alpha_exp of state 0 holds NaN, which is no probability");
    assert_eq!(told(row(0, [0.0; 3])), "alpha_exp of state 0 sums to 0, not to 1 (tolerance 0.001)");
    // Probabilities where logarithms belong.
    assert_eq!(
        told(|tensors| tensors[1].3 = f32s(&small().emission)),
        "beta of state 0 holds 1.6487212707001282, which is no probability"
    );
    assert_eq!(
        told(|tensors| tensors[1] = ("beta", "F32", vec![5, 3], tensors[1].3.clone())),
        "tensor `beta` has the shape [5, 3], but [3, tokens] was expected"
    );
    assert_eq!(
        told(|tensors| tensors[0] = ("alpha_exp", "F64", vec![9], tensors[0].3.clone())),
        "tensor `alpha_exp` has the shape [9], but [states, states] was expected"
    );
    assert_eq!(
        told(|tensors| tensors[0] = ("alpha_exp", "F64", vec![1, 9], tensors[0].3.clone())),
        "tensor `alpha_exp` has the shape [1, 9], but [1, 1] was expected"
    );
    assert_eq!(
        told(|tensors| tensors[2] = ("gamma", "F32", vec![1, 2], vec![0; 8])),
        "tensor `gamma` has the shape [1, 2], but [1, 3] was expected"
    );
    assert_eq!(
        told(|tensors| tensors[1].1 = "I32"),
        "tensor `beta` holds numbers of type I32, but F64, F32, F16 or BF16 was expected"
    );
    assert!(told(|tensors| tensors[2].0 = "delta").ends_with("the file has `alpha_exp`, `beta`, `delta`"));
    assert_eq!(
        told(|tensors| *tensors = vec![
            ("alpha_exp", "F64", vec![0, 0], vec![]),
            ("beta", "F64", vec![0, 0], vec![]),
            ("gamma", "F64", vec![0], vec![])
        ]),
        "tensor `alpha_exp` has the shape [0, 0], but [states, states] was expected"
    );
}

#[test]
fn an_archive_of_pytorch_is_told_how_to_become_a_file() {
    for bytes in [&b"PK\x03\x04\x00\x00\x08\x08"[..], b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."] {
        let error = Form::of(bytes).unwrap_err();
        assert!(matches!(error, FileError::PyTorch), "{error}");
        assert!(error.to_string().contains("save_file(torch.load('pytorch_model.bin'"), "{error}");
    }
    // A safetensors file whose header has 640 bytes begins like an old archive, and is none.
    let padded = |length: usize| safetensors(&[("filler", &"x".repeat(length))], &tensors());
    let header = |bytes: &[u8]| usize::from(bytes[0]) + 256 * usize::from(bytes[1]);
    let bytes = padded(640 - header(&padded(0)));
    assert!(bytes.starts_with(b"\x80\x02"));
    assert_eq!(Form::of(&bytes).unwrap(), Form::CtrlG);
}

proptest! {
    /// Turning, taking logarithms and back, and rounding give what the parameters give directly.
    #[test]
    fn an_import_equals_the_model_built_directly(
        parameters in parameters(),
        storage in prop::sample::select(&STORAGES),
    ) {
        let (states, tokens) = (parameters.states(), parameters.vocabulary());
        let logarithms: Vec<f64> = parameters.emission.iter().map(|value| value.ln()).collect();
        let bytes = safetensors(&[], &[
            ("alpha_exp", "F64", vec![states, states], f64s(&parameters.transition)),
            ("beta", "F64", vec![states, tokens], f64s(&logarithms)),
            ("gamma_exp", "F64", vec![1, states], f64s(&parameters.initial)),
        ]);
        let direct = parameters.hmm(Storage::F64);
        let (file, _) = ModelFile::import(&bytes, &WIDE).unwrap();
        let found = difference(&file.hmm, &direct);
        prop_assert!(found < 1e-14, "off by {}", found);
        let options = ImportOptions { transition: storage, emission: storage, config: None };
        if let Ok(rounded) = file.hmm.to_storage(storage, storage) {
            let (narrow, _) = ModelFile::import(&bytes, &options).unwrap();
            prop_assert_eq!(narrow.hmm.transition().bytes(), rounded.transition().bytes());
            prop_assert_eq!(narrow.hmm.emission().bytes(), rounded.emission().bytes());
            prop_assert_eq!(narrow.hmm.emission().scales(), rounded.emission().scales());
        } else {
            prop_assert!(matches!(ModelFile::import(&bytes, &options), Err(FileError::Model(_))));
        }
    }
}

/// More columns than one block holds, and a last block that is not full.
#[test]
fn blocks_fit_together() {
    let (states, tokens) = (64, 70_001);
    let weight = |state: usize, token: usize| 1.0 + ((state * 31 + token * 7) % 97) as f64;
    let sums: Vec<f64> =
        (0..states).map(|state| (0..tokens).map(|token| weight(state, token)).sum()).collect();
    let emission: Vec<f64> = (0..states)
        .flat_map(|state| (0..tokens).map(move |token| (state, token)))
        .map(|(state, token)| (weight(state, token) / sums[state]).ln())
        .collect();
    let even = vec![1.0 / 64.0; states * states];
    let bytes = safetensors(
        &[],
        &[
            ("alpha_exp", "F64", vec![states, states], f64s(&even)),
            ("beta", "F64", vec![states, tokens], f64s(&emission)),
            ("gamma_exp", "F64", vec![states], f64s(&even[..states])),
        ],
    );
    let (file, _) = ModelFile::import(&bytes, &WIDE).unwrap();
    let mut row = vec![0.0; states];
    for token in 0..tokens {
        file.hmm.read_emission(token as u32, &mut row);
        for (state, found) in row.iter().enumerate() {
            let wanted = weight(state, token) / sums[state];
            assert!((found - wanted).abs() <= 1e-12 * wanted, "token {token}, state {state}");
        }
    }
}
