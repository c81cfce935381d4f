//! Proportions of independent trials, and the median.

/// The 95 % interval of a proportion (Wilson): lower and upper bound, 0 and 1 for no trials.
///
/// ```
/// let (low, high) = evaluation::statistics::wilson(19, 20);
/// assert!((0.76..0.77).contains(&low) && (0.99..1.0).contains(&high));
/// ```
pub fn wilson(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    const Z: f64 = 1.959_963_984_540_054;
    let n = trials as f64;
    let rate = successes.min(trials) as f64 / n;
    let z2 = Z * Z;
    let centre = rate + z2 / (2.0 * n);
    let spread = Z * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

/// The 95 % upper bound of a rate if no event was seen in `trials` trials (the rule of three). `None` for no trials.
pub fn rule_of_three(trials: u64) -> Option<f64> {
    (trials > 0).then(|| (3.0 / trials as f64).min(1.0))
}

/// The median; `None` for no values. NaNs are left out.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(*upper);
    }
    sorted.get(middle.wrapping_sub(1)).map(|lower| f64::midpoint(*lower, *upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-5
    }

    #[test]
    fn wilson_agrees_with_published_values() {
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (l, h) = wilson(successes, trials);
            assert!(close(l, low) && close(h, high), "{successes}/{trials}: {l} {h}");
        }
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    #[test]
    fn the_rule_of_three_bounds_the_rate_of_unseen_events() {
        assert_eq!(rule_of_three(0), None);
        assert_eq!(rule_of_three(300), Some(0.01));
        assert_eq!(rule_of_three(2), Some(1.0));
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, f64::NAN, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_rate(trials in 1u64..5000, part in 0.0f64..=1.0) {
            let successes = (trials as f64 * part) as u64;
            let (low, high) = wilson(successes, trials);
            let rate = successes as f64 / trials as f64;
            prop_assert!(0.0 <= low && low <= rate + 1e-12 && rate <= high + 1e-12 && high <= 1.0);
        }
    }
}
