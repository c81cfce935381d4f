//! How sure a finding is.

use std::num::NonZeroU8;

/// How sure it is that a value is what its finding says, in hundredths, from 1 to 100.
///
/// It is a judgement of the form and of the words around it, set once for each rule: a checksum of two digits behind a
/// word that announces the value is near 100, a street with a house number and nothing else is at 50. It orders
/// findings and can be compared with a threshold; it is not a frequency, and nothing was measured to make it one.
///
/// ```
/// use classifier::Confidence;
///
/// assert!(Confidence::percent(90)? > Confidence::percent(50)?);
/// assert_eq!(Confidence::percent(90)?.value(), 0.9);
/// assert!(Confidence::percent(0).is_err());
/// # Ok::<(), classifier::ConfidenceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Confidence(NonZeroU8);

/// Why a number is no confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a confidence is a percentage from 1 to 100, not {given}")]
pub struct ConfidenceError {
    /// The number that was refused.
    pub given: u8,
}

impl Confidence {
    /// As little as can be: no finding has less.
    pub const LEAST: Confidence = Confidence(NonZeroU8::MIN);
    /// Nothing else has this form.
    pub const FULL: Confidence = Confidence::of(100);

    /// A confidence from a percentage.
    ///
    /// # Errors
    /// When the number is 0 or above 100.
    pub const fn percent(value: u8) -> Result<Confidence, ConfidenceError> {
        match NonZeroU8::new(value) {
            Some(hundredths) if value <= 100 => Ok(Confidence(hundredths)),
            _ => Err(ConfidenceError { given: value }),
        }
    }

    /// The number, above 0 and up to 1.
    pub fn value(self) -> f64 {
        f64::from(self.0.get()) / 100.0
    }

    /// The confidence of a rule; what is out of range is moved to the nearer end.
    pub(crate) const fn of(percent: u8) -> Confidence {
        match Confidence::percent(percent) {
            Ok(confidence) => confidence,
            Err(ConfidenceError { given: 0 }) => Confidence::LEAST,
            Err(_) => Confidence::of(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_to_a_hundred_is_a_confidence() {
        for percent in 0..=u8::MAX {
            let confidence = Confidence::percent(percent);
            assert_eq!(confidence.is_ok(), (1..=100).contains(&percent), "{percent}");
            let value = Confidence::of(percent).value();
            assert!(value > 0.0 && value <= 1.0, "{percent}");
        }
        assert_eq!(Confidence::FULL.value(), 1.0);
        assert_eq!(Confidence::LEAST, Confidence::percent(1).unwrap());
    }
}
