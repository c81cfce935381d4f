//! What a detector is, and what it reports.

use std::ops::Range;

/// A kind of sensitive value. The order is the order of harm, most harmful last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SensitiveKind {
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// An international bank account number.
    Iban,
    /// A payment card number.
    CardNumber,
    /// A key or token that opens something by itself: API key, JSON web token, private key.
    Token,
}

impl SensitiveKind {
    /// Every kind, least harmful first.
    pub const ALL: [SensitiveKind; 5] = [
        SensitiveKind::Email,
        SensitiveKind::Phone,
        SensitiveKind::Iban,
        SensitiveKind::CardNumber,
        SensitiveKind::Token,
    ];

    /// What stands in the masked text for a value of this kind, whatever the value and its length.
    pub const fn marker(self) -> &'static str {
        match self {
            SensitiveKind::Email => "[email]",
            SensitiveKind::Phone => "[phone]",
            SensitiveKind::Iban => "[iban]",
            SensitiveKind::CardNumber => "[card number]",
            SensitiveKind::Token => "[token]",
        }
    }
}

/// A place in a text, and what was found there. It never holds the value itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The place, in bytes of the text that was searched; both ends are character boundaries of it.
    pub span: Range<usize>,
    /// What is there.
    pub kind: SensitiveKind,
}

/// Something that finds sensitive values in text.
pub trait Detector {
    /// The places of `text` that hold sensitive values, ordered by where they begin; they may overlap.
    ///
    /// Any text may be given; the time is linear in its length.
    fn detect(&self, text: &str) -> Vec<Finding>;
}
