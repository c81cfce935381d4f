//! Calibrates risks to frequencies, and chooses thresholds.

/// A linear function of log odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlattLine {
    /// The factor; above 0.
    pub slope: f64,
    /// The summand.
    pub offset: f64,
}

/// Returns the log odds of a risk, which is kept a little off 0 and 1.
pub fn log_odds(risk: f64) -> f64 {
    let risk = risk.clamp(1e-12, 1.0 - 1e-12);
    (risk / (1.0 - risk)).ln()
}

/// Returns the line under which these labels are most likely (Platt 1999), by Newton's method. Both labels have the
/// same total weight, so at a risk of 1/2 a harmful text and a harmless one are equally likely.
pub fn platt(scores: &[(f64, bool)]) -> PlattLine {
    let harmful = scores.iter().filter(|(_, harmful)| *harmful).count().max(1) as f64;
    let harmless = (scores.len() as f64 - harmful).max(1.0);
    let (mut slope, mut offset) = (1.0, 0.0);
    for _ in 0..50 {
        // A prior of slope 1 decides if the labels are separable.
        let (mut gs, mut go) = (0.001 * (slope - 1.0), 0.0);
        let (mut hss, mut hso, mut hoo) = (0.001, 0.0, 1e-9);
        for (risk, bad) in scores {
            let x = log_odds(*risk);
            let weight = if *bad { 0.5 / harmful } else { 0.5 / harmless };
            let p = 1.0 / (1.0 + (-(slope * x + offset)).exp());
            let error = weight * (p - f64::from(u8::from(*bad)));
            let curve = weight * p * (1.0 - p);
            gs += error * x;
            go += error;
            hss += curve * x * x;
            hso += curve * x;
            hoo += curve;
        }
        let determinant = hss * hoo - hso * hso;
        if determinant <= 0.0 {
            break;
        }
        let (ds, d_o) = ((hoo * gs - hso * go) / determinant, (hss * go - hso * gs) / determinant);
        slope = (slope - ds.clamp(-0.5, 0.5)).max(0.05);
        offset -= d_o.clamp(-2.0, 2.0);
        if ds.abs() + d_o.abs() < 1e-10 {
            break;
        }
    }
    PlattLine { slope, offset }
}

/// Returns the lowest risk that at most this share of the harmless texts reaches; 1 if too many reach even that.
pub fn threshold(scores: &[(f64, bool)], rate: f64) -> f64 {
    let mut harmless: Vec<f64> =
        scores.iter().filter(|(_, harmful)| !harmful).map(|(risk, _)| *risk).collect();
    harmless.sort_by(|one, other| other.total_cmp(one));
    let allowed = (harmless.len() as f64 * rate).floor() as usize;
    // This is the first text that may not be flagged: the threshold is just above it.
    harmless.get(allowed).map_or(0.0, |risk| (risk + 1e-9 + risk * 1e-9).min(1.0))
}

/// Returns the expected calibration error over bins of equal width; both labels have the same total weight.
pub fn expected_error(scores: &[(f64, bool)], bins: usize) -> f64 {
    let harmful = scores.iter().filter(|(_, harmful)| *harmful).count().max(1) as f64;
    let harmless = (scores.len() as f64 - harmful).max(1.0);
    let mut sums = vec![(0.0_f64, 0.0_f64); bins.max(1)];
    for (risk, bad) in scores {
        let at = ((risk * bins as f64) as usize).min(bins.saturating_sub(1));
        let weight = if *bad { 0.5 / harmful } else { 0.5 / harmless };
        if let Some((risks, labels)) = sums.get_mut(at) {
            *risks += weight * risk;
            *labels += weight * f64::from(u8::from(*bad));
        }
    }
    sums.iter().map(|(risks, labels)| (risks - labels).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels drawn from known log odds: `2 x - 1` where the score says `x`.
    fn drawn() -> Vec<(f64, bool)> {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let pairs = (0..40_000).map(|_| {
            let x = uniform() * 6.0 - 2.5;
            (1.0 / (1.0 + (-x).exp()), uniform() < 1.0 / (1.0 + (-(2.0 * x - 1.0)).exp()))
        });
        pairs.collect()
    }

    #[test]
    fn a_known_line_is_found_and_its_risks_are_frequencies() {
        let scores = drawn();
        let line = platt(&scores);
        let harmful = scores.iter().filter(|(_, bad)| *bad).count() as f64;
        let prior = (harmful / (scores.len() as f64 - harmful)).ln();
        assert!((line.slope - 2.0).abs() < 0.1, "{line:?}");
        assert!((line.offset - (-1.0 - prior)).abs() < 0.1, "{line:?} {prior}");
        let mended: Vec<(f64, bool)> = scores
            .iter()
            .map(|(risk, bad)| (1.0 / (1.0 + (-(line.slope * log_odds(*risk) + line.offset)).exp()), *bad))
            .collect();
        assert!(expected_error(&mended, 15) < 0.02);
        assert!(expected_error(&scores, 15) > 0.05);
    }

    #[test]
    fn a_threshold_keeps_its_rate_and_is_the_least_that_does() {
        let scores: Vec<(f64, bool)> = (0..1000).map(|k| (f64::from(k) / 1000.0, false)).collect();
        for rate in [0.0, 0.001, 0.01, 0.05, 0.5] {
            let threshold = threshold(&scores, rate);
            let flagged = |at: f64| scores.iter().filter(|(risk, _)| *risk >= at).count();
            assert_eq!(flagged(threshold), (rate * 1000.0) as usize);
        }
        assert_eq!(threshold(&[(1.0, false)], 0.01), 1.0);
    }
}
