//! Intervals by resampling whole templates.

use super::distribution::{normal_cdf, t_quantile};
use crate::random::Random;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate from the trials.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end; infinite if the number may not be defined.
    pub high: f64,
}

/// The settings of the resampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// The number of resamples: 2,000 for a figure, 10,000 for a verdict.
    pub times: usize,
    /// The seed.
    pub seed: u64,
    /// The confidence level, in `(0, 1)`.
    pub level: f64,
}

impl Default for Resampling {
    fn default() -> Resampling {
        Resampling { times: 4_000, seed: 1, level: 0.95 }
    }
}

impl Resampling {
    /// The statistic of each resample, in ascending order. One that is not defined counts as infinitely large.
    pub(super) fn draws<T>(&self, clusters: &[T], statistic: impl Fn(&[&T]) -> Option<f64>) -> Vec<f64> {
        let mut random = Random::new(self.seed);
        let mut drawn: Vec<&T> = Vec::with_capacity(clusters.len());
        let mut values: Vec<f64> = (0..self.times)
            .map(|_| {
                drawn.clear();
                drawn.extend(
                    clusters
                        .iter()
                        .filter_map(|_| clusters.get(random.below(clusters.len() as u64) as usize)),
                );
                statistic(&drawn).unwrap_or(f64::INFINITY)
            })
            .collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// The cluster bootstrap's interval of a statistic: as many clusters as there are, drawn with replacement, each with
/// everything in it. The interval ends at the percentiles of the resamples.
///
/// Percentiles of few clusters are too close together: resamples vary by (n-1)/n of the variance of samples, and
/// normally instead of by Student's distribution. So the percentiles are moved outwards for both (Hesterberg 2015,
/// "expanded percentile"). With fewer than eight clusters no bootstrap is reliable, expanded or not. `None` for fewer
/// than two clusters, or if the statistic is not defined.
///
/// If all clusters are alike, the interval is a point. Use a bound for events that were not seen instead, as
/// [`super::rate_interval`] does.
///
/// ```
/// use evaluation::statistics::{Resampling, cluster_bootstrap};
/// let templates = [1.0, 0.5, 0.75, 1.0, 0.25, 1.0, 1.0, 0.5, 0.75, 1.0];
/// let mean = |drawn: &[&f64]| Some(drawn.iter().copied().sum::<f64>() / drawn.len() as f64);
/// let interval = cluster_bootstrap(&templates, &Resampling::default(), mean).unwrap();
/// assert!(interval.low < 0.775 && 0.775 < interval.high);
/// ```
pub fn cluster_bootstrap<T>(
    clusters: &[T],
    how: &Resampling,
    statistic: impl Fn(&[&T]) -> Option<f64>,
) -> Option<Interval> {
    let count = u32::try_from(clusters.len()).ok().filter(|count| *count >= 2)?;
    let estimate = statistic(&clusters.iter().collect::<Vec<_>>())?;
    let values = how.draws(clusters, statistic);
    let tail = (1.0 - how.level) / 2.0;
    let shrunk = (f64::from(count) / f64::from(count - 1)).sqrt();
    let tail = normal_cdf(shrunk * t_quantile(tail, count - 1));
    let low = percentile(&values, tail)?;
    let high = percentile(&values, 1.0 - tail)?;
    Some(Interval { estimate, low, high })
}

/// A quantile of sorted values, interpolated between the two nearest.
pub(super) fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (*sorted.get(place.floor() as usize)?, *sorted.get(place.ceil() as usize)?);
    // Infinity times zero would be NaN.
    Some(if below == above || place.fract() == 0.0 { below } else { below + (above - below) * place.fract() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mean(drawn: &[&f64]) -> Option<f64> {
        Some(drawn.iter().copied().sum::<f64>() / drawn.len() as f64)
    }

    #[test]
    fn resamples_agree_with_their_enumeration() {
        // There are 4^4 equally likely resamples of four clusters.
        let clusters = [0.0, 1.0, 4.0, 9.0];
        let mut exact = Vec::new();
        for drawing in 0..256usize {
            let picked: Vec<&f64> = (0..4).map(|place| &clusters[drawing >> (2 * place) & 3]).collect();
            exact.push(mean(&picked).unwrap());
        }
        let how = Resampling { times: 30_000, seed: 5, level: 0.95 };
        let drawn = how.draws(&clusters, mean);
        for bound in [0.5, 1.0, 2.0, 3.5, 5.0, 7.0] {
            let share = |values: &[f64]| {
                values.iter().filter(|value| **value <= bound).count() as f64 / values.len() as f64
            };
            assert!(
                (share(&exact) - share(&drawn)).abs() < 0.01,
                "{bound}: {} {}",
                share(&exact),
                share(&drawn)
            );
        }
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        // Templates have different rates, ten trials each, so that an interval over single trials would be far too
        // narrow.
        let (mut held, mut naive) = (0, 0);
        const RUNS: u64 = 200;
        for run in 0..RUNS {
            let mut random = Random::new(run);
            let clusters: Vec<f64> = (0..12)
                .map(|_| {
                    let rate = if random.below(2) == 0 { 0.3 } else { 0.9 };
                    (0..10).filter(|_| (random.below(1000) as f64) < rate * 1000.0).count() as f64 / 10.0
                })
                .collect();
            let how = Resampling { times: 300, seed: run, level: 0.95 };
            let interval = cluster_bootstrap(&clusters, &how, mean).unwrap();
            held += u64::from(interval.low <= 0.6 && 0.6 <= interval.high);
            let successes = clusters.iter().sum::<f64>() * 10.0;
            let (low, high) = super::super::wilson(successes.round() as u64, 120);
            naive += u64::from(low <= 0.6 && 0.6 <= high);
        }
        let share = |held: u64| held as f64 / RUNS as f64;
        assert!((0.90..=0.99).contains(&share(held)), "{}", share(held));
        assert!(share(naive) < 0.85, "{}", share(naive));
    }

    #[test]
    fn an_undefined_statistic_counts_as_infinite() {
        let ratio = |drawn: &[&(f64, f64)]| {
            let (above, below) = drawn.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
            (below > 0.0).then(|| above / below)
        };
        let clusters = [(1.0, 0.0), (1.0, 0.0), (1.0, 1.0)];
        let interval = cluster_bootstrap(&clusters, &Resampling::default(), ratio).unwrap();
        assert_eq!((interval.estimate, interval.high), (3.0, f64::INFINITY));
        assert_eq!(cluster_bootstrap(&clusters[..1], &Resampling::default(), ratio), None);
        assert_eq!(cluster_bootstrap(&[(1.0, 0.0), (2.0, 0.0)], &Resampling::default(), ratio), None);
    }

    proptest! {
        #[test]
        fn an_interval_lies_within_the_values_and_follows_from_the_seed(
            values in proptest::collection::vec(-5.0f64..5.0, 2..20), seed: u64
        ) {
            let how = Resampling { times: 200, seed, level: 0.9 };
            let interval = cluster_bootstrap(&values, &how, mean).unwrap();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least - 1e-9 <= interval.low && interval.low <= interval.high && interval.high <= most + 1e-9);
            prop_assert_eq!(Some(interval), cluster_bootstrap(&values, &how, mean));
        }
    }
}
