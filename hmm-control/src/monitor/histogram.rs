//! The probability of a detector's score in a state.
//!
//! It is a histogram whose edges are common to all states, and not a fitted curve: real detectors give exactly 0 or 1 for
//! half of their inputs, where a Beta density is zero or infinite, and are often bimodal, which a Beta density is not.
//! Filtering uses only ratios between states, which a histogram estimates directly.
//!
//! - Edges are at equal shares of a *balanced* pool, in which every state has the same weight, and always between two
//!   distinct scores, so that an atom gets its own bin where that helps.
//! - Each state's bins are shrunk towards the pool: `p(b | s) = (n_sb + c q_b) / (n_s + c)`. So the evidence against a
//!   state is at most a factor of `(n_s + c) / c`.
//! - The number of bins is the smallest that predicts held-out documents about as well as the best: one bin, which is no
//!   evidence, where a detector does not help.

use std::collections::BTreeMap;

/// Candidate numbers of bins, in rising order.
const CANDIDATES: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// The most bins of a histogram.
pub(super) const MOST_BINS: usize = 64;

/// One detector's score in one labelled window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub document: usize,
    pub state: usize,
    pub score: f64,
}

/// The bin of a score, given rising edges: how many edges are at most the score.
pub(super) fn bin(edges: &[f64], score: f64) -> usize {
    edges.partition_point(|edge| *edge <= score)
}

/// The bin of each detector's score.
pub(super) fn code<'a>(
    edges: impl Iterator<Item = &'a Vec<f64>>,
    scores: &[Option<classifier::Risk>],
) -> Vec<Option<usize>> {
    edges.zip(scores).map(|(edges, score)| score.map(|score| bin(edges, score.value()))).collect()
}

/// The share of each bin in the balanced pool, in which every state with samples has the same weight.
///
/// The shares sum to 1; without samples they are equal.
pub(super) fn pool(edges: &[f64], samples: &[Sample], states: usize) -> Vec<f64> {
    let bins = edges.len() + 1;
    let mut shares = vec![0.0; bins];
    let weights = balance(samples, states);
    for sample in samples {
        if let Some(share) = shares.get_mut(bin(edges, sample.score)) {
            *share += weights.get(sample.state).copied().unwrap_or(0.0);
        }
    }
    let sum: f64 = shares.iter().sum();
    if sum > 0.0 {
        shares.iter_mut().for_each(|share| *share /= sum);
    } else {
        shares.fill(1.0 / bins as f64);
    }
    shares
}

/// The weight of one sample of each state in the balanced pool.
fn balance(samples: &[Sample], states: usize) -> Vec<f64> {
    let mut counts = vec![0.0_f64; states];
    for sample in samples {
        if let Some(count) = counts.get_mut(sample.state) {
            *count += 1.0;
        }
    }
    counts.iter().map(|count| if *count > 0.0 { 1.0 / count } else { 0.0 }).collect()
}

/// The fewest edges that predict held-out documents within one standard error of the best candidate: a rare state has few
/// samples, and the best of nine candidates is often best by chance.
pub(super) fn choose_edges(samples: &[Sample], states: usize, smoothing: f64) -> Vec<f64> {
    let tried: Vec<(Vec<f64>, Vec<f64>)> = CANDIDATES
        .iter()
        .map(|bins| {
            let edges = equal_shares(samples, states, *bins);
            let gains = left_out(&edges, samples, states, smoothing);
            (edges, gains)
        })
        .collect();
    let total = |gains: &[f64]| gains.iter().sum::<f64>();
    let best = tried.iter().max_by(|a, b| total(&a.1).total_cmp(&total(&b.1)));
    let near = |gains: &[f64], best: &[f64]| {
        let differences: Vec<f64> = best.iter().zip(gains).map(|(best, gain)| best - gain).collect();
        let count = differences.len() as f64;
        let mean = total(&differences) / count;
        let spread: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
        mean * count <= (spread * count / (count - 1.0).max(1.0)).sqrt()
    };
    let chosen = best.and_then(|(_, best)| tried.iter().find(|(_, gains)| near(gains, best)));
    chosen.map(|(edges, _)| edges.clone()).unwrap_or_default()
}

/// At most `bins - 1` edges that cut the balanced pool into shares as equal as its distinct scores allow.
fn equal_shares(samples: &[Sample], states: usize, bins: usize) -> Vec<f64> {
    let weights = balance(samples, states);
    let mut sorted: Vec<(f64, f64)> = samples
        .iter()
        .map(|sample| (sample.score, weights.get(sample.state).copied().unwrap_or(0.0)))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    // Every cut between two distinct scores, with the share below it.
    let mut cuts = Vec::new();
    let mut below = 0.0;
    for (here, next) in sorted.iter().zip(sorted.iter().skip(1)) {
        below += here.1;
        if here.0 < next.0 {
            let middle = 0.5 * (here.0 + next.0);
            // Between neighbouring floats there is no middle; the upper one is an equal edge.
            cuts.push((below / total, if middle > here.0 { middle } else { next.0 }));
        }
    }
    let mut edges: Vec<f64> = (1..bins)
        .filter_map(|number| {
            let target = number as f64 / bins as f64;
            let distance = |cut: &(f64, f64)| (cut.0 - target).abs();
            cuts.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|cut| cut.1)
        })
        .collect();
    edges.dedup();
    edges
}

/// For each document, the sum over its samples of `log p(bin | state) / q(bin)` with `p` counted on the other documents
/// only: the information of the detector about the state, without overfitting. All states have the same weight.
fn left_out(edges: &[f64], samples: &[Sample], states: usize, smoothing: f64) -> Vec<f64> {
    let bins = edges.len() + 1;
    let shares = pool(edges, samples, states);
    let weights = balance(samples, states);
    let mut all = vec![0.0_f64; states * bins];
    let mut own: BTreeMap<(usize, usize, usize), f64> = Default::default();
    for sample in samples {
        let bin = bin(edges, sample.score);
        if let Some(count) = all.get_mut(sample.state * bins + bin) {
            *count += 1.0;
        }
        *own.entry((sample.document, sample.state, bin)).or_default() += 1.0;
    }
    let totals: Vec<f64> = all.chunks(bins).map(|row| row.iter().sum()).collect();
    let mut own_totals: BTreeMap<(usize, usize), f64> = Default::default();
    for ((document, state, _), count) in &own {
        *own_totals.entry((*document, *state)).or_default() += count;
    }
    let mut gains: BTreeMap<usize, f64> = BTreeMap::new();
    for ((document, state, bin), count) in &own {
        let share = shares.get(*bin).copied().unwrap_or(1.0);
        let others = all.get(state * bins + bin).copied().unwrap_or(0.0) - count;
        let total = totals.get(*state).copied().unwrap_or(0.0)
            - own_totals.get(&(*document, *state)).copied().unwrap_or(0.0);
        let weight = weights.get(*state).copied().unwrap_or(0.0);
        *gains.entry(*document).or_default() +=
            weight * count * ((others + smoothing * share) / (total + smoothing) / share).ln();
    }
    gains.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: impl Fn(usize) -> (usize, f64)) -> Vec<Sample> {
        (0..120)
            .map(|number| {
                let (state, score) = of(number);
                Sample { document: number / 4, state, score }
            })
            .collect()
    }

    #[test]
    fn an_uninformative_detector_gets_one_bin() {
        // The score depends neither on the state nor on the document.
        let noise = samples(|number| (number % 2, ((number * 7919) % 101) as f64 / 100.0));
        assert!(choose_edges(&noise, 2, 2.0).is_empty());
        assert!(choose_edges(&samples(|number| (number % 2, 0.5)), 2, 2.0).is_empty());
        assert!(choose_edges(&[], 2, 2.0).is_empty());
    }

    #[test]
    fn an_atom_has_its_own_bin() {
        // State 0 scores exactly 0, state 1 anything above, however small.
        let atoms = samples(|number| if number % 6 > 0 { (0, 0.0) } else { (1, 1e-6 * (1 + number) as f64) });
        let edges = choose_edges(&atoms, 2, 2.0);
        assert_eq!(edges.len(), 1, "{edges:?}");
        assert_eq!(bin(&edges, 0.0), 0);
        assert_eq!(bin(&edges, 1e-6), 1);
        let shares = pool(&edges, &atoms, 2);
        assert!(shares.iter().all(|share| (share - 0.5).abs() < 1e-12), "{shares:?}");
    }

    #[test]
    fn a_rare_state_is_still_separated() {
        // One in forty: edges at equal shares of the plain pool would need forty bins to see it.
        let rare =
            samples(|number| if number % 40 == 0 { (1, 0.95) } else { (0, (number % 90) as f64 / 100.0) });
        let edges = choose_edges(&rare, 2, 2.0);
        assert!(edges.iter().any(|edge| *edge > 0.85), "{edges:?}");
    }

    #[test]
    fn edges_rise_and_differ() {
        let many = samples(|number| (number % 3, (number % 7) as f64 / 7.0));
        for bins in CANDIDATES {
            let edges = equal_shares(&many, 3, bins);
            assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
            assert!(edges.len() < bins.min(7));
        }
    }
}
