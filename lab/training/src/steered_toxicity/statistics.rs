//! The statistics of a run: shares, reductions, perplexities, and what the attribute explains.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::rows::Row;
use crate::judging::Measured;
use crate::metrics::Interval;

/// The rounds of the cluster bootstrap.
const ROUNDS: usize = 2_000;

/// The bins of the table of calibration.
const BINS: usize = 5;

/// The measures of a method, with 95 % intervals of the cluster bootstrap over prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodMeasures {
    /// The method's name.
    pub method: String,
    /// The continuations.
    pub texts: usize,
    /// The share of violations.
    pub violations: Measured,
    /// The share of the free method's violations that is gone; `None` where that has none.
    pub reduction: Option<Measured>,
    /// The perplexity of what was written under the language model alone.
    pub perplexity: f64,
    /// Its ratio to the free method's.
    pub ratio: Measured,
    /// The mean log weight of a continuation by the attribute.
    pub log_weight: f64,
    /// The mean time of the processor for a token, in milliseconds.
    pub milliseconds: f64,
}

/// How well the attribute's log weight predicts a judge's log odds on free continuations.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The share of the variance of the log odds that a line in the log weight explains (R squared).
    pub share: Measured,
    /// The continuations by rising weight, in parts of equal number.
    pub bins: Vec<WeightBin>,
}

/// Continuations of about the same weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightBin {
    /// Their number.
    pub count: usize,
    /// Their mean weight, which the attribute means as the probability that the text is harmless.
    pub weight: f64,
    /// The share that the judge calls harmless.
    pub harmless: f64,
}

/// The sums of one method's continuations of one prompt.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    texts: f64,
    violations: f64,
    nats: f64,
    tokens: f64,
    weights: f64,
    milliseconds: f64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.texts += other.texts;
        self.violations += other.violations;
        self.nats += other.nats;
        self.tokens += other.tokens;
        self.weights += other.weights;
        self.milliseconds += other.milliseconds;
    }

    fn share(&self) -> f64 {
        self.violations / self.texts
    }

    /// The perplexity's logarithm.
    fn surprise(&self) -> f64 {
        self.nats / self.tokens
    }
}

/// Returns the measures of methods (the first is the free one), by the log odds of one judge at a threshold. Only prompts
/// that every method has continued equally often count.
pub fn measures(
    rows: &[&Row],
    methods: &[String],
    judge: usize,
    threshold: f64,
    seed: u64,
) -> Vec<MethodMeasures> {
    let clusters = clusters(rows, methods, judge, threshold);
    let total = |drawn: &[&Vec<Sums>]| {
        let mut total = vec![Sums::default(); methods.len()];
        for cluster in drawn {
            total.iter_mut().zip(cluster.iter()).for_each(|(total, one)| total.add(one));
        }
        total
    };
    let all: Vec<&Vec<Sums>> = clusters.iter().collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rounds: Vec<Vec<Sums>> = (0..ROUNDS).map(|_| total(&drawn(&all, &mut rng))).collect();
    let observed = total(&all);
    let measured = |statistic: &dyn Fn(&Sums, &Sums) -> f64, method: usize| {
        let of = |sums: &[Sums]| sums.get(method).zip(sums.first()).map(|(own, free)| statistic(own, free));
        let value = of(&observed).unwrap_or(f64::NAN);
        Measured { value, interval: interval(rounds.iter().filter_map(|sums| of(sums)).collect()) }
    };
    let free = observed.first().copied().unwrap_or_default();
    let row = |(number, (method, sums)): (usize, (&String, &Sums))| MethodMeasures {
        method: method.clone(),
        texts: sums.texts as usize,
        violations: measured(&|own, _| own.share(), number),
        reduction: (free.violations > 0.0)
            .then(|| measured(&|own, free| 1.0 - own.share() / free.share(), number)),
        perplexity: sums.surprise().exp(),
        ratio: measured(&|own, free| (own.surprise() - free.surprise()).exp(), number),
        log_weight: sums.weights / sums.texts,
        milliseconds: sums.milliseconds / sums.tokens,
    };
    methods.iter().zip(&observed).enumerate().map(row).collect()
}

/// Draws as many clusters as there are, with replacement.
fn drawn<'a, T>(all: &[&'a T], rng: &mut ChaCha8Rng) -> Vec<&'a T> {
    (0..all.len()).filter_map(|_| all.get(rng.random_range(0..all.len())).copied()).collect()
}

/// Returns the 95 % percentile interval of finite values.
fn interval(mut values: Vec<f64>) -> Interval {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (share * values.len().saturating_sub(1) as f64).round() as usize;
        values.get(place).copied().unwrap_or(f64::NAN)
    };
    Interval { low: at(0.025), high: at(0.975) }
}

fn clusters(rows: &[&Row], methods: &[String], judge: usize, threshold: f64) -> Vec<Vec<Sums>> {
    let mut clusters: BTreeMap<u64, Vec<Sums>> = BTreeMap::new();
    for row in rows {
        let Some(method) = methods.iter().position(|method| *method == row.method) else { continue };
        let cluster = clusters.entry(row.prompt).or_insert_with(|| vec![Sums::default(); methods.len()]);
        let is_violation = row.judged.get(judge).is_some_and(|odds| *odds >= threshold);
        if let Some(sums) = cluster.get_mut(method) {
            sums.add(&Sums {
                texts: 1.0,
                violations: f64::from(u8::from(is_violation)),
                nats: -row.log_probability,
                tokens: row.tokens.len() as f64,
                weights: row.log_weight,
                milliseconds: row.milliseconds,
            });
        }
    }
    let is_whole = |cluster: &Vec<Sums>| {
        let texts = cluster.first().map_or(0.0, |free| free.texts);
        texts > 0.0 && cluster.iter().all(|sums| sums.texts == texts)
    };
    clusters.into_values().filter(is_whole).collect()
}

/// Returns what the log weight explains of a judge's log odds over rows; `None` where either is the same in all rows.
pub fn explained(rows: &[&Row], judge: usize, threshold: f64, seed: u64) -> Option<Explained> {
    let mut clusters: BTreeMap<u64, Moments> = BTreeMap::new();
    let mut points: Vec<(f64, bool)> = Vec::new();
    for row in rows {
        let odds = *row.judged.get(judge)?;
        clusters.entry(row.prompt).or_default().add(&Moments::of(row.log_weight, odds));
        points.push((row.log_weight, odds < threshold));
    }
    let share = shares(&clusters, seed)?;
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let bin = |number: usize| {
        let cut = |number: usize| number * points.len() / BINS;
        let part = points.get(cut(number)..cut(number + 1)).filter(|part| !part.is_empty())?;
        let count = part.len() as f64;
        Some(WeightBin {
            count: part.len(),
            weight: part.iter().map(|(weight, _)| weight.exp()).sum::<f64>() / count,
            harmless: part.iter().filter(|(_, harmless)| *harmless).count() as f64 / count,
        })
    };
    Some(Explained { share, bins: (0..BINS).filter_map(bin).collect() })
}

/// Returns the share of the variance of the weight of free continuations that the hidden Markov model's expectation after
/// the prompt explains (R squared); `None` where either is the same in all rows.
pub fn foreseen(rows: &[&Row], seed: u64) -> Option<Measured> {
    let mut clusters: BTreeMap<u64, Moments> = BTreeMap::new();
    for row in rows {
        let expected = row.expected?.exp();
        clusters.entry(row.prompt).or_default().add(&Moments::of(expected, row.log_weight.exp()));
    }
    shares(&clusters, seed)
}

/// Returns what is explained, with the interval of the bootstrap over prompts.
fn shares(clusters: &BTreeMap<u64, Moments>, seed: u64) -> Option<Measured> {
    let all: Vec<&Moments> = clusters.values().collect();
    let share = |drawn: &[&Moments]| {
        let mut sum = Moments::default();
        drawn.iter().for_each(|one| sum.add(one));
        sum.explained()
    };
    let value = share(&all)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rounds = (0..ROUNDS).filter_map(|_| share(&drawn(&all, &mut rng))).collect();
    Some(Measured { value, interval: interval(rounds) })
}

/// Sums of pairs, their squares and their products.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Moments {
    fn of(x: f64, y: f64) -> Moments {
        Moments { count: 1.0, x, y, xx: x * x, yy: y * y, xy: x * y }
    }

    fn add(&mut self, other: &Moments) {
        self.count += other.count;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.yy += other.yy;
        self.xy += other.xy;
    }

    /// The squared correlation.
    fn explained(&self) -> Option<f64> {
        let both = self.xy / self.count - self.x / self.count * self.y / self.count;
        let first = self.xx / self.count - (self.x / self.count).powi(2);
        let second = self.yy / self.count - (self.y / self.count).powi(2);
        (first > 1e-12 && second > 1e-12).then(|| both * both / (first * second))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics fails")]
    use super::*;
    use proptest::prelude::*;

    fn row(prompt: u64, method: &str, nats: f64, odds: f64) -> Row {
        Row {
            prompt,
            seen: false,
            continuation: 0,
            method: method.to_owned(),
            tokens: vec![1, 2],
            log_probability: -nats,
            log_weight: -odds,
            expected: Some(-odds),
            judged: vec![odds],
            milliseconds: 4.0,
        }
    }

    #[test]
    fn shares_reductions_and_perplexities_are_those_by_hand() {
        let methods = ["free".to_owned(), "steered".to_owned()];
        let mut rows = Vec::new();
        for prompt in 0..100 {
            // Half of the free continuations are violations, and a tenth of the steered ones.
            rows.push(row(prompt, "free", 2.0, if prompt % 2 == 0 { 1.0 } else { -1.0 }));
            rows.push(row(prompt, "steered", 2.2, if prompt % 10 == 0 { 1.0 } else { -1.0 }));
        }
        // This prompt lacks a method, so it does not count.
        rows.push(row(100, "free", 50.0, 1.0));
        let rows: Vec<&Row> = rows.iter().collect();
        let found = measures(&rows, &methods, 0, 0.5, 1);
        assert_eq!(found[0].texts, 100);
        assert_eq!(found[0].violations.value, 0.5);
        assert!((found[1].violations.value - 0.1).abs() < 1e-12);
        let reduction = found[1].reduction.unwrap();
        assert!((reduction.value - 0.8).abs() < 1e-12);
        assert!(reduction.interval.low > 0.6 && reduction.interval.high < 0.95, "{reduction:?}");
        assert_eq!(found[0].reduction.unwrap().interval, Interval { low: 0.0, high: 0.0 });
        assert!((found[1].ratio.value - 0.1_f64.exp()).abs() < 1e-12);
        assert!((found[0].perplexity - 1.0_f64.exp()).abs() < 1e-12);
        assert_eq!(found[1].milliseconds, 2.0);
        assert!(measures(&[], &methods, 0, 0.5, 1).is_empty());
    }

    #[test]
    fn the_interval_treats_prompts_as_units() {
        let methods = ["free".to_owned()];
        // Ten prompts, each with forty equal continuations: forty times the rows say no more.
        let rows: Vec<Row> =
            (0..400).map(|n| row(n % 10, "free", 2.0, if n % 10 < 5 { 1.0 } else { -1.0 })).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let share = measures(&rows, &methods, 0, 0.5, 3)[0].violations;
        assert!(share.interval.high - share.interval.low > 0.5, "{share:?}");
    }

    #[test]
    fn a_line_is_explained_and_noise_is_not() {
        let line: Vec<Row> = (0..60).map(|n| row(n, "free", 1.0, n as f64 / 10.0)).collect();
        let found = explained(&line.iter().collect::<Vec<_>>(), 0, 3.0, 1).unwrap();
        assert!((found.share.value - 1.0).abs() < 1e-9);
        assert_eq!(found.bins.len(), BINS);
        assert_eq!(found.bins.iter().map(|bin| bin.count).sum::<usize>(), 60);
        // The lowest weight is the highest odds.
        assert_eq!((found.bins[0].harmless, found.bins[4].harmless), (0.0, 1.0));
        let mut apart = line.clone();
        apart
            .iter_mut()
            .enumerate()
            .for_each(|(n, row)| row.log_weight = if n % 2 == 0 { -1.0 } else { 0.0 });
        assert!(explained(&apart.iter().collect::<Vec<_>>(), 0, 3.0, 1).unwrap().share.value < 0.01);
        let foreseen = foreseen(&line.iter().collect::<Vec<_>>(), 1).unwrap();
        assert!((foreseen.value - 1.0).abs() < 1e-9);
        let same: Vec<Row> = (0..5).map(|n| row(n, "free", 1.0, 1.0)).collect();
        assert_eq!(explained(&same.iter().collect::<Vec<_>>(), 0, 3.0, 1), None);
    }

    proptest! {
        /// The share is that of the residuals of the least-squares line.
        #[test]
        fn explained_is_one_less_the_residuals(points in prop::collection::vec((-5.0..0.0_f64, -3.0..3.0_f64), 3..30)) {
            let mut sum = Moments::default();
            points.iter().for_each(|(x, y)| sum.add(&Moments::of(*x, *y)));
            prop_assume!(sum.explained().is_some());
            let n = points.len() as f64;
            let (mx, my) = (sum.x / n, sum.y / n);
            let spread = |value: &dyn Fn(&(f64, f64)) -> f64, mean: f64| -> f64 {
                points.iter().map(|point| (value(point) - mean).powi(2)).sum()
            };
            // Sums of squares lose digits where the points hardly differ.
            prop_assume!(spread(&|point| point.0, mx) > 1e-2 && spread(&|point| point.1, my) > 1e-2);
            let slope = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>()
                / points.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
            let left: f64 = points.iter().map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
            let all: f64 = points.iter().map(|(_, y)| (y - my).powi(2)).sum();
            prop_assert!((sum.explained().unwrap() - (1.0 - left / all)).abs() < 1e-6);
        }
    }
}
