//! The tree of counts against the formula, computed directly over sets of n-grams.

use std::collections::{BTreeMap, BTreeSet};

use language_models::ngram::{History, NgramError, NgramModel};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Marks the beginning of a text.
const START: u32 = 1000;

/// Interpolated modified Kneser-Ney as in Chen and Goodman 1999, by dictionaries.
struct Direct {
    vocabulary: usize,
    /// By length of the context: context and token to count.
    counts: Vec<BTreeMap<(Vec<u32>, u32), f64>>,
    discounts: Vec<[f64; 3]>,
}

impl Direct {
    fn new(vocabulary: usize, order: usize, texts: &[Vec<u32>]) -> Direct {
        // All n-grams, with the token before each.
        let mut counts = vec![BTreeMap::new(); order];
        for (length, counts) in counts.iter_mut().enumerate() {
            let mut before: BTreeMap<(Vec<u32>, u32), BTreeSet<u32>> = BTreeMap::new();
            let mut raw: BTreeMap<(Vec<u32>, u32), f64> = BTreeMap::new();
            for text in texts {
                let mut padded = vec![START];
                padded.extend(text);
                for at in 1..padded.len() {
                    let Some(first) = at.checked_sub(length) else { continue };
                    let gram = (padded[first..at].to_vec(), padded[at]);
                    *raw.entry(gram.clone()).or_default() += 1.0;
                    if first > 0 {
                        before.entry(gram).or_default().insert(padded[first - 1]);
                    }
                }
            }
            for (gram, count) in raw {
                let adjusted = if length + 1 == order || gram.0.first() == Some(&START) {
                    count
                } else {
                    before[&gram].len() as f64
                };
                counts.insert(gram, adjusted);
            }
        }
        let discounts = counts.iter().map(|counts| {
            let n = |k: f64| counts.values().filter(|count| **count == k).count() as f64;
            let y = n(1.0) / (n(1.0) + 2.0 * n(2.0));
            [1.0, 2.0, 3.0].map(|k| {
                let discount = k - (k + 1.0) * y * n(k + 1.0) / n(k);
                if discount.is_finite() && discount > 0.0 && discount < k { discount } else { k / 2.0 }
            })
        });
        Direct { vocabulary, discounts: discounts.collect(), counts }
    }

    fn discount(&self, length: usize, count: f64) -> f64 {
        if count == 0.0 { 0.0 } else { self.discounts[length][(count as usize).min(3) - 1] }
    }

    fn probability(&self, context: &[u32], token: u32) -> f64 {
        let lower = match context {
            [] => 1.0 / self.vocabulary as f64,
            [_, rest @ ..] => self.probability(rest, token),
        };
        let length = context.len();
        let Some(counts) = self.counts.get(length) else { return lower };
        let seen: Vec<(u32, f64)> = counts
            .iter()
            .filter(|(gram, _)| gram.0 == context)
            .map(|(gram, count)| (gram.1, *count))
            .collect();
        if seen.is_empty() {
            return lower;
        }
        let total: f64 = seen.iter().map(|(_, count)| count).sum();
        let left: f64 = seen.iter().map(|(_, count)| self.discount(length, *count)).sum();
        let own = seen.iter().find(|(other, _)| *other == token).map_or(0.0, |(_, count)| *count);
        (own - self.discount(length, own) + left * lower) / total
    }
}

fn texts() -> impl Strategy<Value = Vec<Vec<u32>>> {
    proptest::collection::vec(proptest::collection::vec(0_u32..5, 1..14), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn equals_the_formula(texts in texts(), order in 1_usize..=5, read in proptest::collection::vec(0_u32..6, 0..7)) {
        // A text ends with token 5, so that the model and the formula count the same.
        let ended: Vec<Vec<u32>> = texts.iter().map(|text| [text.as_slice(), &[5]].concat()).collect();
        let direct = Direct::new(6, order, &ended);
        let model = NgramModel::train(6, order, Some(5), texts.iter().map(Vec::as_slice)).unwrap();
        let history = History::of(&read);
        let mut padded = vec![START];
        padded.extend(&read);
        let context = &padded[padded.len().saturating_sub(order - 1)..];
        let mut distribution = vec![0.0; 6];
        model.distribution(&history, &mut distribution);
        for token in 0..6 {
            let expected = direct.probability(context, token);
            prop_assert!((model.probability(&history, token) - expected).abs() < 1e-12);
            prop_assert!((distribution[token as usize] - expected).abs() < 1e-12);
            prop_assert!(expected > 0.0);
        }
        prop_assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn an_end_within_a_text_begins_another(texts in texts()) {
        let joined: Vec<u32> = texts.join(&5);
        let apart = NgramModel::train(6, 4, Some(5), texts.iter().map(Vec::as_slice)).unwrap();
        prop_assert_eq!(NgramModel::train(6, 4, Some(5), [joined.as_slice()]).unwrap(), apart);
    }
}

#[test]
fn samples_follow_the_distribution() {
    let texts: [&[u32]; 4] = [&[0, 1, 2, 0, 1], &[0, 1, 1, 2], &[2, 0, 1, 3], &[0, 2]];
    let model = NgramModel::train(5, 3, Some(4), texts).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for read in [&[][..], &[0], &[2, 0], &[3, 3]] {
        let history = History::of(read);
        let mut distribution = [0.0; 5];
        model.distribution(&history, &mut distribution);
        let draws = 100_000;
        let mut drawn = [0.0; 5];
        (0..draws).for_each(|_| drawn[model.sample(&history, &mut rng) as usize] += 1.0 / f64::from(draws));
        for (drawn, expected) in drawn.iter().zip(distribution) {
            let deviation = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
            assert!((drawn - expected).abs() < 5.0 * deviation, "{read:?}: {drawn} against {expected}");
        }
    }
}

#[test]
fn invalid_training_data_is_refused() {
    let text: &[u32] = &[0, 9];
    let error = |vocabulary, order, texts: &[&[u32]]| {
        NgramModel::train(vocabulary, order, None, texts.iter().copied()).unwrap_err()
    };
    assert_eq!(error(10, 0, &[text]), NgramError::Order { given: 0, longest: 5 });
    assert_eq!(error(10, 6, &[text]), NgramError::Order { given: 6, longest: 5 });
    assert_eq!(error(9, 2, &[text]), NgramError::Token { token: 9, vocabulary: 9 });
    assert_eq!(error(0, 2, &[]), NgramError::Vocabulary { given: 0, limit: 1 << 20 });
    assert_eq!(error(10, 2, &[]), NgramError::NoText);
    assert_eq!(error(10, 2, &[&[]]), NgramError::NoText);
    let error = NgramModel::train(10, 2, Some(10), [text]).unwrap_err();
    assert_eq!(error, NgramError::Token { token: 10, vocabulary: 10 });
}
