//! The reference numbers of TRACE and Ctrl-G: `PORTCULLIS_VECTORS` names a folder of them, else those beside this file.
//! Prints the largest error of each case (`cargo test -p hmm-control --test vectors -- --nocapture`).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failing test may panic")]

use hmm_control::{Attribute, Constraint, Edge, Hmm, Lookahead, Storage, Token, strengthened};
use ndarray::Array2;
use serde_json::Value;
use std::path::PathBuf;

fn cases(kind: &str) -> Vec<(String, Value)> {
    let folder = std::env::var_os("PORTCULLIS_VECTORS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors")), PathBuf::from);
    let mut found: Vec<(String, Value)> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), value)
        })
        .filter(|(_, value)| value["kind"] == kind)
        .collect();
    found.sort_by(|left, right| left.0.cmp(&right.0));
    assert!(!found.is_empty(), "no {kind} case in {}", folder.display());
    found
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn tokens(value: &Value) -> Vec<Token> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as Token).collect()
}

fn table(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    let columns = rows[0].len();
    Array2::from_shape_vec((rows.len(), columns), rows.concat()).unwrap()
}

fn model(case: &Value, storage: Storage) -> Hmm {
    Hmm::new(&numbers(&case["pi"]), table(&case["A"]).view(), table(&case["B"]).view(), storage).unwrap()
}

/// The largest difference of two lists of logarithms; both must hold the same minus infinities (-1e30 in the files).
fn difference(name: &str, found: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len(), "{name}");
    let mut largest = 0.0_f64;
    for (place, (&found, &wanted)) in found.iter().zip(wanted).enumerate() {
        if wanted <= -1e29 || wanted == f64::NEG_INFINITY {
            assert_eq!(found, f64::NEG_INFINITY, "{name}, place {place}");
        } else {
            assert!(found.is_finite(), "{name}, place {place}: {found} for {wanted}");
            largest = largest.max((found - wanted).abs());
        }
    }
    largest
}

fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let whole = largest + logits.iter().map(|logit| (logit - largest).exp()).sum::<f64>().ln();
    logits.iter().map(|logit| logit - whole).collect()
}

#[derive(Default, Debug)]
struct Errors {
    log_eap: f64,
    log_joint: f64,
    log_state: f64,
    backward: f64,
    adjusted: f64,
    enumerated: f64,
}

fn trace_errors(name: &str, case: &Value, storage: Storage) -> Errors {
    let hmm = model(case, storage);
    let vocabulary = hmm.vocabulary();
    let weights = numbers(&case["w"]);
    // -0.0 is a weight of 1 like any other.
    let weights = weights.iter().enumerate().map(|(token, weight)| (token as Token, weight.min(0.0)));
    let lookahead = Lookahead::new(hmm, Attribute::from_weights(vocabulary, weights).unwrap()).unwrap();
    let horizon = case["horizon"].as_u64().unwrap() as usize;
    let mut progress = lookahead.start();
    tokens(&case["prompt"]).iter().for_each(|token| lookahead.observe_prompt(&mut progress, *token));
    let generated = tokens(&case["generated"]);
    let mut errors = Errors::default();
    for (row, wanted) in table(&case["theirs_f64"]["backward"]).rows().into_iter().enumerate() {
        let wanted: Vec<f64> = wanted.iter().map(|value| value.ln()).collect();
        let found = lookahead.backward(0, horizon - 1 - row);
        errors.backward = errors.backward.max(difference(name, &found, &wanted));
    }
    for (number, step) in case["independent_exact_f64"].as_array().unwrap().iter().enumerate() {
        assert_eq!(step["step"], number, "{name}: steps in order");
        let remaining = horizon - 1 - number;
        let mut log_phi = vec![0.0; vocabulary];
        lookahead.score_all(&progress, remaining, &mut log_phi);
        errors.log_eap = errors.log_eap.max(difference(name, &log_phi, &numbers(&step["log_eap"])));
        let belief = &progress.belief;
        let joint: Vec<f64> = (0..vocabulary as Token)
            .map(|token| belief.log_likelihood() + belief.log_probability(lookahead.hmm(), token))
            .collect();
        errors.log_joint = errors.log_joint.max(difference(name, &joint, &numbers(&step["log_p_x"])));
        let state: Vec<f64> =
            belief.predicted().iter().map(|value| value.ln() + belief.log_likelihood()).collect();
        errors.log_state = errors.log_state.max(difference(name, &state, &numbers(&step["log_pred_state"])));
        if let Some(enumerated) = case["brute_force"].get(number) {
            let wanted: Vec<f64> = numbers(&enumerated["eap"]).iter().map(|value| value.ln()).collect();
            errors.enumerated = errors.enumerated.max(difference(name, &log_phi, &wanted));
            let wanted = numbers(&enumerated["log_p_x"]);
            errors.enumerated = errors.enumerated.max(difference(name, &joint, &wanted));
        }
        let scores = numbers(&case["lm_scores"][number]);
        for theirs in case["theirs_f64"]["steps"].as_array().unwrap() {
            if theirs["step"] != number {
                continue;
            }
            let strength = theirs["a"].as_f64().unwrap();
            let strong: Vec<f64> = log_phi.iter().map(|phi| strengthened(*phi, strength)).collect();
            let adjusted: Vec<f64> = scores.iter().zip(&strong).map(|(score, phi)| score + phi).collect();
            let found = log_softmax(&adjusted);
            let wanted = log_softmax(&numbers(&theirs["adjusted_logits"]));
            // Their floors of 1e-12 show only where a probability comes near them.
            let base = log_softmax(&scores);
            for place in 0..vocabulary {
                let unscaled = base[place] + strong[place];
                if log_phi[place] > 1e-6_f64.ln() && unscaled > 1e-6_f64.ln() {
                    errors.adjusted = errors.adjusted.max((found[place] - wanted[place]).abs());
                }
            }
        }
        if let Some(token) = generated.get(number) {
            lookahead.observe(&mut progress, *token);
        }
    }
    errors
}

#[test]
fn trace() {
    for (name, case) in cases("trace") {
        let wide = trace_errors(&name, &case, Storage::F64);
        println!("{name} f64: {wide:?}");
        assert!(wide.log_eap < 1e-9 && wide.log_joint < 1e-9 && wide.log_state < 1e-9, "{name}: {wide:?}");
        assert!(wide.backward < 1e-9 && wide.enumerated < 1e-9, "{name}: {wide:?}");
        // The `strong` cases follow the exact values: there their floors, not rounding, are what differs.
        assert!(wide.adjusted < 1e-5 || name.contains("strong"), "{name}: {wide:?}");
        let narrow = trace_errors(&name, &case, Storage::F32);
        println!("{name} f32: {narrow:?}");
        assert!(narrow.log_eap < 1e-4, "{name}: {narrow:?}");
    }
}

fn automaton(case: &Value, vocabulary: usize) -> Attribute {
    let states = case["dfa"]["num_states"].as_u64().unwrap() as usize;
    let accepting = tokens(&case["dfa"]["accept"]);
    let mut builder = Attribute::builder(vocabulary);
    for state in 0..states {
        let log_final = if accepting.contains(&(state as Token)) { 0.0 } else { f64::NEG_INFINITY };
        builder.state(Edge { to: state, log_weight: f64::NEG_INFINITY }, log_final);
    }
    for edge in case["dfa"]["edges"].as_array().unwrap() {
        let to = edge["dst"].as_u64().unwrap() as usize;
        for token in tokens(&edge["tokens"]) {
            builder.edge(edge["src"].as_u64().unwrap() as usize, token, Edge { to, log_weight: 0.0 });
        }
    }
    builder.build(case["dfa"]["initial"].as_u64().unwrap() as usize).unwrap()
}

#[test]
fn ctrlg() {
    for (name, case) in cases("ctrlg") {
        for (storage, tolerance) in [(Storage::F64, 1e-9), (Storage::F32, 1e-4)] {
            let hmm = model(&case, storage);
            let automaton = automaton(&case, hmm.vocabulary());
            let suffix = tokens(&case["suffix"]);
            let mut cached = 0.0_f64;
            for (range, rows) in case["theirs_f64"]["C_cache"].as_object().unwrap() {
                let (shortest, longest) = range.split_once(',').unwrap();
                let longest: usize = longest.parse().unwrap();
                let lengths = shortest.parse().unwrap()..=longest;
                let constraint = Constraint::new(hmm.clone(), automaton.clone(), lengths, &suffix).unwrap();
                for (state, row) in rows.as_array().unwrap().iter().enumerate() {
                    let found = constraint.backward(state, longest);
                    let finite: Vec<f64> = numbers(row);
                    cached = cached.max(difference(&format!("{name} {range} {state}"), &found, &finite));
                }
            }
            let shortest = case["min_new_tokens"].as_u64().unwrap() as usize;
            let longest = case["max_new_tokens"].as_u64().unwrap() as usize;
            let constraint =
                Constraint::new(hmm.clone(), automaton.clone(), shortest..=longest, &suffix).unwrap();
            let (mut given, mut enumerated) = (0.0_f64, 0.0_f64);
            for (number, step) in case["theirs_f64"]["steps"].as_array().unwrap().iter().enumerate() {
                let mut completion = constraint.start();
                for token in tokens(&case["prefix"]) {
                    constraint.observe_prompt(&mut completion, token);
                }
                for token in tokens(&step["generated"]) {
                    constraint.observe(&mut completion, token);
                }
                let mut found = vec![0.0; hmm.vocabulary()];
                constraint.score_all(&completion, &mut found);
                let belief = completion.belief();
                let log_token =
                    |token| belief.log_likelihood() + belief.log_probability(&hmm, token as Token);
                if let Some(exact) = case["brute_force"].get(number) {
                    let wanted: Vec<f64> = numbers(&exact["joint"]).iter().map(|joint| joint.ln()).collect();
                    let joint: Vec<f64> =
                        found.iter().enumerate().map(|(token, found)| found + log_token(token)).collect();
                    enumerated = enumerated.max(difference(&format!("{name} {number}"), &joint, &wanted));
                }
                // Past its own maximum the reference program lets the suffix begin again; what is exact is above.
                if !name.ends_with("past_max") {
                    let wanted = numbers(&step["log_p_accept_given_v"]);
                    given = given.max(difference(&format!("{name} {number}"), &found, &wanted));
                }
            }
            println!("{name} {storage}: C {cached:e}, given v {given:e}, enumerated {enumerated:e}");
            assert!(cached < tolerance && given < tolerance && enumerated < tolerance, "{name} {storage}");
        }
    }
}
