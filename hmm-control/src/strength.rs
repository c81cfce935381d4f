//! Strength: how far the look-ahead may move the language model.

/// `log sigmoid(strength * logit(phi))` of `log_phi = log phi`, in log space: `logit(phi) = log phi - log(1 - phi)`
/// (TRACE, Yidou-Weng et al. 2025, section 3.4, without its floors).
///
/// Strength 1 returns `log_phi`, 0 makes all probabilities one half, more than 1 drives them apart. Zero and one stay
/// exactly zero and one at any strength above 0: what is forbidden stays forbidden. A `log_phi` above 0, which only
/// rounding can make, counts as 0.
///
/// ```
/// let log_phi = 0.9_f64.ln();
/// assert!((hmm_control::strengthened(log_phi, 1.0) - log_phi).abs() < 1e-12);
/// assert_eq!(hmm_control::strengthened(f64::NEG_INFINITY, 2.0), f64::NEG_INFINITY);
/// ```
pub fn strengthened(log_phi: f64, strength: f64) -> f64 {
    if strength == 1.0 || log_phi == f64::NEG_INFINITY {
        return log_phi.min(0.0);
    }
    if log_phi >= 0.0 {
        return 0.0;
    }
    // log(1 - phi), by the form that is exact at each end.
    let log_rest =
        if log_phi > -std::f64::consts::LN_2 { (-log_phi.exp_m1()).ln() } else { (-log_phi.exp()).ln_1p() };
    let odds = strength * (log_phi - log_rest);
    // log sigmoid, by the form that does not overflow.
    if odds > 0.0 { -(-odds).exp().ln_1p() } else { odds - odds.exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::strengthened;

    #[test]
    fn strength_one_is_the_identity_and_both_ends_stay() {
        for log_phi in [-1e-300, -1e-12, -0.1, -1.0, -50.0, -700.0, -1e6] {
            assert_eq!(strengthened(log_phi, 1.0), log_phi);
            let near = strengthened(log_phi, 1.0 + 1e-9);
            assert!((near - log_phi).abs() <= 1e-6 * log_phi.abs().max(1e-6), "{log_phi} {near}");
            assert!(strengthened(log_phi, 0.5) <= 0.0);
        }
        assert_eq!(strengthened(f64::NEG_INFINITY, 0.5), f64::NEG_INFINITY);
        assert_eq!(strengthened(0.0, 3.0), 0.0);
        assert_eq!(strengthened(1e-9, 1.0), 0.0);
    }

    #[test]
    fn it_is_the_power_of_the_odds() {
        for phi in [0.001_f64, 0.3, 0.5, 0.7, 0.999] {
            for strength in [0.5, 2.0, 3.7] {
                let odds = (phi / (1.0 - phi)).powf(strength);
                let wanted = (odds / (1.0 + odds)).ln();
                assert!((strengthened(phi.ln(), strength) - wanted).abs() < 1e-10 * wanted.abs().max(1.0));
            }
        }
    }
}
