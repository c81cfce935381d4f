//! The horizon experiment, in small and without rollouts, which take long: every way of steering answers every turn, and
//! what came of it can be read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use evaluation::horizon::HorizonError;
use evaluation::horizon::run::{Measured, Settings, run};
use std::path::Path;

fn measured(folder: &str) -> Result<Measured, HorizonError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let settings = Settings {
        turns: 2,
        rolled_turns: 0,
        hmm: None,
        states: 8,
        learn: 10,
        horizons: vec![0, 1, 9],
        seed: 1,
    };
    run(&folder, &settings, &|_, _, _| ())
}

#[test]
fn every_way_answers_every_turn() {
    let measured = measured("../agent-model/model").unwrap();
    let of = |way: &str| measured.rows.iter().filter(|row| row.way == way).count();
    assert_eq!([of("hmm"), of("hmm and prior"), of("rollouts"), of("best of n")], [6, 6, 0, 8]);
    for row in &measured.rows {
        assert!(!(row.leak && row.success), "{row:?}");
        assert!(row.answer_tokens > 0 && row.log_probability < 0.0, "{row:?}");
        assert!(row.tokens >= row.answer_tokens, "{row:?}");
    }
    // The text that learns from its own model is foretold by it, and less well by the small one.
    let (own, ours) = measured.learnt.held_out;
    assert!(own > 0.0 && ours > own && ours < 4096_f64.ln(), "{own} {ours}");
    assert_eq!(measured.csv().lines().count(), 1 + measured.rows.len());
    // Horizons 0 and 1 are the curve; 9 stands behind a gap.
    let curves = measured.curves();
    assert_eq!(curves.iter().map(|curve| curve.success.mean.len()).collect::<Vec<_>>(), [2, 2]);
    let json = measured.json();
    assert_eq!(json["figures"].as_array().unwrap().len(), 3 + 3 + 4);
    assert_eq!(json["h1"].as_array().unwrap().len(), 0);
    assert!(measured.table().contains("| best of n | 8 | 2 |"), "{}", measured.table());
    let plot = measured.plot();
    assert!(plot.starts_with("<svg xmlns") && plot.ends_with("</svg>") && !plot.contains("NaN"));
}

#[test]
fn a_folder_without_a_model_is_named() {
    let error = measured("tests").err().unwrap().to_string();
    assert!(error.starts_with("the agent model in ") && error.contains("tests: "), "{error}");
}
