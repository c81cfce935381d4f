//! What a request can be about.

/// The kind of a request: the word after `REQ.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A postal address, to be filled into a form.
    Address,
    /// Card data, to be filled into a form or handed over (forbidden under approach B).
    Payment,
    /// A purchase carried out by the guard through the browser's payment interface.
    Purchase,
    /// Name, phone and e-mail.
    Contact,
    /// A government identity number and the name it belongs to.
    Identity,
    /// A login: e-mail and password.
    Login,
    /// A one-time code.
    Otp,
}

impl Kind {
    /// Every kind, in the order of the specification.
    pub const ALL: [Kind; 7] =
        [Kind::Address, Kind::Payment, Kind::Purchase, Kind::Contact, Kind::Identity, Kind::Login, Kind::Otp];

    /// The word used in the text form.
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

    /// The kind with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
