//! Two approaches on the same templates.

use super::bounded::non_inferior;
use super::proportion::wilson;
use super::resample::{Interval, Resampling, cluster_bootstrap};

/// The results of one template's trials under one approach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The number of trials.
    pub trials: u64,
    /// The number of successful trials.
    pub successes: u64,
    /// The number of prompts in all of them.
    pub prompts: u64,
}

impl Tally {
    /// The share of trials that succeeded; 0 for no trials.
    pub fn rate(&self) -> f64 {
        if self.trials == 0 { 0.0 } else { self.successes as f64 / self.trials as f64 }
    }
}

/// One template under two approaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pair {
    /// Under the approach in question.
    pub new: Tally,
    /// Under the approach that it is compared with.
    pub old: Tally,
}

/// The comparison of two approaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The difference or ratio, with its interval; `None` if it is not defined.
    pub interval: Option<Interval>,
    /// The p-value against "worse by the margin", or "not better by the margin".
    pub p: f64,
    /// The number of compared templates.
    pub templates: usize,
}

/// Resampling gives no verdict for fewer templates than this.
const FEWEST: usize = 30;

/// S: the mean over templates of their success rates, so that a template with more seeds counts no more.
/// Where all templates have the same rate, the interval is that of as many independent trials (Wilson).
pub fn rate_interval(tallies: &[Tally], how: &Resampling) -> Option<Interval> {
    let rates: Vec<f64> = tallies.iter().filter(|tally| tally.trials > 0).map(Tally::rate).collect();
    let first = *rates.first()?;
    if rates.iter().all(|rate| *rate == first) {
        let count = rates.len() as u64;
        let (low, high) = wilson((first * count as f64).round() as u64, count);
        return Some(Interval { estimate: first, low: low.min(first), high: high.max(first) });
    }
    cluster_bootstrap(&rates, how, |drawn| mean(drawn.iter().map(|rate| **rate)))
}

/// C: prompts per successful task over all templates; `None` if no task succeeded.
pub fn burden_interval(tallies: &[Tally], how: &Resampling) -> Option<Interval> {
    let only = |tallies: &[&Tally]| burden(tallies.iter().copied());
    match tallies {
        [one] => burden([one].into_iter()).map(|c| Interval { estimate: c, low: c, high: c }),
        many => cluster_bootstrap(many, how, only),
    }
}

fn burden<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Option<f64> {
    let (prompts, successes) = tallies.fold((0, 0), |(p, s), tally| (p + tally.prompts, s + tally.successes));
    (successes > 0).then(|| prompts as f64 / successes as f64)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len();
    (count > 0).then(|| values.sum::<f64>() / count as f64)
}

/// Tests if S of the new approach is at most `margin` below that of the old one. Templates without trials under both
/// are left out. The p-value holds for any distribution ([`non_inferior`]); the interval is the bootstrap's.
pub fn compare_rates(pairs: &[Pair], margin: f64, how: &Resampling) -> Comparison {
    let differences: Vec<f64> = both(pairs).map(|pair| pair.new.rate() - pair.old.rate()).collect();
    let interval = cluster_bootstrap(&differences, how, |drawn| mean(drawn.iter().map(|d| **d)));
    Comparison { interval, p: non_inferior(&differences, margin), templates: differences.len() }
}

/// Tests if C of the new approach is lower than the old one's by more than the share `reduction`: returns the ratio of
/// the two, and the share of resampled sets of templates in which it is not below `1 - reduction`. There is no verdict
/// (p = 1) for fewer than 30 templates.
pub fn compare_burdens(pairs: &[Pair], reduction: f64, how: &Resampling) -> Comparison {
    let pairs: Vec<Pair> = both(pairs).copied().collect();
    let ratio = |drawn: &[&Pair]| {
        let (new, old) = (burden(drawn.iter().map(|p| &p.new))?, burden(drawn.iter().map(|p| &p.old))?);
        (old > 0.0).then(|| new / old)
    };
    let interval = cluster_bootstrap(&pairs, how, ratio);
    let p = if pairs.len() < FEWEST || interval.is_none() {
        1.0
    } else {
        let above = how.draws(&pairs, ratio).iter().filter(|ratio| **ratio >= 1.0 - reduction).count();
        (above + 1) as f64 / (how.times + 1) as f64
    };
    Comparison { interval, p, templates: pairs.len() }
}

fn both(pairs: &[Pair]) -> impl Iterator<Item = &Pair> {
    pairs.iter().filter(|pair| pair.new.trials > 0 && pair.old.trials > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(trials: u64, successes: u64, prompts: u64) -> Tally {
        Tally { trials, successes, prompts }
    }

    fn how() -> Resampling {
        Resampling { times: 500, ..Resampling::default() }
    }

    #[test]
    fn certainty_is_never_claimed_from_agreement() {
        let interval = rate_interval(&[tally(50, 50, 0); 9], &how()).unwrap();
        let (low, _) = wilson(9, 9);
        assert_eq!((interval.estimate, interval.low, interval.high), (1.0, low, 1.0));
        let all: Vec<Pair> = vec![Pair { new: tally(50, 50, 50), old: tally(50, 50, 100) }; 20];
        assert!(compare_rates(&all, 0.05, &how()).p > 0.3, "20 templates show no margin of .05");
        assert_eq!(compare_burdens(&all, 0.3, &how()).p, 1.0);
    }

    #[test]
    fn more_seeds_do_not_count_as_more_templates() {
        let few: Vec<Pair> = vec![Pair { new: tally(1, 1, 1), old: tally(1, 1, 1) }; 60];
        let many: Vec<Pair> = vec![Pair { new: tally(99, 99, 99), old: tally(99, 99, 99) }; 60];
        assert_eq!(compare_rates(&few, 0.05, &how()).p, compare_rates(&many, 0.05, &how()).p);
    }

    #[test]
    fn a_lower_burden_is_found_and_an_equal_one_is_not() {
        let pairs = |new: [u64; 2]| -> Vec<Pair> {
            (0..40).map(|n| Pair { new: tally(2, 2, new[n % 2]), old: tally(2, 2, 4) }).collect()
        };
        let halved = compare_burdens(&pairs([1, 3]), 0.3, &how());
        assert!(halved.p < 0.01 && (halved.interval.unwrap().estimate - 0.5).abs() < 1e-12, "{halved:?}");
        assert!(compare_burdens(&pairs([4, 4]), 0.3, &how()).p > 0.99);
        assert!(compare_burdens(&pairs([1, 5]), 0.3, &how()).p > 0.05, "a quarter less is not enough");
        assert_eq!(
            compare_burdens(
                &pairs([0, 0]).iter().map(|p| Pair { new: tally(2, 0, 9), ..*p }).collect::<Vec<_>>(),
                0.3,
                &how()
            )
            .p,
            1.0,
            "without a success C is not defined"
        );
    }

    #[test]
    fn templates_that_only_one_approach_has_seen_are_left_out() {
        let mut pairs = vec![Pair { new: tally(1, 1, 0), old: tally(1, 1, 0) }; 59];
        pairs.push(Pair { new: tally(1, 0, 0), old: Tally::default() });
        let comparison = compare_rates(&pairs, 0.05, &how());
        assert_eq!(comparison.templates, 59);
        assert!(comparison.p < 0.05);
    }

    proptest! {
        #[test]
        fn swapping_the_approaches_turns_the_difference_round(
            rates in proptest::collection::vec((0u64..=5, 0u64..=5), 2..30)
        ) {
            let pairs: Vec<Pair> =
                rates.iter().map(|(a, b)| Pair { new: tally(5, *a, 1), old: tally(5, *b, 1) }).collect();
            let turned: Vec<Pair> = pairs.iter().map(|pair| Pair { new: pair.old, old: pair.new }).collect();
            let one = compare_rates(&pairs, 0.05, &how()).interval.unwrap();
            let other = compare_rates(&turned, 0.05, &how()).interval.unwrap();
            prop_assert!((one.estimate + other.estimate).abs() < 1e-9);
            prop_assert!((one.low + other.high).abs() < 0.2);
        }
    }
}
