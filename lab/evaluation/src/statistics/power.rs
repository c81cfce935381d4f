//! The number of templates that a question needs.

use super::bounded::tail;
use super::distribution::normal_quantile;

/// The largest number of templates that is considered.
const MOST: u64 = 5_000;

/// The probability of showing non-inferiority with `templates` templates, a share `loss` of which truly loses on every
/// seed: the worst case of the paired test. It is exact, by summation of the binomial distribution of lost templates.
pub fn of_non_inferiority(templates: u64, loss: f64, margin: f64, level: f64) -> f64 {
    let (mut log_probability, mut power) = (templates as f64 * (1.0 - loss).ln(), 0.0);
    for lost in 0..=templates {
        if tail(templates, lost as f64 / templates.max(1) as f64, margin) > level {
            break;
        }
        power += log_probability.exp();
        if loss == 0.0 {
            break;
        }
        log_probability += ((templates - lost) as f64 / (lost + 1) as f64 * loss / (1.0 - loss)).ln();
    }
    power.min(1.0)
}

/// The fewest templates with which non-inferiority is shown with probability `power`, and with any greater number of
/// them too (the power of a count is not monotonic). `None` if 5,000 are too few.
///
/// ```
/// use evaluation::statistics::power::templates_for_non_inferiority;
/// assert_eq!(templates_for_non_inferiority(0.0, 0.05, 0.05, 0.8), Some(59));
/// assert_eq!(templates_for_non_inferiority(0.05, 0.05, 0.05, 0.8), None);
/// ```
pub fn templates_for_non_inferiority(loss: f64, margin: f64, level: f64, power: f64) -> Option<u64> {
    let enough = |templates| of_non_inferiority(templates, loss, margin, level) >= power;
    if loss >= margin || !enough(MOST) {
        return None;
    }
    let mut fewest = MOST;
    while fewest > 1 && enough(fewest - 1) {
        fewest -= 1;
    }
    Some(fewest)
}

/// The fewest templates whose mean shows an `effect` at a one-sided `level` with probability `power`, if the standard
/// deviation between templates is `deviation`: ((z(1-level) + z(power)) deviation / effect)^2, rounded up. It applies
/// to means that are about normally distributed; at least 8. `None` for an effect that is not above 0.
pub fn templates_for_mean(effect: f64, deviation: f64, level: f64, power: f64) -> Option<u64> {
    let spread = (normal_quantile(1.0 - level) + normal_quantile(power)) * deviation / effect;
    (effect > 0.0 && spread.is_finite()).then(|| (spread * spread).ceil().max(8.0) as u64)
}

/// The calculation behind the sample sizes of `spec/experiments.md`, as a table.
pub fn table() -> String {
    let mut text = String::from(
        "Templates for non-inferiority of S (losses are whole templates; power .80 / .90)\n\
         margin  level   true loss 0     .005          .01           .02\n",
    );
    for margin in [0.05, 0.10] {
        for level in [0.05, 0.01] {
            text.push_str(&format!("{margin:.2}    {level:.3}   "));
            for loss in [0.0, 0.005, 0.01, 0.02] {
                let of = |power| {
                    templates_for_non_inferiority(loss, margin, level, power)
                        .map_or("-".to_owned(), |n| n.to_string())
                };
                text.push_str(&format!("{:<14}", format!("{} / {}", of(0.8), of(0.9))));
            }
            text = text.trim_end().to_owned();
            text.push('\n');
        }
    }
    text.push_str(
        "\nTemplates for C lower by more than Delta_C = .30 (power .90, level .01)\n\
         true reduction   spread of a template's prompts, in prompts of the reference: 0.25   0.50   1.00\n",
    );
    for reduction in [0.40, 0.50, 0.60] {
        text.push_str(&format!("{reduction:.2}             "));
        for deviation in [0.25, 0.5, 1.0] {
            let count = templates_for_mean(reduction - 0.30, deviation, 0.01, 0.90);
            text.push_str(&format!("{:<7}", count.map_or("-".to_owned(), |n| n.to_string())));
        }
        text = text.trim_end().to_owned();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::non_inferior;
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_computed_power_is_the_simulated_one() {
        for (templates, loss, margin, level) in [(100, 0.01, 0.05, 0.05), (300, 0.02, 0.05, 0.01)] {
            let computed = of_non_inferiority(templates, loss, margin, level);
            let mut random = Random::new(3);
            const RUNS: u32 = 2_000;
            let shown = (0..RUNS)
                .filter(|_| {
                    let lost = |random: &mut Random| (random.below(1_000_000) as f64) < loss * 1e6;
                    let differences: Vec<f64> =
                        (0..templates).map(|_| if lost(&mut random) { -1.0 } else { 0.0 }).collect();
                    non_inferior(&differences, margin) <= level
                })
                .count();
            let simulated = shown as f64 / f64::from(RUNS);
            assert!((simulated - computed).abs() < 0.04, "{templates}: {simulated} {computed}");
            assert!((0.2..0.99).contains(&computed), "{computed} says little");
        }
    }

    #[test]
    fn sample_sizes_of_means_agree_with_textbooks() {
        // (1.6449 + 0.8416)^2 = 6.18: 25 templates show half a deviation.
        assert_eq!(templates_for_mean(0.5, 1.0, 0.05, 0.8), Some(25));
        // (2.3263 + 1.2816)^2 = 13.02.
        assert_eq!(templates_for_mean(0.1, 1.0, 0.01, 0.9), Some(1302));
        assert_eq!(templates_for_mean(0.0, 1.0, 0.05, 0.8), None);
    }

    #[test]
    fn a_loss_equal_to_the_margin_cannot_be_shown_to_be_smaller() {
        assert!(of_non_inferiority(2_000, 0.05, 0.05, 0.05) <= 0.05);
        assert_eq!(templates_for_non_inferiority(0.06, 0.05, 0.05, 0.8), None);
    }
}
