//! Judges models by page: the share of honest pages of unseen sources that they flag, and of attacks that they find there.
//!
//! `cargo run --release -p classifier-training --example pages -- FOLDER [INJECTION SCAM TOXICITY]`
//!
//! Without files of models it judges the shipped ones. Two thresholds are used for each rate: the model's own, and the
//! conformal bound of the calibration pages under that very model, so that old and new models are compared at one rate.
//! Attacks are the goals of `agentdyn` and the payloads of `pages/dev.json`, which no model learned from; each stands between
//! two honest lines.

use std::collections::BTreeMap;
use std::path::Path;

use classifier::{Calibrated, LinearClassifier, MentionAware, WindowClassifier};
use classifier_training::CorpusPart;
use classifier_training::by_page::{PAGE_RATES, page_risk, threshold};
use classifier_training::corpora::PageText;
use classifier_training::corpora::honest::{self, HonestPage};
use classifier_training::recipe::Subject;
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, files @ ..] = arguments.as_slice() else { return Err("give the folder of the data".into()) };
    let data = Path::new(data);
    let pages = honest::pages(data)?;
    let attacks = attacks(data)?;
    for (number, subject) in [Subject::Injection, Subject::Scam, Subject::Toxicity].into_iter().enumerate() {
        let model = match files.get(number) {
            Some(file) => LinearClassifier::from_bytes(&std::fs::read(file)?)?,
            None => subject.shipped()?,
        };
        println!("{}", subject.name());
        if subject == Subject::Injection {
            report(&MentionAware::new(model.clone(), LinearClassifier::mention()?), &model, &pages, &attacks);
        } else {
            report(&model, &model, &pages, &[]);
        }
    }
    Ok(())
}

/// The attacks by their source.
fn attacks(data: &Path) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut found = Vec::new();
    for line in std::fs::read_to_string(data.join("agentdyn/injection_tasks.jsonl"))?.lines() {
        let record: Value = serde_json::from_str(line)?;
        found.extend(record.get("goal").and_then(Value::as_str).map(|goal| ("agentdyn", goal.to_owned())));
    }
    let records: Vec<Value> = serde_json::from_slice(&std::fs::read(data.join("pages/dev.json"))?)?;
    let payloads = records.iter().filter_map(|page| page.get("payloads")?.as_array()).flatten();
    found.extend(payloads.filter_map(Value::as_str).map(|payload| ("dev", payload.to_owned())));
    Ok(found)
}

fn report(
    judge: &dyn WindowClassifier,
    model: &LinearClassifier,
    pages: &[HonestPage],
    attacks: &[(&'static str, String)],
) {
    let risks: Vec<f64> = pages.iter().map(|page| page_risk(judge, &page.text)).collect();
    let of = |part| -> Vec<f64> {
        pages.iter().zip(&risks).filter(|(page, _)| page.part == part).map(|(_, risk)| *risk).collect()
    };
    let (calibration, judged) = (of(CorpusPart::Development), of(CorpusPart::Test));
    let inserted = |attack: &str| PageText {
        running: format!(
            "The package has a manual.\nSee also the list of options.\n{attack}\nIt was written in 2019."
        ),
        names: Vec::new(),
    };
    let found: Vec<(&str, f64)> =
        attacks.iter().map(|(source, attack)| (*source, page_risk(judge, &inserted(attack)))).collect();
    let at = |name: &str, threshold: f64| {
        let flagged = judged.iter().filter(|risk| **risk >= threshold).count();
        print!("  {name} ({threshold:.6}): {flagged} of {} honest pages", judged.len());
        for source in ["agentdyn", "dev"] {
            let all = found.iter().filter(|(from, _)| *from == source);
            let count = all.clone().count();
            if count > 0 {
                print!(
                    ", {} of {count} attacks of {source}",
                    all.filter(|(_, risk)| *risk >= threshold).count()
                );
            }
        }
        println!();
    };
    at("own threshold for 1 %", model.threshold(0.01).map_or(1.0, |risk| risk.value()));
    at("own quarantine", model.quarantine().value());
    for rate in PAGE_RATES {
        at(&format!("conformal {rate}"), threshold(&calibration, rate));
    }
    let bound = threshold(&calibration, 0.01);
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    for (page, _) in
        pages.iter().zip(&risks).filter(|(page, risk)| page.part == CorpusPart::Test && **risk >= bound)
    {
        *sources.entry(&page.source).or_default() += 1;
    }
    println!("  flagged at conformal 0.01, by source: {sources:?}");
}
