//! A card on its way to the guard's own checkout.

use browser_signals::Origin;
use sirl::Money;

use crate::padded::Plain;

/// One card, for one payment: it cannot be read but by [`SealedCard::open`], which uses it up.
#[must_use = "a sealed card pays nothing until it is opened"]
pub struct SealedCard {
    pub(crate) handle: String,
    pub(crate) amount: Money,
    pub(crate) payee: Origin,
    pub(crate) number: Plain,
    pub(crate) expiry: Plain,
    pub(crate) code: Option<Plain>,
    pub(crate) name: Option<Plain>,
}

impl SealedCard {
    /// The record that the card is from.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// Exactly what may be paid.
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// To whom.
    pub fn payee(&self) -> &Origin {
        &self.payee
    }

    /// Lends the card's data to `pay`, then wipes them. What `pay` returns cannot borrow from them.
    pub fn open<R>(self, pay: impl for<'x> FnOnce(ExposedCard<'x>) -> R) -> R {
        pay(ExposedCard {
            number: self.number.expose(),
            expiry: self.expiry.expose(),
            code: self.code.as_ref().map(Plain::expose),
            name: self.name.as_ref().map(Plain::expose),
        })
    }
}

/// A card's data, inside [`SealedCard::open`] alone. All are UTF-8, as the user wrote them.
pub struct ExposedCard<'x> {
    number: &'x [u8],
    expiry: &'x [u8],
    code: Option<&'x [u8]>,
    name: Option<&'x [u8]>,
}

impl<'x> ExposedCard<'x> {
    /// The card number.
    pub fn number(&self) -> &'x [u8] {
        self.number
    }

    /// The expiry.
    pub fn expiry(&self) -> &'x [u8] {
        self.expiry
    }

    /// The security code, if the user gave one for this session.
    pub fn code(&self) -> Option<&'x [u8]> {
        self.code
    }

    /// The holder's name, if the vault has one.
    pub fn name(&self) -> Option<&'x [u8]> {
        self.name
    }
}
