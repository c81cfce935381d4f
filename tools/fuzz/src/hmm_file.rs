//! Model files: reading any bytes as our format and the two published ones.

use hmm_control::{Belief, ImportOptions, ModelFile, Storage};
use std::sync::Arc;

use crate::input::with_fitting_lengths;

/// A seed that is a valid model.
const PUBLISHED: &[u8] = include_bytes!("../corpus/hmm_file/trace");

const OPTIONS: ImportOptions<'static> =
    ImportOptions { transition: Storage::F64, emission: Storage::F16, config: None };

/// Opens the input, and again with consistent lengths, so that the content of the header is tested; and as the
/// `config.json` of a model.
///
/// # Panics
/// An accepted model is invalid, or is written as another one.
pub fn run(input: &[u8]) {
    check(input);
    if let Some(mended) = with_fitting_lengths(input) {
        check(&mended);
    }
    if let Ok(text) = std::str::from_utf8(input) {
        check_config(text);
    }
}

/// Tests the input as the `config.json` of a model of 3 states and 5 tokens.
fn check_config(text: &str) {
    let options = ImportOptions { config: Some(text), ..OPTIONS };
    match ModelFile::import(PUBLISHED, &options) {
        Ok((file, _)) => {
            assert!(file.end_token.is_some_and(|token| token < 5), "ends in {:?}", file.end_token)
        }
        Err(error) => assert!(error.to_string().starts_with("config.json: "), "{error}"),
    }
}

fn check(bytes: &[u8]) {
    let read = ModelFile::open(Arc::new(bytes.to_vec()), &OPTIONS);
    let file = match read {
        Ok((file, _)) => file,
        Err(error) => return assert!(!error.to_string().is_empty(), "refused without a reason"),
    };
    let hmm = &file.hmm;
    let mut belief = Belief::start(hmm);
    for token in (0..hmm.vocabulary().min(64)).filter_map(|token| u32::try_from(token).ok()) {
        // A distribution in 8 bits may sum to 1.15.
        let log_probability = belief.observe(hmm, token);
        assert!(log_probability <= 0.15, "token {token} has the log probability {log_probability}");
        let sum: f64 = belief.predicted().iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "the belief sums to {sum}");
    }
    let mut written = Vec::new();
    // Notes of just the allowed length may be too long in our spelling.
    if file.write(&mut written).is_err() {
        return;
    }
    let Ok(again) = ModelFile::read(Arc::new(written)) else { panic!("a written model is not read") };
    assert_eq!(again.end_token, file.end_token);
    assert_eq!(again.notes, file.notes);
    assert!(again.hmm.initial().iter().map(|v| v.to_bits()).eq(hmm.initial().iter().map(|v| v.to_bits())));
    for (one, other) in [(again.hmm.transition(), hmm.transition()), (again.hmm.emission(), hmm.emission())] {
        assert_eq!(one.bytes(), other.bytes());
        assert_eq!(one.scales(), other.scales());
    }
}
