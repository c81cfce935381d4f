//! A model fitted to a few planted words finds them, and is the same every time.

use classifier::{Calibrated, LinearClassifier};
use classifier_training::fit::{FitError, FitOptions, fit, risk};
use classifier_training::{CorpusPart, Document};

const CALM: [&str; 6] = [
    "The kettle is blue and holds a litre.",
    "We ship on Mondays from the old harbour.",
    "A fine wool coat for cold evenings.",
    "Stir the soup and serve it with bread.",
    "Our shop opens at nine near the bridge.",
    "Good quality, and my daughter loves it.",
];
const PLANTED: [&str; 4] =
    ["zorble the frimsy", "quickly zorble all", "frimsy must zorble", "zorble and frimsy it"];

fn documents() -> Vec<Document> {
    let mut documents = Vec::new();
    for (at, part) in (0..120).zip(
        [CorpusPart::Training, CorpusPart::Training, CorpusPart::Development, CorpusPart::Test]
            .into_iter()
            .cycle(),
    ) {
        let (one, other) = (CALM[at % 6], CALM[(at / 6 + 1) % 6]);
        documents.push(Document::harmless("calm", part, format!("{one} {other} {at}")));
        let planted = format!("{} {}.", PLANTED[at % 4], ["now", "today", "here"][at % 3]);
        documents.push(Document::inserted(
            "planted",
            part,
            &format!("{one}\n"),
            &planted,
            &format!("\n{other}"),
        ));
    }
    documents
}

fn small() -> FitOptions {
    FitOptions { bits: 12, dilution: 10.0, hardest: 50, ..FitOptions::default() }
}

#[test]
fn planted_words_are_told_from_calm_ones() {
    let documents = documents();
    let model = fit(&documents, &small()).unwrap();
    for document in documents.iter().filter(|document| document.part == CorpusPart::Test) {
        let risk = risk(&model, document);
        assert_eq!(risk > 0.5, document.harmful.is_some(), "{risk} {}", document.text);
    }
    assert!(model.threshold(0.05).is_some());
    assert!(model.calibration_error() < 0.2);
}

#[test]
fn the_same_documents_and_seed_give_the_same_bytes() {
    let bytes = |seed| fit(&documents(), &FitOptions { seed, ..small() }).unwrap().to_bytes();
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
    assert!(LinearClassifier::from_bytes(&bytes(1)).is_ok());
}

#[test]
fn one_sort_alone_makes_no_model() {
    let calm: Vec<Document> = documents().into_iter().filter(|document| document.harmful.is_none()).collect();
    assert!(matches!(fit(&calm, &small()), Err(FitError::OneSided { harmful: 0, .. })));
}
