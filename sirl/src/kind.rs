//! Kinds of requests.

use crate::{Field, FieldSet};

/// The kind of a request: the word after `REQ.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A postal address with its person and company, to be filled into a form.
    Address,
    /// Card data, to be filled into a form or shown to the model (the latter is forbidden under approach B).
    Payment,
    /// A purchase carried out by the guard, through the browser's payment interface or by an order to the shop.
    Purchase,
    /// Name, phone, e-mail, user name and company.
    Contact,
    /// A government identity number, the name it belongs to, and a birth date.
    Identity,
    /// A login: user name or e-mail, and password.
    Login,
    /// A one-time code.
    Otp,
}

impl Kind {
    /// Every kind, in the order of the specification.
    pub const ALL: [Kind; 7] =
        [Kind::Address, Kind::Payment, Kind::Purchase, Kind::Contact, Kind::Identity, Kind::Login, Kind::Otp];

    /// The word in the text form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Address => "address",
            Kind::Payment => "payment",
            Kind::Purchase => "purchase",
            Kind::Contact => "contact",
            Kind::Identity => "identity",
            Kind::Login => "login",
            Kind::Otp => "otp",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The kind with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The fields that a request of this kind may ask for. A purchase releases no field, so it has none.
    #[must_use]
    pub const fn allowed_fields(self) -> FieldSet {
        let none = FieldSet::EMPTY;
        match self {
            Kind::Address => none
                .with(Field::Name)
                .with(Field::Street)
                .with(Field::PostalCode)
                .with(Field::City)
                .with(Field::Region)
                .with(Field::Country)
                .with(Field::Company),
            Kind::Payment => {
                none.with(Field::Name).with(Field::CardNumber).with(Field::CardExpiry).with(Field::CardCode)
            }
            Kind::Purchase => none,
            Kind::Contact => none
                .with(Field::Name)
                .with(Field::Phone)
                .with(Field::Email)
                .with(Field::Username)
                .with(Field::Company),
            Kind::Identity => none.with(Field::Name).with(Field::GovernmentId).with(Field::BirthDate),
            Kind::Login => {
                none.with(Field::Username).with(Field::Email).with(Field::Password).with(Field::NewPassword)
            }
            Kind::Otp => none.with(Field::OneTimeCode),
        }
    }

    /// The fields that a request of this kind asks for if it names none: all that it may ask for, except a new password, which is
    /// made only where it is named.
    #[must_use]
    pub const fn default_fields(self) -> FieldSet {
        self.allowed_fields().without(FieldSet::EMPTY.with(Field::NewPassword))
    }
}

/// A set of kinds. It fits into a byte, so a decision looks into it without reading other memory.
///
/// ```
/// use sirl::{Kind, KindSet};
///
/// let set: KindSet = [Kind::Login, Kind::Address].into_iter().collect();
/// assert!(set.contains(Kind::Login) && !set.contains(Kind::Otp));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [Kind::Address, Kind::Login]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct KindSet(u8);

impl KindSet {
    /// Tells if `kind` is in the set.
    #[must_use]
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// The kinds of the set, in the order of [`Kind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<Kind> for KindSet {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> KindSet {
        KindSet(kinds.into_iter().fold(0, |set, kind| set | kind.bit()))
    }
}
