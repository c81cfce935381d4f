//! Tests of means of bounded values that are valid for any distribution of the values.
//!
//! Under a guard most templates have the same result, and a rare one differs. Tests that estimate the values' spread
//! (t, sign flips, bootstrap) call such data certain if the rare template was merely not drawn: with a true loss of one
//! template in twenty, twenty templates show no loss in 36 % of runs, and each of those tests would then report a
//! vanishing p-value. These tests do not.

/// The greatest probability that the mean of `values`, independent and in `[0, 1]`, is as small as observed although
/// its true value is at least `bound` (Chernoff and Hoeffding: exp(-n KL(mean
/// bound))). 1 for no values, or for a mean that is not below the bound.
///
/// With no value above 0 it is exactly (1 - bound)^n.
pub fn mean_at_least(values: &[f64], bound: f64) -> f64 {
    if values.is_empty() || !(0.0..=1.0).contains(&bound) || values.iter().any(|v| !(0.0..=1.0).contains(v)) {
        return 1.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    tail(values.len() as u64, mean, bound)
}

/// As [`mean_at_least`], from the number of values and their mean.
pub(super) fn tail(count: u64, mean: f64, bound: f64) -> f64 {
    if mean >= bound {
        return 1.0;
    }
    let part = |share: f64, of: f64| if share == 0.0 { 0.0 } else { share * (share / of).ln() };
    let divergence = part(mean, bound) + part(1.0 - mean, 1.0 - bound);
    (-(count as f64) * divergence).exp().min(1.0)
}

/// The p-value against "worse by `margin` or more", from each template's difference (new minus old, in `[-1, 1]`).
///
/// Only losses count: gains on some templates do not make up for losses on others. That is stricter than the question
/// asks, and needs no assumption about the distribution of gains. Non-inferiority is shown at a level if the p-value is
/// at most that level.
///
/// ```
/// use evaluation::statistics::non_inferior;
/// assert!(non_inferior(&[0.0; 59], 0.05) < 0.05); // 0.95^59
/// assert!(non_inferior(&[0.0; 58], 0.05) > 0.05);
/// ```
pub fn non_inferior(differences: &[f64], margin: f64) -> f64 {
    // A NaN stays a NaN and shows nothing.
    let loss = |difference: &f64| if *difference >= 0.0 { 0.0 } else { -difference };
    let losses: Vec<f64> = differences.iter().map(loss).collect();
    mean_at_least(&losses, margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The probability of `lost` of `count` at rate `rate`, by multiplication.
    fn binomial(count: u32, lost: u32, rate: f64) -> f64 {
        let choose: f64 = (0..lost).map(|i| f64::from(count - i) / f64::from(i + 1)).product();
        choose * rate.powi(lost as i32) * (1.0 - rate).powi((count - lost) as i32)
    }

    #[test]
    fn a_true_loss_at_the_margin_is_called_non_inferior_at_most_at_the_level() {
        for margin in [0.02, 0.05, 0.1, 0.3] {
            for count in (1..=40u32).chain([59, 60, 90, 119, 120]) {
                for level in [0.05, 0.0125, 0.01] {
                    let wrong: f64 = (0..=count)
                        .filter(|lost| {
                            let mut differences = vec![0.0; (count - lost) as usize];
                            differences.extend(vec![-1.0; *lost as usize]);
                            non_inferior(&differences, margin) <= level
                        })
                        .map(|lost| binomial(count, lost, margin))
                        .sum();
                    assert!(wrong <= level, "{margin} {count} {level}: {wrong}");
                }
            }
        }
    }

    #[test]
    fn lossless_runs_need_as_many_templates_as_reliability_tables_say() {
        // Numbers of failure-free trials that show a reliability at a confidence, as reliability tables print them.
        for (confidence, reliability, count) in
            [(0.95, 0.95, 59), (0.90, 0.90, 22), (0.95, 0.99, 299), (0.99, 0.99, 459)]
        {
            let p = |count| non_inferior(&vec![0.0; count], 1.0 - reliability);
            assert!(p(count) <= 1.0 - confidence + 1e-12 && p(count - 1) > 1.0 - confidence);
        }
    }

    #[test]
    fn gains_do_not_offset_losses() {
        let mut differences = vec![1.0; 50];
        differences.extend([-1.0; 50]);
        assert_eq!(non_inferior(&differences, 0.05), 1.0);
        assert_eq!(non_inferior(&[], 0.05), 1.0);
        assert_eq!(non_inferior(&[f64::NAN; 100], 0.05), 1.0);
    }

    proptest! {
        #[test]
        fn more_loss_is_never_more_convincing(
            mut losses in proptest::collection::vec(0.0f64..=1.0, 1..80),
            margin in 0.01f64..0.5, place: proptest::sample::Index, more in 0.0f64..=1.0
        ) {
            let differences: Vec<f64> = losses.iter().map(|loss| -loss).collect();
            let before = non_inferior(&differences, margin);
            let at = place.index(losses.len());
            losses[at] = losses[at].max(more);
            let after = non_inferior(&losses.iter().map(|loss| -loss).collect::<Vec<_>>(), margin);
            prop_assert!((0.0..=1.0).contains(&before) && after >= before - 1e-12);
        }
    }
}
