//! First parameters from clusters of the tokens' positions, from their contexts, and at random.

use super::KMeans;
use crate::distil::maximise::Weights;
use crate::distil::{DistilError, MISSING, Parameters, Real, Rules, Sequences, Statistics, maximise};
use crate::{ModelError, Token};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rand::{Rng, RngExt};

/// The width of each part of a context vector; see [`contexts`].
const WIDTH: usize = 16;

/// The settings of clustering the tokens' positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// Number of hidden states, `h`. With an end token one of them is the end state.
    pub states: usize,
    /// Size of the vocabulary, `V`.
    pub vocabulary: usize,
    /// The clustering algorithm.
    pub search: KMeans,
    /// The end token, and the pseudocount that keeps unseen events possible (0.001 to 0.1; training cannot undo a 0).
    pub rules: Rules,
}

fn unigrams(sequences: &Sequences, vocabulary: usize) -> Vec<f64> {
    let mut counts = vec![1.0; vocabulary];
    for token in sequences.tokens() {
        counts.iter_mut().skip(*token as usize).take(1).for_each(|count| *count += 1.0);
    }
    let total: f64 = counts.iter().sum();
    counts.iter().map(|count| count / total).collect()
}

/// Identical states: uniform transitions, and the unigram distribution of the tokens.
fn uniform<T: Real>(sequences: &Sequences, states: usize, vocabulary: usize) -> Parameters<T> {
    let share = T::from_f64(1.0 / states as f64);
    let tokens = unigrams(sequences, vocabulary);
    Parameters {
        initial: vec![share; states],
        transition: Array2::from_elem((states, states), share),
        emission: Array2::from_shape_fn((vocabulary, states), |(token, _)| {
            T::from_f64(tokens.get(token).copied().unwrap_or(0.0))
        }),
    }
}

/// Random parameters: transitions and first states from a flat Dirichlet distribution, emissions around each token's
/// frequency.
///
/// # Errors
/// When a token is outside the vocabulary or follows the end token, or there is no state for it.
pub fn random<T: Real>(
    sequences: &Sequences,
    states: usize,
    vocabulary: usize,
    end: Option<Token>,
    rng: &mut impl Rng,
) -> Result<Parameters<T>, DistilError> {
    let rules = Rules { end, ..Rules::default() };
    check(sequences, states, vocabulary, &rules)?;
    let uniform = uniform(sequences, states, vocabulary);
    let mut weights = uniform.clone();
    // The negative logarithm of a uniform variable in (0, 1] is exponential, so that a normalised row has a Dirichlet
    // distribution.
    let mut weigh =
        |weight: &mut T| *weight = T::from_f64(weight.to_f64() * -(1.0 - rng.random::<f64>()).ln());
    weights.initial.iter_mut().for_each(&mut weigh);
    weights.transition.iter_mut().for_each(&mut weigh);
    weights.emission.iter_mut().for_each(&mut weigh);
    maximise(&Weights(&weights), &uniform, &rules)
}

/// Parameters from clusters of the tokens' positions: a number below [`Clustering::states`] for every token of the
/// sequences, in order. Each cluster is a state; with an end token, its positions are in the last state whatever their
/// cluster.
///
/// # Errors
/// When there is not one cluster for each token, or too many, and the same as [`random`].
pub fn from_clusters<T: Real>(
    sequences: &Sequences,
    clusters: &[u32],
    clustering: &Clustering,
) -> Result<Parameters<T>, DistilError> {
    let Clustering { states, vocabulary, ref rules, .. } = *clustering;
    check(sequences, states, vocabulary, rules)?;
    let (found, wanted) = (clusters.len(), sequences.tokens().len());
    if found != wanted {
        return Err(DistilError::Mismatch { what: "the list of clusters", found, wanted, unit: "places" });
    }
    if let Some(cluster) = clusters.iter().find(|cluster| **cluster as usize >= states) {
        return Err(DistilError::Setting {
            name: "a cluster",
            given: cluster.to_string(),
            wanted: "below the number of states",
        });
    }
    let mut statistics = Statistics::new(states, vocabulary);
    let mut left = clusters;
    for sequence in sequences.iter() {
        let Some((clusters, behind)) = left.split_at_checked(sequence.len()) else { break };
        left = behind;
        let mut before = None;
        for (&token, &cluster) in sequence.iter().zip(clusters) {
            let is_end = rules.end == Some(token);
            let state = if is_end { states - 1 } else { cluster as usize };
            statistics.add_certain(before, state, Some(token).filter(|token| *token != MISSING));
            before = Some(state);
        }
    }
    maximise(&statistics, &uniform(sequences, states, vocabulary), rules)
}

/// Parameters from feature vectors of the tokens' positions, a row for each token in order: the language model's own
/// states ([`crate::distil::read_features`]).
///
/// # Errors
/// When there is not one row for each token, and the same as [`random`].
pub fn from_features<T: Real>(
    sequences: &Sequences,
    features: ArrayView2<'_, f32>,
    clustering: &Clustering,
    rng: &mut impl Rng,
) -> Result<Parameters<T>, DistilError> {
    check(sequences, clustering.states, clustering.vocabulary, &clustering.rules)?;
    let (found, wanted) = (features.nrows(), sequences.tokens().len());
    if found != wanted {
        return Err(DistilError::Mismatch { what: "the table of features", found, wanted, unit: "places" });
    }
    // The end token has its own state, so that its positions must not take clusters from the others.
    let is_end = |token: &Token| clustering.rules.end == Some(*token);
    let others: Vec<usize> = (0..wanted)
        .zip(sequences.tokens())
        .filter_map(|(place, token)| (!is_end(token)).then_some(place))
        .collect();
    let free = clustering.states - usize::from(clustering.rules.end.is_some());
    let found = if others.len() == wanted {
        clustering.search.run(features, free, rng)
    } else {
        clustering.search.run(features.select(Axis(0), &others).view(), free, rng)
    };
    let mut clusters = vec![0; wanted];
    let mut assigned = others.into_iter().zip(found.of).peekable();
    for (place, cluster) in clusters.iter_mut().enumerate() {
        if let Some((_, found)) = assigned.next_if(|(other, _)| *other == place) {
            *cluster = found;
        }
    }
    from_clusters(sequences, &clusters, clustering)
}

/// Parameters from the tokens' contexts: clusters of [`contexts`], where the language model's own states are not
/// available.
///
/// # Errors
/// The same as [`random`].
pub fn from_contexts<T: Real>(
    sequences: &Sequences,
    clustering: &Clustering,
    rng: &mut impl Rng,
) -> Result<Parameters<T>, DistilError> {
    check(sequences, clustering.states, clustering.vocabulary, &clustering.rules)?;
    let vectors = contexts(sequences, clustering.vocabulary, WIDTH, rng);
    from_features(sequences, vectors.view(), clustering, rng)
}

fn check(sequences: &Sequences, states: usize, vocabulary: usize, rules: &Rules) -> Result<(), DistilError> {
    for (part, size) in [("initial", states), ("emission", vocabulary)] {
        if size == 0 {
            return Err(ModelError::Empty { part }.into());
        }
    }
    if sequences.tokens().is_empty() {
        return Err(DistilError::NoTokens);
    }
    rules.check(states, vocabulary)?;
    sequences.check(&(0..sequences.len()), vocabulary, rules.end)
}

/// Occurrences at which a token's vector has half its full length.
const SHRINKAGE: f64 = 5.0;

/// The weight of the neighbours' vectors relative to the token's own.
const NEIGHBOURS: f32 = 0.5;

/// A vector of `4 * width` numbers for every token of the sequences, in their order.
///
/// The next and the previous token of a token are two distributions over its neighbours. Each is weighted as in
/// correspondence analysis (a neighbour by one over the root of its frequency, so that distances are those of
/// chi-square), and projected onto `width` random directions. A position's vector has both distributions of its own
/// token, the next-token distribution of the token before it, and the previous-token distribution of the token after it.
///
/// Memory: `4 * width` floats per token, and `3 * width` for each token of the vocabulary.
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

/// Turns sums into directions: how a token's neighbours differ from those of all tokens, at length 1 for a frequent token
/// and shorter for a rare one. With the original lengths, rare tokens are outliers under a chi-square distance, and each
/// takes a cluster of its own.
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
