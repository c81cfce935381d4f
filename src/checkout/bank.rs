//! The trait of a bank.

use std::future::Future;
use std::pin::Pin;

use browser_signals::Origin;
use sirl::Money;
use vault::SealedCard;
use zeroize::Zeroizing;

use super::purchase::IdempotencyKey;

/// The future of a bank's answer.
pub type BankAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, BankError>> + Send + 'a>>;

/// A bank, or a payment provider in front of one. Only a bank ever opens a [`SealedCard`].
///
/// This module relies on three guarantees:
/// - there is at most one authorisation under a key; authorising again under it returns the same token and charges nothing
///   more;
/// - a token is honoured once, for the payee and the amount that were authorised;
/// - voiding a key closes it permanently, also one that was never authorised: an authorisation that arrives after the void
///   is refused.
pub trait Bank: Send + Sync {
    /// Authorises one payment without charging it, and makes the token for it.
    ///
    /// # Errors
    /// [`BankError`]; after [`BankError::Unreachable`] it is unknown whether the authorisation was made.
    fn authorize<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        card: SealedCard,
        amount: Money,
        payee: &'a Origin,
    ) -> BankAnswer<'a, Token>;

    /// Returns the status of a key.
    fn status<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus>;

    /// Closes a key. The result is `Voided`, or `Redeemed` if the shop redeemed the token first.
    fn void<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus>;
}

/// The status of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankStatus {
    /// The bank does not know it.
    Unknown,
    /// Authorised, not redeemed.
    Authorised,
    /// The payee redeemed the token: paid.
    Redeemed,
    /// Closed without payment.
    Voided,
}

/// Why a bank refused or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BankError {
    /// The card was declined.
    #[error("the bank declined the card")]
    Declined,
    /// The key was voided before.
    #[error("the bank has closed this purchase")]
    Closed,
    /// The key was used for another payee or amount.
    #[error("the bank knows this purchase with another payee or amount")]
    Conflict,
    /// The bank gave no answer, or one that cannot be understood; its state is unknown.
    #[error("the bank gives no answer; check the connection")]
    Unreachable,
}

/// A single-use token, bound at the bank to one payee and one amount. It is wiped when dropped, and can be neither printed
/// nor cloned.
pub struct Token(Zeroizing<String>);

impl Token {
    /// Wraps a token of 16 to 256 letters, digits, `-`, `_` or `.`.
    pub fn new(text: String) -> Option<Token> {
        let text = Zeroizing::new(text);
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        ((16..=256).contains(&text.len()) && text.bytes().all(plain)).then_some(Token(text))
    }

    /// The token's text, for the page that redeems it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn tokens_are_plain_and_long_enough() {
        assert!(Token::new("a".repeat(16)).is_some());
        assert!(Token::new("a".repeat(256)).is_some());
        for bad in
            ["a".repeat(15), "a".repeat(257), "token with spaces".into(), "\"quoted-token-here\"".into()]
        {
            assert!(Token::new(bad).is_none());
        }
    }
}
