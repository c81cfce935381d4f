#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]
use classifier_training::corpora::{ordinary, toxicity};
use classifier_training::fit::{FitOptions, fit, risk};
use classifier_training::metrics::{Scored, roc_auc};
use classifier_training::{Document, Part, hash};
use std::path::Path;
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let mode = std::env::args().nth(2).unwrap();
    let corpus = toxicity::read(Path::new(&folder)).unwrap();
    let plain = ordinary::read(Path::new(&folder)).unwrap();
    println!("absent {:?}", corpus.absent);
    for s in toxicity::SOURCES.iter().chain(&["written"]) {
        let c =
            |h: bool| corpus.documents.iter().filter(|d| d.source == *s && d.harmful.is_some() == h).count();
        println!("{s} {} {}", c(true), c(false));
    }
    let dil: f32 = std::env::args().nth(3).map_or(40.0, |x| x.parse().unwrap());
    let w: f32 = std::env::args().nth(4).map_or(1.0, |x| x.parse().unwrap());
    let cap = |d: &&Document| d.source != "davidson" || hash(&d.text) % 3 == 0;
    let mut all = vec![];
    for s in toxicity::SOURCES {
        let mut docs: Vec<Document> = corpus
            .documents
            .iter()
            .filter(cap)
            .filter(|d| {
                d.source == s
                    || (s == "requests" && d.source == "sensitive")
                    || (mode != "plain" && d.source == "written")
            })
            .cloned()
            .map(|mut d| {
                if d.part == Part::Test {
                    d.part = Part::Training
                }
                if d.source == "written" {
                    d.weight = w
                }
                d
            })
            .collect();
        if mode == "full" {
            docs.extend(plain.documents.iter().filter(|d| hash(&d.text) % 4 == 0).cloned());
        }
        let options = FitOptions {
            dilution: dil,
            bits: 16,
            epochs: 6,
            most_of_source: 4000,
            hardest: 3000,
            ..FitOptions::default()
        };
        let model = fit(&docs, &options).unwrap();
        let mut line = format!("{s:10}");
        if let Some(t) = std::env::args().nth(6) {
            if std::env::args().nth(5).unwrap() == s {
                let mut v: Vec<(f64, &Document)> =
                    corpus.documents.iter().filter(|d| d.source == t).map(|d| (risk(&model, d), d)).collect();
                v.sort_by(|a, b| a.0.total_cmp(&b.0));
                for (r, d) in v
                    .iter()
                    .filter(|x| x.1.harmful.is_some())
                    .step_by(if t == "davidson" { 37 } else { 7 })
                    .take(30)
                {
                    println!("LOW+ {r:.3} {}", d.text);
                }
                for (r, d) in v.iter().rev().filter(|x| x.1.harmful.is_none()).step_by(11).take(30) {
                    println!("HIGH- {r:.3} {}", d.text);
                }
            }
        }
        for t in toxicity::SOURCES {
            let scores: Vec<Scored> = corpus
                .documents
                .iter()
                .filter(|d| d.source == t)
                .filter(cap)
                .filter(|d| hash(&d.text) % 2 == 0 || t != "madlibs")
                .map(|d| Scored { score: risk(&model, d), harmful: d.harmful.is_some() })
                .collect();
            let a = roc_auc(&scores).unwrap();
            if s != t {
                all.push((s, t, a));
            }
            line += &format!(" {t} {a:.3}");
        }
        let sc: Vec<Scored> = corpus
            .documents
            .iter()
            .filter(|d| (d.source == "requests" && d.harmful.is_some()) || d.source == "sensitive")
            .map(|d| Scored { score: risk(&model, d), harmful: d.harmful.is_some() })
            .collect();
        println!("{line} | requests/sensitive {:.3}", roc_auc(&sc).unwrap());
    }
    let mean = |v: Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
    println!(
        "mean {:.3}; without replies {:.3}",
        mean(all.iter().map(|x| x.2).collect()),
        mean(all.iter().filter(|x| x.0 != "replies" && x.1 != "replies").map(|x| x.2).collect())
    );
}
