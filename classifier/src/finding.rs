//! What a detector is, and what it reports.

use crate::confidence::Confidence;
use std::ops::Range;

/// A kind of sensitive value. The order is the order of harm, most harmful last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SensitiveKind {
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// A street with its house number, and the postal code and town where they follow.
    PostalAddress,
    /// A date that the words before it call somebody's date of birth.
    BirthDate,
    /// An international bank account number.
    Iban,
    /// The number of a passport, or the lines that a machine reads in a passport or identity card.
    Passport,
    /// A number that a state gave a person: social security, tax, identity card.
    NationalId,
    /// A payment card number.
    CardNumber,
    /// A code that was sent to be typed once.
    OneTimeCode,
    /// A password that the words before it announce, or that stands in a web address or connection string.
    Password,
    /// A key or token that opens something by itself: API key, JSON web token, private key.
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

    /// What stands in the masked text for a value of this kind, whatever the value and its length.
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

    /// Whether a value of this kind opens something by itself; the other kinds say who somebody is.
    pub const fn is_secret(self) -> bool {
        matches!(self, SensitiveKind::OneTimeCode | SensitiveKind::Password | SensitiveKind::Token)
    }
}

/// A place in a text, and what was found there. It never holds the value itself; see [`crate::normal_form()`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The place, in bytes of the text that was searched; both ends are character boundaries of it.
    pub span: Range<usize>,
    /// What is there.
    pub kind: SensitiveKind,
    /// How sure that is.
    pub confidence: Confidence,
}

impl Finding {
    /// A finding of a rule whose confidence is a percentage.
    pub(crate) fn new(span: Range<usize>, kind: SensitiveKind, percent: u8) -> Finding {
        Finding { span, kind, confidence: Confidence::of(percent) }
    }
}

/// Something that finds sensitive values in text.
pub trait Detector {
    /// The places of `text` that hold sensitive values, ordered by where they begin; they may overlap.
    ///
    /// Any text may be given; the time is linear in its length.
    fn detect(&self, text: &str) -> Vec<Finding>;
}
