#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]
use classifier::Calibrated;
use classifier_training::fit::{FitOptions, fit, risk};
use classifier_training::metrics::{Scored, confusion, operating_at, roc_auc};
use classifier_training::recipe::Subject;
use classifier_training::{Document, Part};
use std::collections::BTreeSet;
use std::path::Path;
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let subject = if std::env::args().nth(2).unwrap() == "scam" { Subject::Scam } else { Subject::Toxicity };
    let arg = |n: usize, d: f32| std::env::args().nth(n).map_or(d, |x| x.parse().unwrap());
    let corpus = subject.corpus(Path::new(&folder)).unwrap();
    let o = subject.options(1);
    let options = FitOptions {
        dilution: arg(3, o.dilution),
        epochs: arg(4, o.epochs as f32) as usize,
        l2: arg(5, o.l2),
        harmful_share: arg(6, o.harmful_share),
        hardest: arg(7, o.hardest as f32) as usize,
        step: arg(8, o.step),
        ..o
    };
    if let Some("cv") = std::env::args().nth(9).as_deref() {
        let key = |t: &str| {
            classifier_training::hash(
                &t.split_whitespace()
                    .map(|w| w.chars().filter(|c| c.is_alphabetic()).collect::<String>().to_lowercase())
                    .filter(|w| !w.is_empty())
                    .take(6)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        let (mut sum, mut sa, mut n) = (0.0, 0.0, 0.0);
        let mut pool = vec![];
        for fold in 0..5u64 {
            let docs: Vec<Document> = corpus
                .documents
                .iter()
                .filter(|d| d.source != "sms" || key(&d.text) % 5 != fold)
                .cloned()
                .map(|mut d| {
                    if d.part == Part::Test {
                        d.part = Part::Training
                    }
                    d
                })
                .collect();
            let model = fit(&docs, &options).unwrap();
            let v: Vec<Scored> = corpus
                .documents
                .iter()
                .filter(|d| d.source == "sms" && key(&d.text) % 5 == fold)
                .map(|d| Scored { score: risk(&model, d), harmful: d.harmful.is_some() })
                .collect();
            sum += operating_at(&v, 0.01).confusion.recall();
            sa += roc_auc(&v).unwrap();
            n += 1.0;
            pool.extend(v);
        }
        println!(
            "cv recall {:.4} auc {:.4} pooled {:.4} {:?}",
            sum / n,
            sa / n,
            operating_at(&pool, 0.01).confusion.recall(),
            operating_at(&pool, 0.01).threshold
        );
        return;
    }
    let docs: Vec<Document> = corpus
        .documents
        .iter()
        .filter(|d| d.part != Part::Test && subject.learns_from(&d.source))
        .cloned()
        .collect();
    let model = fit(&docs, &options).unwrap();
    println!("{:?}", model.parameters());
    let t = model.threshold(0.01).unwrap().value();
    let sources: BTreeSet<&str> = corpus.documents.iter().map(|d| d.source.as_str()).collect();
    for s in sources {
        for part in [Part::Development, Part::Test] {
            let v: Vec<Scored> = corpus
                .documents
                .iter()
                .filter(|d| d.source == s && d.part == part)
                .map(|d| Scored { score: risk(&model, d), harmful: d.harmful.is_some() })
                .collect();
            let op = operating_at(&v, 0.01);
            let c = confusion(&v, t);
            println!(
                "{s:10} {part:?} n={} auc {:?} recall@1% {:.3} (thr {:.3}) | at own: recall {:.3} fpr {:.4} f1 {:.3}",
                v.len(),
                roc_auc(&v),
                op.confusion.recall(),
                op.threshold,
                c.recall(),
                c.false_positive_rate(),
                c.f1()
            );
        }
    }
    if let Some(s) = std::env::args().nth(9) {
        let mut v: Vec<(f64, &Document)> = corpus
            .documents
            .iter()
            .filter(|d| d.source == s && d.part == Part::Development)
            .map(|d| (risk(&model, d), d))
            .collect();
        v.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (r, d) in v.iter().filter(|x| x.1.harmful.is_some()).take(12) {
            println!("LOW+ {r:.3} {}", d.text);
        }
        for (r, d) in v.iter().rev().filter(|x| x.1.harmful.is_none()).take(12) {
            println!("HIGH- {r:.3} {}", d.text);
        }
    }
}
