//! A code that the user types for one release: a card's security code, or a one-time code that a site sent.

use std::ops::RangeInclusive;

use browser_signals::Origin;

/// A code that the user is asked for. It is used for one release, and never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedCode {
    /// The security code of the card with this handle.
    Card(String),
    /// The one-time code that this site sent, by mail or by message.
    OneTime {
        /// The site.
        to: Origin,
    },
}

impl AskedCode {
    /// Returns true if these bytes can be such a code: 3 or 4 digits, or 4 to 10 digits and letters.
    ///
    /// ```
    /// use portcullis::consent::AskedCode;
    ///
    /// assert!(AskedCode::Card("card:me".to_owned()).accepts(b"123"));
    /// assert!(!AskedCode::Card("card:me".to_owned()).accepts(b"12a"));
    /// ```
    pub fn accepts(&self, code: &[u8]) -> bool {
        let is_part = |byte: &u8| match self {
            AskedCode::Card(_) => byte.is_ascii_digit(),
            AskedCode::OneTime { .. } => byte.is_ascii_alphanumeric(),
        };
        self.lengths().contains(&code.len()) && code.iter().all(is_part)
    }

    /// The number of its characters.
    pub(super) const fn lengths(&self) -> RangeInclusive<usize> {
        match self {
            AskedCode::Card(_) => 3..=4,
            AskedCode::OneTime { .. } => 4..=10,
        }
    }

    /// The name of the code.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            AskedCode::Card(_) => "Security code",
            AskedCode::OneTime { .. } => "One-time code",
        }
    }

    /// The code's form in words.
    pub(super) const fn form(&self) -> &'static str {
        match self {
            AskedCode::Card(_) => "3 or 4 digits",
            AskedCode::OneTime { .. } => "4 to 10 digits or letters",
        }
    }

    /// The request for the code, without an end.
    pub(super) fn request(&self) -> String {
        match self {
            AskedCode::Card(card) => format!("Security code of your {card}"),
            AskedCode::OneTime { to } => format!("One-time code that {to} sent you"),
        }
    }

    /// The consequence of giving no code.
    pub(super) const fn without(&self) -> &'static str {
        match self {
            AskedCode::Card(_) => "Without a code the payment is tried without one.",
            AskedCode::OneTime { .. } => "Without a code nothing is filled in.",
        }
    }

    /// The code's use, and its end.
    pub(super) const fn use_of(&self) -> &'static str {
        match self {
            AskedCode::Card(_) => "used for this payment, not stored",
            AskedCode::OneTime { .. } => "used for this login, not stored",
        }
    }
}
