//! What stands around each token, as vectors.

use crate::Token;
use crate::distil::{MISSING, Sequences};
use ndarray::{Array1, Array2, ArrayView1, s};
use rand::{Rng, RngExt};

/// Occurrences at which a token's vector is half as long as one that occurs for ever.
const SHRINKAGE: f64 = 5.0;

/// What the neighbours' vectors weigh against the token's own.
const NEIGHBOURS: f32 = 0.5;

/// A vector of `4 * width` numbers for every token of the sequences, in their order.
///
/// What follows a token, and what stands before it, are two distributions over its neighbours. Each is weighted as
/// correspondence analysis does (a neighbour by one over the root of its frequency, so that distances are those of
/// chi-square), and projected onto `width` random directions. A place's vector holds both distributions of its own
/// token, what usually follows the token before it, and what usually stands before the token behind it.
///
/// Memory: `4 * width` floats a token, and `3 * width` for each token of the vocabulary.
pub fn contexts(sequences: &Sequences, vocabulary: usize, width: usize, rng: &mut impl Rng) -> Array2<f32> {
    // One more than the vocabulary: the edge of a text. Missing and unknown tokens count as edges.
    let row = |token: Option<&Token>| token.map_or(vocabulary, |token| (*token as usize).min(vocabulary));
    let mut frequency = vec![0_u64; vocabulary + 1];
    for sequence in sequences.iter() {
        for token in sequence.iter().map(Some).chain([None]) {
            frequency.iter_mut().skip(row(token)).take(1).for_each(|count| *count += 1);
        }
    }
    let total = frequency.iter().sum::<u64>() as f64;
    let mut directions = Array2::<f64>::zeros((vocabulary + 1, width));
    for (mut direction, &count) in directions.rows_mut().into_iter().zip(&frequency) {
        let weight = (total / (count.max(1)) as f64).sqrt();
        direction.iter_mut().for_each(|cell| *cell = if rng.random::<bool>() { weight } else { -weight });
    }
    let mut after = Array2::<f64>::zeros((vocabulary + 1, width));
    let mut before = after.clone();
    for sequence in sequences.iter() {
        let tokens = || sequence.iter().map(Some);
        for (left, right) in [None].into_iter().chain(tokens()).zip(tokens().chain([None])) {
            let (left, right) = (row(left), row(right));
            after.row_mut(left).zip_mut_with(&directions.row(right), |sum, value| *sum += value);
            before.row_mut(right).zip_mut_with(&directions.row(left), |sum, value| *sum += value);
        }
    }
    let (after, before) = (standardise(after, &frequency), standardise(before, &frequency));

    let mut vectors = Array2::<f32>::zeros((sequences.tokens().len(), 4 * width));
    let mut rows = vectors.rows_mut().into_iter();
    for sequence in sequences.iter() {
        for (place, token) in sequence.iter().enumerate() {
            let Some(mut vector) = rows.next() else { break };
            let left = row(place.checked_sub(1).and_then(|place| sequence.get(place)));
            let right = row(sequence.get(place + 1));
            let own = row(Some(token).filter(|token| **token != MISSING));
            let parts: [(ArrayView1<'_, f32>, f32); 4] = [
                (after.row(own), 1.0),
                (before.row(own), 1.0),
                (after.row(left), NEIGHBOURS),
                (before.row(right), NEIGHBOURS),
            ];
            for (number, (part, weight)) in parts.into_iter().enumerate() {
                let mut target = vector.slice_mut(s![number * width..(number + 1) * width]);
                target.zip_mut_with(&part, |target, value| *target = weight * value);
            }
        }
    }
    vectors
}

/// Sums to directions: how a token's neighbours differ from those of all tokens, at length 1 for a frequent token and
/// shorter for a rare one, of which little is known. With the lengths as they are, rare tokens lie far out under a
/// chi-square distance, and take the clusters one by one from all the others.
fn standardise(mut sums: Array2<f64>, frequency: &[u64]) -> Array2<f32> {
    let total = frequency.iter().sum::<u64>().max(1) as f64;
    let mean: Array1<f64> = sums.sum_axis(ndarray::Axis(0)) / total;
    for (mut row, &count) in sums.rows_mut().into_iter().zip(frequency) {
        let count = count as f64;
        row.zip_mut_with(&mean, |sum, mean| *sum -= count * mean);
        let length = row.dot(&row).sqrt();
        let scale = if length > 0.0 { count / (count + SHRINKAGE) / length } else { 0.0 };
        row.mapv_inplace(|value| value * scale);
    }
    sums.mapv(|value| value as f32)
}
