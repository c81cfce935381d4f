//! The findings of detectors: their kind, their place and their confidence.

use std::num::NonZeroU8;
use std::ops::Range;

/// A kind of sensitive value. The order is the order of harm, most harmful last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SensitiveKind {
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// A street with its house number, and the postal code and town if they follow.
    PostalAddress,
    /// A date that the words before it announce as a date of birth.
    BirthDate,
    /// An international bank account number.
    Iban,
    /// The number of a passport, or the machine-readable zone of a passport or identity card.
    Passport,
    /// A number that a state issues to a person: social security, tax, identity card.
    NationalId,
    /// A payment card number.
    CardNumber,
    /// A code for a single login or confirmation.
    OneTimeCode,
    /// A password that the words before it announce, or one in a web address or connection string.
    Password,
    /// A key or token that grants access by itself: API key, JSON web token, private key.
    Token,
}

impl SensitiveKind {
    /// Every kind, least harmful first.
    pub const ALL: [SensitiveKind; 11] = [
        SensitiveKind::Email,
        SensitiveKind::Phone,
        SensitiveKind::PostalAddress,
        SensitiveKind::BirthDate,
        SensitiveKind::Iban,
        SensitiveKind::Passport,
        SensitiveKind::NationalId,
        SensitiveKind::CardNumber,
        SensitiveKind::OneTimeCode,
        SensitiveKind::Password,
        SensitiveKind::Token,
    ];

    /// Returns the marker that replaces a value of this kind in masked text, whatever the value and its length.
    pub const fn marker(self) -> &'static str {
        match self {
            SensitiveKind::Email => "[email]",
            SensitiveKind::Phone => "[phone]",
            SensitiveKind::PostalAddress => "[address]",
            SensitiveKind::BirthDate => "[date of birth]",
            SensitiveKind::Iban => "[iban]",
            SensitiveKind::Passport => "[passport]",
            SensitiveKind::NationalId => "[national id]",
            SensitiveKind::CardNumber => "[card number]",
            SensitiveKind::OneTimeCode => "[one-time code]",
            SensitiveKind::Password => "[password]",
            SensitiveKind::Token => "[token]",
        }
    }

    /// Returns whether a value of this kind grants access by itself; the other kinds identify a person.
    pub const fn is_secret(self) -> bool {
        matches!(self, SensitiveKind::OneTimeCode | SensitiveKind::Password | SensitiveKind::Token)
    }
}

/// A span of a text with the kind of value in it. It never holds the value itself; see [`crate::normal_form()`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The span, in bytes of the text that was searched; both ends are character boundaries of it.
    pub span: Range<usize>,
    /// The kind of the value.
    pub kind: SensitiveKind,
    /// The confidence that the value is of that kind.
    pub confidence: Confidence,
}

impl Finding {
    /// Returns a finding of a rule whose confidence is a percentage.
    pub(crate) fn new(span: Range<usize>, kind: SensitiveKind, percent: u8) -> Finding {
        Finding { span, kind, confidence: Confidence::of(percent) }
    }
}

/// Something that finds sensitive values in text.
pub trait Detector {
    /// Returns the spans of `text` that hold sensitive values, ordered by their start; they may overlap.
    ///
    /// It accepts any text, and its time is linear in the length.
    fn detect(&self, text: &str) -> Vec<Finding>;
}

/// The confidence that a value is what its finding says, in hundredths, from 1 to 100.
///
/// Each rule has a fixed confidence, which follows from the form and from the words around it: a checksum of two
/// digits after a word that announces the value is near 100, a street with a house number and nothing else is at 50.
/// Confidences order findings and compare with a threshold. They are not frequencies and were not measured.
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

/// The error of a number that is not a confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a confidence is a percentage from 1 to 100, not {given}")]
pub struct ConfidenceError {
    /// The number that was refused.
    pub given: u8,
}

impl Confidence {
    /// The lowest confidence.
    pub const LEAST: Confidence = Confidence(NonZeroU8::MIN);
    /// The confidence of a form that no other value has.
    pub const FULL: Confidence = Confidence::of(100);

    /// Returns a confidence from a percentage.
    ///
    /// # Errors
    /// When the number is 0 or above 100.
    pub const fn percent(value: u8) -> Result<Confidence, ConfidenceError> {
        match NonZeroU8::new(value) {
            Some(hundredths) if value <= 100 => Ok(Confidence(hundredths)),
            _ => Err(ConfidenceError { given: value }),
        }
    }

    /// Returns the number, above 0 and up to 1.
    pub fn value(self) -> f64 {
        f64::from(self.0.get()) / 100.0
    }

    /// Returns the confidence of a rule; a percentage out of range is clamped.
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
