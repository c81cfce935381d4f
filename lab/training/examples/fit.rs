//! scratch
use std::path::Path;
use classifier::*;
use classifier_training::*;
use classifier_training::recipe::Subject;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let s = Subject::ALL.into_iter().find(|s| s.name() == a[0]).unwrap();
    let mut c = s.corpus(Path::new(&a[1]), 1).unwrap();
    if a.iter().any(|x| x == "--old") { c.documents.retain(|d| !d.source.starts_with("honest/")); }
    let mut o = s.options(1);
    for w in a.windows(2) {
        let n = || w[1].parse::<f32>().unwrap();
        match w[0].as_str() {
            "--without" => c.documents.retain(|d| d.harmful.is_none() || !d.source.starts_with(&w[1])),
            "--rounds" => o.rounds = n() as usize,
            "--hardest" => o.hardest = n() as usize,
            "--share" => o.harmful_share = n(),
            "--most" => o.most_of_source = n() as usize,
            "--epochs" => o.epochs = n() as usize,
            "--weight" => for d in &mut c.documents { if d.source.starts_with("honest/") { d.weight = n(); } },
            "--own" => for d in &mut c.documents { if d.source.starts_with("own/") && d.harmful.is_none() { d.weight *= n(); } },
            _ => {}
        }
    }
    let m = s.train_with(&c, &o).unwrap();
    std::fs::write(&a[2], m.to_bytes()).unwrap();
    let dev: Vec<f64> = c.documents.iter().filter(|d| d.part == CorpusPart::Development && d.harmful.is_some() && !d.source.starts_with("own/") && d.source != "bipia/code").map(|d| fit::risk(&m, d)).collect();
    let rec: Vec<String> = m.parameters().thresholds.iter().map(|t| format!("{}: {:.4} {:.3}", t.0, t.1, dev.iter().filter(|r| **r >= t.1).count() as f64 / dev.len() as f64)).collect();
    println!("{:?} dev {} recall {}", &a[2..], dev.len(), rec.join(", "));
}
