//! What reading and writing a model's file allocates: no second copy, and nothing that bytes could only promise.

use crate::models::{f32s, safetensors};
use allocation_counter::measure;
use hmm_control::{Hmm, ImportOptions, Matrix, ModelFile, SharedBytes, Storage, map_file};
use std::sync::Arc;

const STATES: usize = 256;
const TOKENS: usize = 20_000;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

#[test]
fn a_model_is_written_mapped_and_read_without_a_second_copy() {
    let even =
        |rows: usize, storage| Matrix::from_rows(rows, STATES, storage, |_, row| row.fill(1.0 / rows as f64));
    let initial = vec![1.0 / STATES as f64; STATES];
    let hmm = Hmm::from_parts(initial, even(STATES, Storage::F32), even(TOKENS, Storage::F16)).unwrap();
    let file = ModelFile::new(hmm);
    let writing = measure(|| file.write(&mut std::io::sink()).unwrap());
    assert!(writing.bytes_max < 32 * KIB, "{writing:?}");

    let mut out = tempfile::NamedTempFile::new().unwrap();
    file.write(&mut out).unwrap();
    let reading = measure(|| {
        let bytes = map_file(out.path()).unwrap();
        std::hint::black_box(ModelFile::read(bytes).unwrap());
    });
    // 10 MiB of model: 80 KB of scales, twice as they become shared, and vectors of as many numbers as states.
    assert!(reading.bytes_max < 256 * KIB, "{reading:?}");
}

#[test]
fn an_import_holds_the_result_and_one_block() {
    let transition = vec![1.0 / STATES as f64; STATES * STATES];
    let emission = vec![(1.0 / TOKENS as f64).ln(); STATES * TOKENS];
    let bytes = safetensors(
        &[],
        &[
            ("alpha_exp", "F32", vec![STATES, STATES], f32s(&transition)),
            ("beta", "F32", vec![STATES, TOKENS], f32s(&emission)),
            ("gamma_exp", "F32", vec![1, STATES], f32s(&transition[..STATES])),
        ],
    );
    let importing = measure(|| {
        std::hint::black_box(ModelFile::import(&bytes, &ImportOptions::default()).unwrap());
    });
    let result = ((STATES + TOKENS) * (2 * STATES + 4)) as u64;
    assert!(importing.bytes_max < result + 17 * MIB, "{importing:?}, the result takes {result}");
}

#[test]
fn what_is_refused_costs_no_more_than_its_header() {
    let with = |header: &str| [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    let tensor =
        |name: usize| format!("\"{name}\":{{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[0,0]}}");
    let promise = |name: &str, shape: &str, end: u64| {
        format!("\"{name}\":{{\"dtype\":\"U8\",\"shape\":{shape},\"data_offsets\":[0,{end}]}}")
    };
    let all = |parts: &[String]| with(&format!("{{{}}}", parts.join(",")));
    for bytes in [
        // As long as is read, or nearly.
        all(&(0..18_000).map(tensor).collect::<Vec<_>>()),
        with(&format!("{{\"a\":{{\"dtype\":\"F64\",\"shape\":[0{}]}}}}", ",0".repeat(500_000))),
        with(&format!("{{\"__metadata__\":{{\"a\":\"0\"{}}}}}", ",\"a\":\"1\"".repeat(130_000))),
        // Longer than is read.
        with(&" ".repeat(1 << 24)),
        // Terabytes, in the header's length, in a tensor's place, and in a shape.
        (1_u64 << 42).to_le_bytes().to_vec(),
        all(&[promise("alpha_exp", "[4398046511104]", 1 << 42)]),
        all(&[promise("beta", "[0,4398046511104]", 0)]),
    ] {
        let bytes: SharedBytes = Arc::new(bytes);
        let judging = measure(|| {
            assert!(ModelFile::open(Arc::clone(&bytes), &ImportOptions::default()).is_err());
        });
        assert!(judging.bytes_max < 32 * MIB, "{judging:?}");
    }
}
