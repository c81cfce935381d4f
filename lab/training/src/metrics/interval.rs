//! Intervals of measured numbers.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::Scored;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Returns the 95 % interval of a proportion (Wilson 1927); all of `[0, 1]` for no trials.
///
/// ```
/// let interval = classifier_training::metrics::wilson(19, 20);
/// assert!((0.76..0.77).contains(&interval.low) && (0.99..1.0).contains(&interval.high));
/// ```
pub fn wilson(successes: usize, trials: usize) -> Interval {
    const Z: f64 = 1.959_963_984_540_054;
    if trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = trials as f64;
    let rate = successes.min(trials) as f64 / n;
    let z2 = Z * Z;
    let centre = rate + z2 / (2.0 * n);
    let spread = Z * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    Interval { low: ((centre - spread) / scale).max(0.0), high: ((centre + spread) / scale).min(1.0) }
}

/// Returns the 95 % percentile interval of a statistic over bootstrap samples (Efron 1979). Harmful and harmless
/// texts are drawn separately, so that their numbers stay. The texts are assumed to be independent; texts of one
/// template are not, and then the interval is too narrow.
///
/// Samples in which the statistic has no value are left out; the result is `None` if it never has one. The same seed
/// gives the same interval.
pub fn bootstrap(
    scores: &[Scored],
    rounds: usize,
    seed: u64,
    statistic: impl Fn(&[Scored]) -> Option<f64>,
) -> Option<Interval> {
    let (harmful, harmless): (Vec<Scored>, Vec<Scored>) = scores.iter().partition(|one| one.harmful);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = Vec::with_capacity(scores.len());
    let mut values: Vec<f64> = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        drawn.clear();
        for sort in [&harmful, &harmless] {
            drawn.extend((0..sort.len()).filter_map(|_| sort.get(rng.random_range(0..sort.len()))).copied());
        }
        values.extend(statistic(&drawn));
    }
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |share: f64| values.get((share * last as f64).round() as usize).copied();
    Some(Interval { low: at(0.025)?, high: at(0.975)? })
}
