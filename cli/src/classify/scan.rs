//! `portcullis classify scan`.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use classifier::{
    Detector, Detectors, LinearClassifier, Risk, Unfolded, WindowPlace, highest_risk, sweep_unfolded,
};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The share of harmless texts with a reported span, if `--at-least` is not given.
const RATE: f64 = 0.01;

#[derive(clap::Args)]
pub struct Scan {
    /// The subject to search for.
    #[arg(long, value_enum)]
    detector: Kind,
    /// The texts, one JSON object with `id` and `text` a line; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    jsonl: PathBuf,
    /// A model of your own in place of the shipped one; not for pii and secrets.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The least risk of a reported span, from 0 to 1; by default the risk that 1 % of harmless texts reach.
    #[arg(long, value_name = "RISK")]
    at_least: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Injection,
    Scam,
    Toxicity,
    /// Personal data: identity, address, means of payment.
    Pii,
    /// Credentials: passwords, codes, keys, tokens.
    Secrets,
}

/// The detector.
enum Judge {
    Model { kind: &'static str, model: Box<LinearClassifier>, at_least: Risk },
    Values { detectors: Box<Detectors>, secrets: bool, at_least: f64 },
}

pub fn run(arguments: &Scan) -> Result<(), Failure> {
    let mut lines = open(&arguments.jsonl)?;
    let judge = Judge::new(arguments)?;
    let mut bad = 0_usize;
    let mut bytes = Vec::new();
    for number in 1_usize.. {
        bytes.clear();
        let read =
            lines.read_until(b'\n', &mut bytes).map_err(|error| unreadable(&arguments.jsonl, &error))?;
        if read == 0 {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match record(&bytes) {
            Ok((id, text)) => {
                let (risk, spans) = judge.judge(&text);
                println!("{}", json!({"id": id, "risk": risk, "spans": spans}));
            }
            Err(wrong) => {
                bad += 1;
                eprintln!("line {number}: {wrong}");
            }
        }
    }
    match bad {
        0 => Ok(()),
        1 => Err(Failure::Input("1 line was left out".to_owned())),
        many => Err(Failure::Input(format!("{many} lines were left out"))),
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(stdin())));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(Box::new(BufReader::new(file)))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Input(format!("{} cannot be read: {error}", path.display()))
}

/// The id, as it was given, and the text of a line. The error contains no part of the text.
fn record(line: &[u8]) -> Result<(Value, String), String> {
    let mut value: Value =
        serde_json::from_slice(line).map_err(|error| format!("not JSON, at column {}", error.column()))?;
    let fields = value.as_object_mut().ok_or("not an object with `id` and `text`")?;
    let id = fields.remove("id").ok_or("no `id`")?;
    match fields.remove("text") {
        Some(Value::String(text)) => Ok((id, text)),
        Some(_) => Err("`text` is not a string".to_owned()),
        None => Err("no `text`".to_owned()),
    }
}

impl Judge {
    fn new(arguments: &Scan) -> Result<Judge, Failure> {
        let asked = arguments.at_least.map(Risk::new).transpose();
        let asked = asked.map_err(|error| Failure::Input(format!("--at-least: {error}")))?;
        let (kind, shipped): (_, fn() -> _) = match arguments.detector {
            Kind::Injection => ("injection", LinearClassifier::injection),
            Kind::Scam => ("scam", LinearClassifier::scam),
            Kind::Toxicity => ("toxicity", LinearClassifier::toxicity),
            Kind::Pii | Kind::Secrets => {
                if arguments.file.is_some() {
                    return Err(Failure::Input("--file is a model's; pii and secrets have none".to_owned()));
                }
                let detectors =
                    Detectors::standard().map_err(|error| Failure::NotSetUp(error.to_string()))?;
                return Ok(Judge::Values {
                    detectors: Box::new(detectors),
                    secrets: arguments.detector == Kind::Secrets,
                    at_least: asked.map_or(0.0, Risk::value),
                });
            }
        };
        let model = super::model(arguments.file.as_deref(), shipped)?;
        let own = classifier::Calibrated::threshold(&model, RATE).unwrap_or(Risk::CERTAIN);
        Ok(Judge::Model { kind, model: Box::new(model), at_least: asked.unwrap_or(own) })
    }

    /// The risk of a text and its suspicious parts.
    fn judge(&self, text: &str) -> (f64, Vec<Value>) {
        match self {
            Judge::Model { kind, model, at_least } => {
                let unfolded = Unfolded::new(text);
                let risk = highest_risk(&unfolded, WindowPlace::Unknown, model.as_ref());
                let suspects = sweep_unfolded(&unfolded, WindowPlace::Unknown, model.as_ref(), *at_least);
                let span = |suspect: &classifier::Suspect| {
                    let weights: Vec<f64> = suspect
                        .judgement
                        .contributions
                        .iter()
                        .map(|part| rounded(part.weight.into()))
                        .collect();
                    let how = suspect.disguise.map(|disguise| format!("{disguise:?}").to_lowercase());
                    let reason = how
                        .map_or("reads like it".to_owned(), |how| format!("reads like it, decoded: {how}"));
                    json!({
                        "start": suspect.span.start,
                        "end": suspect.span.end,
                        "kind": kind,
                        "risk": rounded(suspect.judgement.risk.value()),
                        "reason": reason,
                        "weights": weights,
                    })
                };
                (rounded(risk.value()), suspects.iter().map(span).collect())
            }
            Judge::Values { detectors, secrets, at_least } => {
                let found = detectors.detect(text);
                let found: Vec<_> = found
                    .iter()
                    .filter(|one| one.kind.is_secret() == *secrets && one.confidence.value() >= *at_least)
                    .collect();
                let span = |one: &&classifier::Finding| {
                    let kind = one.kind.marker().trim_matches(['[', ']']);
                    json!({
                        "start": one.span.start,
                        "end": one.span.end,
                        "kind": kind,
                        "confidence": one.confidence.value(),
                        "reason": format!("has the form of a value of this kind: {kind}"),
                    })
                };
                let risk = found.iter().map(|one| one.confidence.value()).fold(0.0, f64::max);
                (risk, found.iter().map(span).collect())
            }
        }
    }
}

/// Rounds to digits that preserve the order and remain readable.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
