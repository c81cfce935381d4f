//! scratch
use std::collections::BTreeMap;
use std::path::Path;
use classifier::*;
use classifier_training::CorpusPart;
use classifier_training::corpora::honest::{self, HonestPage};

fn worst(judge: &dyn WindowClassifier, text: &str) -> f64 {
    highest_risk(&Unfolded::new(text), WindowPlace::Shown, judge).value()
}
fn page_risk(judge: &dyn WindowClassifier, page: &HonestPage, names: bool) -> f64 {
    let mut risk = worst(judge, &page.text.running);
    for name in page.text.names.iter().filter(|_| names) {
        if name.split_whitespace().count() >= 5 { risk = risk.max(worst(judge, name)); }
    }
    risk
}
fn conformal(maxima: &[f64], alpha: f64) -> f64 {
    let mut m = maxima.to_vec(); m.sort_by(f64::total_cmp);
    let k = ((m.len() + 1) as f64 * (1.0 - alpha)).ceil() as usize;
    m.get(k.wrapping_sub(1)).copied().unwrap_or(1.0)
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let data = Path::new(&args[0]);
    let pages = honest::pages(data).unwrap();
    let load = |n: usize, or: LinearClassifier| args.get(n).filter(|p| *p != "-").map_or(or, |p| LinearClassifier::from_bytes(&std::fs::read(p).unwrap()).unwrap());
    let inj = load(1, LinearClassifier::injection().unwrap());
    let shipped = [inj.threshold(0.01).unwrap().value(), inj.quarantine().value()];
    let inj = MentionAware::new(inj, LinearClassifier::mention().unwrap());
    let scam = load(2, LinearClassifier::scam().unwrap());
    let tox = load(3, LinearClassifier::toxicity().unwrap());
    let st = scam.threshold(0.01).unwrap().value();
    let tt = tox.threshold(0.01).unwrap().value();
    let mut goals: Vec<(String, String)> = Vec::new();
    for line in std::fs::read_to_string(data.join("agentdyn/injection_tasks.jsonl")).unwrap().lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        goals.push(("agentdyn".into(), v["goal"].as_str().unwrap().into()));
    }
    let dev: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(data.join("pages/dev.json")).unwrap()).unwrap();
    for p in dev.as_array().unwrap() { for s in p["payloads"].as_array().unwrap() { goals.push(("dev".into(), s.as_str().unwrap().into())); } }
    for (name, judge, shipped) in [("injection", &inj as &dyn WindowClassifier, shipped), ("scam", &scam, [st, scam.quarantine().value()]), ("toxicity", &tox, [tt, tox.quarantine().value()])] {
        let risks: Vec<f64> = pages.iter().map(|p| page_risk(judge, p, true)).collect();
        let of = |part| -> Vec<f64> { pages.iter().zip(&risks).filter(|(p, _)| p.part == part).map(|(_, r)| *r).collect() };
        let (cal, test) = (of(CorpusPart::Development), of(CorpusPart::Test));
        let share = |rs: &[f64], t: f64| rs.iter().filter(|r| **r >= t).count() as f64 / rs.len() as f64;
        println!("{name}: shipped thresholds {shipped:?} flag of {} judge pages {:.3} {:.3}", test.len(), share(&test, shipped[0]), share(&test, shipped[1]));
        for alpha in [0.05, 0.02, 0.01, 0.005, 0.002] {
            let t = conformal(&cal, alpha);
            let above = |rs: &[f64]| rs.iter().filter(|r| **r > t).count();
            print!("  alpha {alpha}: t {t:.6}, judge pages above {:.4}", above(&test) as f64 / test.len() as f64);
            if name == "injection" {
                for s in ["agentdyn", "dev"] {
                    let r: Vec<f64> = goals.iter().filter(|g| g.0 == s).map(|g| worst(judge, &format!("The package has a manual.\nSee also the list of options.\n{}\nIt was written in 2019.", g.1))).collect();
                    print!(" {s} {:.3} (n {})", above(&r) as f64 / r.len() as f64, r.len());
                }
            }
            println!();
        }
        let mut by: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (p, r) in pages.iter().zip(&risks).filter(|(p, _)| p.part == CorpusPart::Test) { let e = by.entry(&p.source).or_default(); e.1 += 1; if *r > conformal(&cal, 0.01) { e.0 += 1; } }
        println!("  flagged at 1 %: {:?}", by.iter().filter(|(_, v)| v.0 > 0).collect::<Vec<_>>());
        if args.iter().any(|a| a == "-v") {
            let mut order: Vec<usize> = (0..pages.len()).filter(|i| pages[*i].part == CorpusPart::Development).collect();
            order.sort_by(|a, b| risks[*b].total_cmp(&risks[*a]));
            for i in order.iter().take(25) {
                let p = &pages[*i];
                let mut best = (0.0, String::new());
                for t in std::iter::once(&p.text.running).chain(p.text.names.iter().filter(|n| n.split_whitespace().count() >= 5)) {
                    let n = Normalised::new(t); let ws = windows(n.text());
                    for (w, r) in ws.iter().zip(judge.risks(n.text(), WindowPlace::Shown, &ws)) { if r.value() > best.0 { best = (r.value(), n.text()[w.clone()].replace('\n', " / ")); } }
                }
                println!("    {:.4} {} {}: {:.5} {}", risks[*i], p.source, p.path, best.0, best.1);
            }
        }
    }
}
