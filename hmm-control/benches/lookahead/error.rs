//! The error of the scores of a storage, compared with 64 bits.

use crate::model;
use hmm_control::{Hmm, Lookahead, Precision, Request, Token};

/// The tokens before the scored one, and the number of tokens after it.
pub const TEXT: [Token; 3] = [11, 222, 3333];
pub const REMAINING: usize = 16;

/// Computes the scores of every token under the classifier in `f64`, without the library's products.
pub fn exact(hmm: &Hmm) -> Vec<f64> {
    let (states, vocabulary) = (hmm.states(), hmm.vocabulary());
    let mut row = vec![0.0; states];
    let classifier = model::classifier(vocabulary);
    let mut weights = vec![1.0; vocabulary];
    classifier
        .exceptions(0)
        .iter()
        .for_each(|(token, edge)| weights[*token as usize] = edge.log_weight.exp());

    let mut mass = vec![0.0; states];
    for (token, weight) in weights.iter().enumerate() {
        hmm.emission().read_row(token, &mut row);
        mass.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value * weight);
    }
    let mut backward = vec![1.0; states];
    for _ in 0..REMAINING {
        let mut next = vec![0.0; states];
        for to in 0..states {
            hmm.transition().read_row(to, &mut row);
            next.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value * mass[to] * backward[to]);
        }
        backward = next;
    }
    let mut predicted = hmm.initial().to_vec();
    for token in TEXT {
        hmm.emission().read_row(token as usize, &mut row);
        let posterior: Vec<f64> = predicted.iter().zip(&row).map(|(a, b)| a * b).collect();
        let sum: f64 = posterior.iter().sum();
        for (to, out) in predicted.iter_mut().enumerate() {
            hmm.transition().read_row(to, &mut row);
            *out = row.iter().zip(&posterior).map(|(a, b)| a * b).sum::<f64>() / sum;
        }
    }
    let past: f64 = TEXT.iter().map(|token| weights[*token as usize].ln()).sum();
    (0..vocabulary)
        .map(|token| {
            hmm.emission().read_row(token, &mut row);
            let whole: f64 = row.iter().zip(&predicted).map(|(a, b)| a * b).sum();
            let part: f64 = row.iter().zip(&predicted).zip(&backward).map(|((a, b), c)| a * b * c).sum();
            past + weights[token].ln() + (part / whole).ln()
        })
        .collect()
}

/// Computes the largest and the mean distance of a model's scores from the exact ones, by the products of two requests.
pub fn distance(hmm: &Hmm, exact: &[f64], precision: Precision) -> (f64, f64) {
    let lookahead = Lookahead::new(hmm.clone(), model::classifier(hmm.vocabulary())).unwrap();
    let mut progress = lookahead.start();
    TEXT.iter().for_each(|token| lookahead.observe(&mut progress, *token));
    let [mut scores, mut others] = [vec![0.0; hmm.vocabulary()], vec![0.0; hmm.vocabulary()]];
    let request = |out| Request { progress: &progress, remaining: REMAINING, out };
    lookahead.score_batch(&mut [request(&mut scores), request(&mut others)], 1, precision);
    let distances: Vec<f64> = scores.iter().zip(exact).map(|(score, exact)| (score - exact).abs()).collect();
    let largest = distances.iter().copied().fold(0.0, f64::max);
    (largest, distances.iter().sum::<f64>() / distances.len() as f64)
}
