//! Risk and safety: one number in two directions, as two types, so that they are never confused.

/// The error of a number that is not a score.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a score must be a number from 0 to 1, not {given}")]
pub struct ScoreError {
    /// The number that was refused.
    pub given: f64,
}

fn checked(value: f64) -> Result<f64, ScoreError> {
    // Written so that a NaN, which fails every comparison, is refused; adding zero turns -0 into 0.
    if (0.0..=1.0).contains(&value) { Ok(value + 0.0) } else { Err(ScoreError { given: value }) }
}

/// The probability that a text is harmful: 0 is harmless, 1 is certainly harmful.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Risk(f64);

impl Risk {
    /// No risk at all.
    pub const NONE: Risk = Risk(0.0);
    /// Certain harm.
    pub const CERTAIN: Risk = Risk(1.0);

    /// Returns a risk from a number.
    ///
    /// # Errors
    /// When the number is outside `[0, 1]` or not a number.
    pub fn new(value: f64) -> Result<Risk, ScoreError> {
        checked(value).map(Risk)
    }

    /// The number, in `[0, 1]`.
    pub const fn value(self) -> f64 {
        self.0
    }
}

/// The degree to which a text is safe: 0 is certainly harmful, 1 is harmless.
///
/// Policies compare it with thresholds: a release requires `safety >= threshold`.
///
/// ```
/// use classifier::{Risk, Safety};
///
/// let safety = Safety::from(Risk::new(0.25)?);
/// assert_eq!(safety.value(), 0.75);
/// # Ok::<(), classifier::ScoreError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Safety(f64);

impl Safety {
    /// Certainly harmful.
    pub const NONE: Safety = Safety(0.0);
    /// Harmless.
    pub const FULL: Safety = Safety(1.0);

    /// Returns a safety from a number.
    ///
    /// # Errors
    /// When the number is outside `[0, 1]` or not a number.
    pub fn new(value: f64) -> Result<Safety, ScoreError> {
        checked(value).map(Safety)
    }

    /// The number, in `[0, 1]`.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl From<Risk> for Safety {
    /// `1 - risk`.
    fn from(risk: Risk) -> Safety {
        Safety(1.0 - risk.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inside_and_everything_else_is_refused() {
        for good in [0.0, -0.0, f64::MIN_POSITIVE, 0.5, 1.0] {
            assert_eq!(Risk::new(good).unwrap().value(), good);
            assert_eq!(Safety::new(good).unwrap().value(), good);
        }
        assert!(Risk::new(-0.0).unwrap().value().is_sign_positive());
        for bad in [-f64::MIN_POSITIVE, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Risk::new(bad).is_err(), "{bad}");
            assert!(Safety::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn safety_falls_as_risk_rises() {
        assert_eq!(Safety::from(Risk::NONE), Safety::FULL);
        assert_eq!(Safety::from(Risk::CERTAIN), Safety::NONE);
        let steps: Vec<Safety> =
            (0..=100).map(|k| Safety::from(Risk::new(f64::from(k) / 100.0).unwrap())).collect();
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(steps.iter().all(|safety| Safety::new(safety.value()).is_ok()));
    }
}
