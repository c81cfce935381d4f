//! Windows of documents as rows of feature counts.

use std::collections::BTreeMap;

use classifier::{Features, LinearClassifier, Normalised, WindowClassifier, windows};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::FitOptions;
use crate::Document;

/// Rows of features, one after the other in one vector.
#[derive(Default)]
pub struct Windows {
    buckets: Vec<u32>,
    rows: Vec<WindowRow>,
}

/// One window.
#[derive(Clone, Copy)]
struct WindowRow {
    start: usize,
    end: usize,
    harmful: bool,
    weight: f32,
}

/// A window that is not in the rows yet.
struct Candidate {
    text: String,
    weight: f32,
    risk: f64,
}

impl Windows {
    /// Returns all harmful windows, and a sample of the harmless ones of each source.
    pub(super) fn sample<'a>(
        documents: impl Iterator<Item = &'a Document>,
        features: &Features,
        options: &FitOptions,
    ) -> Windows {
        let mut rows = Windows::default();
        let mut harmless: BTreeMap<&str, Vec<Candidate>> = BTreeMap::new();
        for document in documents {
            let (mut bad, mut good) = (Vec::new(), Vec::new());
            cut(document, |text, harmful| if harmful { bad.push(text) } else { good.push(text) });
            for text in &bad {
                rows.push(features, text, true, document.weight / bad.len() as f32);
            }
            let weight = document.weight;
            let candidates = good.into_iter().map(|text| Candidate { text, weight, risk: 0.0 });
            harmless.entry(&document.source).or_default().extend(candidates);
        }
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        for candidates in harmless.values_mut() {
            candidates.shuffle(&mut random);
            for candidate in candidates.iter().take(options.most_of_source) {
                rows.push(features, &candidate.text, false, candidate.weight);
            }
        }
        rows.balance(options.harmful_share);
        rows
    }

    /// Adds the harmless windows with the highest risks of a model.
    pub(super) fn add_hardest<'a>(
        &mut self,
        documents: impl Iterator<Item = &'a Document>,
        model: &LinearClassifier,
        options: &FitOptions,
    ) {
        let mut hardest: Vec<Candidate> = Vec::new();
        let keep = |hardest: &mut Vec<Candidate>| {
            hardest.sort_by(|one, other| {
                other.risk.total_cmp(&one.risk).then_with(|| one.text.cmp(&other.text))
            });
            hardest.truncate(options.hardest);
        };
        // A window below the least risk kept so far need not be copied.
        let mut least = 0.0;
        for document in documents {
            let folded = Normalised::new(&document.text);
            let windows = windows(folded.text());
            // One pass serves all windows, as when the model is used.
            let risks = model.risks(folded.text(), document.place, &windows);
            for (window, risk) in windows.into_iter().zip(risks) {
                let risk = risk.value();
                if risk < least || document.label(&folded.original(window.clone())) != Some(false) {
                    continue;
                }
                if let Some(text) = folded.text().get(window) {
                    hardest.push(Candidate { text: text.to_owned(), weight: document.weight, risk });
                }
            }
            if hardest.len() > 4 * options.hardest + 1_000 {
                keep(&mut hardest);
                least = hardest.last().map_or(0.0, |last| last.risk);
            }
        }
        keep(&mut hardest);
        for candidate in &hardest {
            self.push(model.features(), &candidate.text, false, candidate.weight);
        }
        self.balance(options.harmful_share);
    }

    fn push(&mut self, features: &Features, text: &str, harmful: bool, weight: f32) {
        let start = self.buckets.len();
        self.buckets.extend(features.of(text));
        self.rows.push(WindowRow { start, end: self.buckets.len(), harmful, weight });
    }

    /// Scales the weights so that the harmful windows have this share, and the mean is 1.
    fn balance(&mut self, harmful_share: f32) {
        let sum = |rows: &[WindowRow], harmful: bool| -> f64 {
            rows.iter().filter(|row| row.harmful == harmful).map(|row| f64::from(row.weight)).sum()
        };
        let (bad, good) = (sum(&self.rows, true), sum(&self.rows, false));
        if bad <= 0.0 || good <= 0.0 {
            return;
        }
        let (count, share) = (self.rows.len() as f64, f64::from(harmful_share));
        for row in &mut self.rows {
            let factor = if row.harmful { share * count / bad } else { (1.0 - share) * count / good };
            row.weight *= factor as f32;
        }
    }

    /// Returns the number of windows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the features of a window, whether it is harmful, and its weight.
    pub(super) fn row(&self, at: usize) -> Option<(&[u32], bool, f32)> {
        let row = self.rows.get(at)?;
        Some((self.buckets.get(row.start..row.end)?, row.harmful, row.weight))
    }
}

/// Passes on the windows of a document that are clearly harmful or clearly harmless.
fn cut(document: &Document, mut take: impl FnMut(String, bool)) {
    let folded = Normalised::new(&document.text);
    for window in windows(folded.text()) {
        let label = document.label(&folded.original(window.clone()));
        if let (Some(harmful), Some(text)) = (label, folded.text().get(window)) {
            take(text.to_owned(), harmful);
        }
    }
}
