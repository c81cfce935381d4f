//! Weights in log space, the effective sample size, and systematic resampling.

/// The sum of weights, and how evenly they are distributed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights {
    /// The normalised weights; all 0 where every weight is 0.
    pub shares: Vec<f64>,
    /// The logarithm of the mean weight; minus infinity where every weight is 0.
    pub log_mean: f64,
}

impl Weights {
    /// The weights of these logarithms.
    pub fn of(log_weights: impl Iterator<Item = f64> + Clone) -> Weights {
        let top = log_weights.clone().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return Weights { shares: log_weights.map(|_| 0.0).collect(), log_mean: top };
        }
        let mut shares: Vec<f64> = log_weights.map(|log_weight| (log_weight - top).exp()).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        let log_mean = top + (sum / shares.len() as f64).ln();
        Weights { shares, log_mean }
    }

    /// The effective sample size `1 / sum of squared shares` (Kong, Liu and Wong 1994): from 1, where one particle has all
    /// of the weight, to the number of particles, where all have the same. 0 where every weight is 0.
    pub fn effective(&self) -> f64 {
        let squares: f64 = self.shares.iter().map(|share| share * share).sum();
        // Rounding must not lead out of the range.
        if squares > 0.0 { (1.0 / squares).clamp(1.0, self.shares.len() as f64) } else { 0.0 }
    }

    /// How many copies of each particle systematic resampling makes, as many in all as there are particles: the number of
    /// points `(point + i) / N` in its part of the cumulative distribution. Its mean over a uniform `point` in [0, 1) is
    /// `N` times the share, and it differs from that by less than 1.
    pub fn systematic(&self, point: f64) -> Vec<usize> {
        let count = self.shares.len();
        let (mut sum, mut taken) = (0.0, 0);
        let mut copies: Vec<usize> = self
            .shares
            .iter()
            .map(|share| {
                sum += share;
                let reached = ((sum * count as f64 - point).ceil().max(0.0) as usize).clamp(taken, count);
                let own = reached - taken;
                taken = reached;
                own
            })
            .collect();
        // The sum may miss 1 by its rounding.
        let last = self.shares.iter().rposition(|share| *share > 0.0);
        if let Some(copies) = last.and_then(|last| copies.get_mut(last)) {
            *copies += count - taken;
        }
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log_weight() -> impl Strategy<Value = f64> {
        prop_oneof![1 => Just(f64::NEG_INFINITY), 4 => -800.0..0.0_f64, 4 => -3.0..3.0_f64]
    }

    proptest! {
        #[test]
        fn copies_are_as_many_as_the_shares_say(
            logs in prop::collection::vec(log_weight(), 1..40),
            point in 0.0..1.0_f64,
        ) {
            let weights = Weights::of(logs.iter().copied());
            let some = logs.iter().any(|log| *log > f64::NEG_INFINITY);
            let copies = weights.systematic(point);
            prop_assert_eq!(copies.iter().sum::<usize>(), if some { logs.len() } else { 0 });
            for (copies, share) in copies.iter().zip(&weights.shares) {
                prop_assert!((*copies as f64 - share * logs.len() as f64).abs() < 1.0 + 1e-9);
                prop_assert!(*share > 0.0 || *copies == 0);
            }
            let effective = weights.effective();
            if some {
                prop_assert!((1.0..=logs.len() as f64).contains(&effective));
                prop_assert!((weights.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            } else {
                prop_assert_eq!(effective, 0.0);
            }
        }
    }

    #[test]
    fn the_mean_number_of_copies_is_the_share() {
        let weights = Weights::of([0.1_f64, 0.25, 0.0, 0.65, 1.7].map(f64::ln).into_iter());
        let mut means = [0.0; 5];
        let points = 10_000;
        for number in 0..points {
            let copies = weights.systematic((f64::from(number) + 0.5) / f64::from(points));
            means
                .iter_mut()
                .zip(copies)
                .for_each(|(mean, copies)| *mean += copies as f64 / f64::from(points));
        }
        for (mean, share) in means.iter().zip(&weights.shares) {
            assert!((mean - 5.0 * share).abs() < 1e-3, "{means:?} {weights:?}");
        }
    }

    #[test]
    fn the_mean_and_the_effective_size_are_those_of_the_definition() {
        let weights = Weights::of([1.0_f64, 2.0, 3.0, 0.0].map(|weight| weight.ln() - 900.0).into_iter());
        assert!((weights.log_mean - (1.5_f64.ln() - 900.0)).abs() < 1e-12);
        assert!((weights.effective() - 36.0 / 14.0).abs() < 1e-12);
    }
}
