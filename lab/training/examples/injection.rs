//! Trains the model of injections like the shipped one, and prints its measures on the held-out part.
//!
//! `cargo run --release -p classifier-training --example injection -- FOLDER SEED [OUTPUT] [--without CORPUS]`
//!
//! With `--without bipia`, no attack of that corpus is learned from, and all of them are judged. `FOLDER` is made by
//! `assemble`.

use std::collections::BTreeMap;
use std::path::Path;

use classifier::{Calibrated, LinearClassifier};
use classifier_training::fit::{calibrate, risk};
use classifier_training::judging::hidden;
use classifier_training::metrics::{Scored, expected_calibration_error, roc_auc, wilson};
use classifier_training::obfuscation::Obfuscation;
use classifier_training::recipe::Subject;
use classifier_training::{CorpusPart, Document};

const USAGE: &str =
    "give the folder of the data, a seed, and the file to write, --without and a corpus, or both";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, seed, rest @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let seed: u64 = seed.parse()?;
    let mut corpus = Subject::Injection.corpus(Path::new(data), seed)?;
    let (output, without) = match rest {
        [] => (None, None),
        [output] => (Some(output), None),
        [flag, corpus] if flag == "--without" => (None, Some(corpus.as_str())),
        [output, flag, corpus] if flag == "--without" => (Some(output), Some(corpus.as_str())),
        _ => return Err(USAGE.into()),
    };
    if let Some(source) = without {
        for one in &mut corpus.documents {
            if one.harmful.is_some() && one.source.starts_with(source) {
                one.part = CorpusPart::Test;
            }
        }
    }
    let model = Subject::Injection.train(&corpus, seed)?;
    if let Some(path) = output {
        std::fs::write(path, model.to_bytes())?;
    }
    let attack =
        |one: &Document| one.harmful.is_some() && without.is_none_or(|corpus| one.source.starts_with(corpus));
    let test: Vec<&Document> = corpus
        .documents
        .iter()
        .filter(|one| {
            one.part == CorpusPart::Test
                && (one.harmful.is_none() || attack(one) || one.source.starts_with("own/"))
        })
        .collect();
    report(&model, &test);
    Ok(())
}

/// Our own lines and requests to an assistant are judged separately: they are as close to the border as possible, or
/// beyond it.
fn apart(source: &str) -> bool {
    source.starts_with("own/") || source.starts_with("requests/")
}

fn report(model: &LinearClassifier, test: &[&Document]) {
    let scores: Vec<f64> = test.iter().map(|one| risk(model, one)).collect();
    let judged = || test.iter().zip(&scores).map(|(one, score)| (*one, *score));
    let pooled = |keep: &dyn Fn(&Document) -> bool| -> Vec<(f64, bool)> {
        judged().filter(|(one, _)| keep(one)).map(|(one, score)| (score, one.harmful.is_some())).collect()
    };
    let ordinary = pooled(&|one| !apart(&one.source));
    let own = calibrate::threshold(&ordinary, 0.01);
    let shipped = |rate| model.threshold(rate).map_or(1.0, |risk| risk.value());
    let thresholds = [own, shipped(0.01), shipped(0.001), model.quarantine().value()];
    println!("thresholds: own 1 %, shipped 1 %, shipped 0.1 %, quarantine: {thresholds:.5?}");
    line("+ all", &ordinary, true, &thresholds);
    line("- all", &ordinary, false, &thresholds);
    line(
        "+ all but bipia/code",
        &pooled(&|one| !apart(&one.source) && one.source != "bipia/code"),
        true,
        &thresholds,
    );
    let with_requests = pooled(&|one| !one.source.starts_with("own/"));
    let with_code = pooled(&|one| !apart(&one.source) || one.source == "own/code");
    for (name, pool) in
        [("requests counted as harmless", &with_requests), ("own code counted as harmless", &with_code)]
    {
        line(&format!("+ all at 1 %, {name}"), pool, true, &[calibrate::threshold(pool, 0.01)]);
    }
    let scored: Vec<Scored> =
        ordinary.iter().map(|(score, harmful)| Scored { score: *score, harmful: *harmful }).collect();
    let error = expected_calibration_error(&scored, 15, classifier_training::metrics::Prior::Even);
    println!("AUC {:.4}, calibration error {error:.4}", roc_auc(&scored).unwrap_or_default());
    let mut sources: BTreeMap<(bool, &str), Vec<(f64, bool)>> = BTreeMap::new();
    for (one, score) in judged() {
        let harmful = one.harmful.is_some();
        sources.entry((harmful, &one.source)).or_default().push((score, harmful));
    }
    for ((harmful, source), pool) in &sources {
        line(&format!("{} {source}", if *harmful { '+' } else { '-' }), pool, *harmful, &thresholds);
    }
    let attacks: Vec<&Document> =
        test.iter().copied().filter(|one| one.harmful.is_some() && !apart(&one.source)).step_by(2).collect();
    for way in Obfuscation::ALL {
        let found = hidden(&attacks, way).iter().filter(|one| risk(model, one) >= own).count();
        println!("hidden, {}: {:.3} of {}", way.name(), found as f64 / attacks.len() as f64, attacks.len());
    }
}

/// Prints the share of the texts of one sort at or above each threshold, and the 95 % interval at the first.
fn line(name: &str, pool: &[(f64, bool)], harmful: bool, thresholds: &[f64]) {
    let scores: Vec<f64> = pool.iter().filter(|(_, bad)| *bad == harmful).map(|(score, _)| *score).collect();
    let found = |at: &f64| scores.iter().filter(|score| *score >= at).count();
    let shares: Vec<String> =
        thresholds.iter().map(|at| format!("{:.3}", found(at) as f64 / scores.len().max(1) as f64)).collect();
    let interval = wilson(thresholds.first().map_or(0, found), scores.len());
    println!("{name:44} {:5} {} [{:.3}, {:.3}]", scores.len(), shares.join(" "), interval.low, interval.high);
}
