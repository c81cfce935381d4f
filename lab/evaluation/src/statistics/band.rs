//! Confidence bands for whole curves, such as success against the look-ahead's horizon.

use super::resample::{Resampling, percentile};
use super::rule_of_three;

/// A curve with a simultaneous confidence band.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The mean over templates, at each point.
    pub mean: Vec<f64>,
    /// The band's lower edge.
    pub low: Vec<f64>,
    /// The band's upper edge.
    pub high: Vec<f64>,
}

/// The confidence band of a mean curve: each entry of `curves` is one template's curve, of values at the same points.
/// The band's half-width is the same number of standard errors at every point. This number is the quantile, at the
/// requested level, of the largest deviation of a resampled curve (max-t), so that the band holds the whole true curve
/// and not each point by itself.
///
/// A point at which all templates agree has no standard error: there the band is as wide as the bound on a rate that
/// was never observed (three over the number of templates). `None` for fewer than two templates, or curves of unequal
/// lengths.
pub fn simultaneous_band(curves: &[Vec<f64>], how: &Resampling) -> Option<Band> {
    let points = curves.first()?.len();
    if curves.len() < 2 || curves.iter().any(|curve| curve.len() != points) {
        return None;
    }
    let all: Vec<&Vec<f64>> = curves.iter().collect();
    let mean = mean_curve(&all, points);
    let error: Vec<f64> = (0..points)
        .map(|point| {
            let centre = mean.get(point).copied().unwrap_or(0.0);
            let square = |curve: &Vec<f64>| curve.get(point).map_or(0.0, |value| (value - centre).powi(2));
            let count = curves.len() as f64;
            (curves.iter().map(square).sum::<f64>() / (count - 1.0) / count).sqrt()
        })
        .collect();
    let furthest = how.draws(curves, |drawn| {
        let redrawn = mean_curve(drawn, points);
        let off = |((new, old), error): ((&f64, &f64), &f64)| {
            if *error > 0.0 { (new - old).abs() / error } else { 0.0 }
        };
        Some(redrawn.iter().zip(&mean).zip(&error).map(off).fold(0.0, f64::max))
    });
    // Resamples of n templates vary by (n-1)/n of the variance of samples.
    let reach =
        percentile(&furthest, how.level)? * (curves.len() as f64 / (curves.len() as f64 - 1.0)).sqrt();
    let unseen = rule_of_three(curves.len() as u64).unwrap_or(1.0);
    let width = |error: &f64| if *error > 0.0 { reach * error } else { unseen };
    let low = mean.iter().zip(&error).map(|(mean, error)| mean - width(error)).collect();
    let high = mean.iter().zip(&error).map(|(mean, error)| mean + width(error)).collect();
    Some(Band { mean, low, high })
}

fn mean_curve(curves: &[&Vec<f64>], points: usize) -> Vec<f64> {
    let at = |point: usize| curves.iter().filter_map(|curve| curve.get(point)).sum::<f64>();
    (0..points).map(|point| at(point) / curves.len() as f64).collect()
}

/// The first point after which no further step gains more than `tolerance`, by the upper edge of the band of the steps
/// (each template's curve, next minus this): the k* of H4b. `None` if no point is shown to be one.
pub fn first_flat(curves: &[Vec<f64>], tolerance: f64, how: &Resampling) -> Option<usize> {
    let steps: Vec<Vec<f64>> = curves
        .iter()
        .map(|curve| curve.iter().zip(curve.iter().skip(1)).map(|(here, next)| next - here).collect())
        .collect();
    let band = simultaneous_band(&steps, how)?;
    let flat = band.high.iter().rev().take_while(|gain| **gain <= tolerance).count();
    (flat > 0).then(|| band.high.len() - flat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A rate that rises to 0.9 at the fourth point and stays; seeds of a template share its shift.
    fn curves(templates: u64, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::new(seed);
        (0..templates)
            .map(|_| {
                let shift = random.below(1000) as f64 / 1000.0 - 0.5;
                let noise = |random: &mut Random| (random.below(1000) as f64 / 1000.0 - 0.5) * 0.02;
                TRUE.iter().map(|rate| rate + 0.1 * shift + noise(&mut random)).collect()
            })
            .collect()
    }

    const TRUE: [f64; 8] = [0.2, 0.5, 0.7, 0.9, 0.9, 0.9, 0.9, 0.9];

    #[test]
    fn the_band_holds_the_whole_curve_about_as_often_as_it_says() {
        const RUNS: u64 = 150;
        let held = (0..RUNS)
            .filter(|run| {
                let how = Resampling { times: 200, seed: *run, level: 0.95 };
                let band = simultaneous_band(&curves(30, *run), &how).unwrap();
                (0..TRUE.len()).all(|k| band.low[k] <= TRUE[k] && TRUE[k] <= band.high[k])
            })
            .count() as f64
            / RUNS as f64;
        assert!((0.90..=0.99).contains(&held), "{held}");
    }

    /// Eight independent points: about a third of such curves leave a band of 1.96 standard errors somewhere.
    #[test]
    fn pointwise_intervals_would_hold_the_curve_too_seldom() {
        const RUNS: u64 = 300;
        let (mut held, mut pointwise) = (0, 0);
        for run in 0..RUNS {
            let mut random = Random::new(1_000 + run);
            let mut value = || random.below(1_000_001) as f64 / 1_000_000.0;
            let curves: Vec<Vec<f64>> =
                (0..80).map(|_| TRUE.iter().map(|rate| rate + value() - 0.5).collect()).collect();
            let how = Resampling { times: 300, seed: run, level: 0.95 };
            let band = simultaneous_band(&curves, &how).unwrap();
            let within = |k: usize, low: f64, high: f64| low <= TRUE[k] && TRUE[k] <= high;
            held += u64::from((0..TRUE.len()).all(|k| within(k, band.low[k], band.high[k])));
            // A uniform value has a standard deviation of 1 / sqrt(12).
            let alone = 1.96 / (12.0f64 * 80.0).sqrt();
            pointwise +=
                u64::from((0..TRUE.len()).all(|k| within(k, band.mean[k] - alone, band.mean[k] + alone)));
        }
        let share = |held: u64| held as f64 / RUNS as f64;
        assert!((0.90..=0.985).contains(&share(held)), "{}", share(held));
        assert!(share(pointwise) < 0.80, "{}", share(pointwise));
    }

    #[test]
    fn the_curve_is_flat_after_it_stops_rising() {
        let how = Resampling::default();
        assert_eq!(first_flat(&curves(60, 1), 0.02, &how), Some(3));
        assert_eq!(first_flat(&[vec![0.0, 0.5], vec![0.0, 0.4], vec![0.1, 0.6]], 0.02, &how), None);
    }

    #[test]
    fn agreement_of_few_templates_is_no_proof_of_flatness() {
        let flat = |templates| vec![vec![1.0; 4]; templates];
        assert_eq!(first_flat(&flat(20), 0.02, &Resampling::default()), None);
        assert_eq!(first_flat(&flat(150), 0.02, &Resampling::default()), Some(0));
        assert_eq!(simultaneous_band(&[vec![1.0], vec![1.0, 2.0]], &Resampling::default()), None);
    }
}
