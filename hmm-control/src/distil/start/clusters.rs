//! Parameters from chance, and from clusters.

use super::{KMeans, contexts};
use crate::distil::maximise::Weights;
use crate::distil::{DistilError, MISSING, Parameters, Real, Rules, Sequences, Statistics, maximise};
use crate::{ModelError, Token};
use ndarray::{Array2, ArrayView2, Axis};
use rand::{Rng, RngExt};

/// Random numbers for each way of a token's context; see [`contexts`].
const WIDTH: usize = 16;

/// Into what the tokens' places are clustered.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// Hidden states, `h`. With an end token one of them is its own.
    pub states: usize,
    /// Tokens, `V`.
    pub vocabulary: usize,
    /// How clusters are looked for.
    pub search: KMeans,
    /// The end token's convention, and the pseudocount that keeps what a cluster has not seen possible (0.001 to 0.1;
    /// training cannot undo a 0).
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

/// Every state alike: uniform transitions, and every token as frequent as it is.
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

/// Parameters by chance: transitions and first states from a flat Dirichlet distribution, emissions around each
/// token's frequency.
///
/// # Errors
/// When a token is outside the vocabulary or follows the end token, or there is no state to be had for it.
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
    // The logarithm of what is above 0 and up to 1: an exponential variable, so that a normalised row is a Dirichlet
    // one.
    let mut weigh =
        |weight: &mut T| *weight = T::from_f64(weight.to_f64() * -(1.0 - rng.random::<f64>()).ln());
    weights.initial.iter_mut().for_each(&mut weigh);
    weights.transition.iter_mut().for_each(&mut weigh);
    weights.emission.iter_mut().for_each(&mut weigh);
    maximise(&Weights(&weights), &uniform, &rules)
}

/// Parameters from clusters that the tokens' places are in: a number below [`Clustering::states`] for every token of
/// the sequences, in order. What is counted is the state that each cluster stands for; with an end token, the end
/// token's places are put in the last state whatever their cluster.
///
/// # Errors
/// When the clusters are not one for each token or too many, or as for [`random`].
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

/// Parameters from vectors that stand for the tokens' places, a row for each token in order: the language model's
/// own states ([`crate::distil::read_features`]).
///
/// # Errors
/// When the rows are not one for each token, or as for [`random`].
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
    // The end token has a state of its own, so its places must not take clusters from the others.
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

/// Parameters from what stands around each token: clusters of [`contexts`], where the language model's own states are
/// not to be had.
///
/// # Errors
/// As for [`random`].
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
