//! Judges the detectors.
//!
//! - `personal_data DATA` prints precision, recall and F1 of each kind on the labelled sentences of the data folder
//!   (`pii-presidio/generated_large.json`); with `--misses`, also what was missed and what was wrong.
//! - `personal_data --harmless FILE...` prints what is found in texts that hold nothing: how many findings of each kind
//!   on 100 kB, and how long the search took; with `--misses`, also the findings.
//!
//! - `personal_data --secrets` prints recall and precision on made-up secrets and what looks like them; with
//!   `--misses`, also the mistakes.
//!
//! `--thorough` asks the thorough detectors. Run it by
//! `cargo run --release -p classifier-training --example personal_data -- ...`.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use classifier::{Detector, Detectors, SensitiveKind};
use classifier_training::personal_data::{judge, read};
use classifier_training::secret_vectors;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let paths: Vec<&Path> = arguments.iter().filter(|a| !a.starts_with("--")).map(Path::new).collect();
    let detectors = if has("--thorough") { Detectors::thorough()? } else { Detectors::standard()? };
    if has("--harmless") {
        return harmless(&detectors, &paths, has("--misses"));
    }
    if has("--secrets") {
        secrets(&detectors, has("--misses"));
        return Ok(());
    }
    let folder = paths.first().ok_or("name the data folder: personal_data DATA [--misses] [--thorough]")?;
    labelled(&detectors, folder, has("--misses"))
}

fn labelled(detectors: &Detectors, folder: &Path, misses: bool) -> Result<(), Box<dyn Error>> {
    let json = std::fs::read_to_string(folder.join("pii-presidio/generated_large.json"))?;
    let sentences = read(&json)?;
    println!("{:14} {:>9} {:>9} {:>7} {:>7}", "kind", "precision", "recall", "F1", "labels");
    let kinds = SensitiveKind::ALL.into_iter();
    for kind in kinds.filter(|kind| sentences.iter().any(|s| s.labels.iter().any(|(_, other)| other == kind)))
    {
        let outcome = judge(detectors, &sentences, kind);
        let (precision, recall, f1) = (outcome.precision(), outcome.recall(), outcome.f1());
        println!("{:14} {precision:9.3} {recall:9.3} {f1:7.3} {:7}", format!("{kind:?}"), outcome.labelled);
        if misses {
            for (what, places) in [("missed", &outcome.missed), ("wrong", &outcome.wrong)] {
                for (index, span) in places {
                    let text = sentences.get(*index).map_or("", |sentence| sentence.text.as_str());
                    println!("  {what}: {:?} in {text:?}", text.get(span.clone()).unwrap_or_default());
                }
            }
        }
    }
    Ok(())
}

fn harmless(detectors: &Detectors, paths: &[&Path], misses: bool) -> Result<(), Box<dyn Error>> {
    for path in paths {
        let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        let per = |count: f64| count * 100_000.0 / text.len().max(1) as f64;
        let mut took = Duration::MAX;
        let mut findings = Vec::new();
        for _ in 0..9 {
            let start = Instant::now();
            findings = detectors.detect(&text);
            took = took.min(start.elapsed());
        }
        print!(
            "{} ({} kB), {:.2} ms on 100 kB:",
            path.display(),
            text.len() / 1000,
            per(took.as_secs_f64() * 1000.0)
        );
        for kind in SensitiveKind::ALL {
            let count = findings.iter().filter(|finding| finding.kind == kind).count();
            if count > 0 {
                print!(" {kind:?} {:.2}", per(count as f64));
            }
        }
        println!();
        for finding in findings.iter().filter(|_| misses) {
            let start = text.floor_char_boundary(finding.span.start.saturating_sub(40));
            let end = text.ceil_char_boundary((finding.span.end + 20).min(text.len()));
            let value = text.get(finding.span.clone()).unwrap_or_default();
            println!("  {:?} {value:?} in {:?}", finding.kind, text.get(start..end).unwrap_or_default());
        }
    }
    Ok(())
}

fn secrets(detectors: &Detectors, misses: bool) {
    let vectors = secret_vectors::vectors(50, 1);
    let verdict = secret_vectors::judge(detectors, &vectors);
    let (recall, precision) = (verdict.recall(), verdict.precision());
    println!(
        "{} secrets in {} vectors: recall {recall:.4}, precision {precision:.4}",
        verdict.secrets,
        vectors.len()
    );
    for (vector, span) in verdict.mistakes.iter().filter(|_| misses) {
        let what = span.clone().and_then(|span| vector.text.get(span)).unwrap_or("missed");
        println!("  {}: {what:?} in {:?}", vector.style, vector.text);
    }
}
