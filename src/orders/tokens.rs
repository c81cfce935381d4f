//! Where the tokens come from that pay shops which sign nothing.

use std::future::Future;
use std::pin::Pin;

use browser_signals::Origin;
use checkout_protocols::{CardFace, PaymentToken};
use sirl::Money;
use zeroize::Zeroizing;

/// The order that a token is for.
#[derive(Debug, Clone, Copy)]
pub struct TokenOrder<'a> {
    /// The shop.
    pub shop: &'a Origin,
    /// The shop's id of the checkout.
    pub checkout: &'a str,
    /// The total that the user agreed to.
    pub total: Money,
}

/// The answer of a source, later.
pub type TokenAnswer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A payment provider, for shops that sign nothing.
///
/// Such a shop can do with a token what it likes, and nothing of the guard's ends it. So the token is what bounds the shop: **each is for one
/// order, at one shop, once, and pays no more than its total.**
pub trait TokenSource: Send + Sync {
    /// A fresh token for this order; none where there is none.
    fn token<'a>(&'a self, order: TokenOrder<'a>) -> TokenAnswer<'a, Option<PaymentToken>>;

    /// Takes the token of an order back of which the shop says that it was not placed, and returns whether it can pay nothing any more.
    /// Where it can, the order counts as one of unknown end.
    fn revoke<'a>(&'a self, order: TokenOrder<'a>) -> TokenAnswer<'a, bool>;
}

/// Tokens of test money: always the same one, which pays nothing.
pub struct TestTokens {
    text: Zeroizing<String>,
    card: Option<CardFace>,
}

impl TestTokens {
    /// Takes the text of the token, and of the card behind it where the shop wants one. **It has to be one of test money**: it is given for
    /// every order.
    pub fn new(text: &str, card: Option<CardFace>) -> TestTokens {
        TestTokens { text: Zeroizing::new(text.to_owned()), card }
    }
}

impl TokenSource for TestTokens {
    fn token<'a>(&'a self, _: TokenOrder<'a>) -> TokenAnswer<'a, Option<PaymentToken>> {
        Box::pin(async { Some(PaymentToken::new(self.text.to_string(), self.card.clone())) })
    }

    fn revoke<'a>(&'a self, _: TokenOrder<'a>) -> TokenAnswer<'a, bool> {
        // No money moves, so there is nothing to take back.
        Box::pin(async { true })
    }
}
