//! Orders at a shop that signs no checkout and takes no mandates. A token of a payment handler pays them.
//!
//! The same comparisons hold as for a signed checkout, but nobody can prove afterwards what the shop offered. So whoever places such an
//! order shows each offer to the user, and has a token that pays no more than this offer.

use serde_json::{Map, Value, json};
use url::Url;
use zeroize::Zeroizing;

use crate::agreement::Agreement;
use crate::call::{Call, CheckoutAddress, Method};
use crate::checkout::{CheckoutFault, Stated, read};
use crate::completion::Completing;
use crate::first_form;
use crate::order::{Body, OrderFault, object};
use crate::profile::{Profile, Version};

/// A token of a payment handler. It is wiped when it is dropped, and has no `Debug` and no `Clone`.
pub struct PaymentToken {
    pub(crate) text: Zeroizing<String>,
    card: Option<CardFace>,
}

/// What a shop is told of the card that a token stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFace {
    /// The brand, such as `visa`.
    pub brand: String,
    /// The last four digits.
    pub last_digits: String,
}

impl PaymentToken {
    /// Takes the text of a token, and of the card behind it where there is one.
    pub fn new(text: String, card: Option<CardFace>) -> PaymentToken {
        PaymentToken { text: Zeroizing::new(text), card }
    }

    /// The instrument that pays by it.
    fn instrument(&self, id: &str, kind: &str, handler: &str) -> Value {
        let credential = object([("type", "token".into()), ("token", self.text.as_str().into())]);
        let (id, handler, kind) = (id.into(), handler.into(), kind.into());
        let mut paying =
            object([("id", id), ("handler_id", handler), ("type", kind), ("credential", credential)]);
        if let (Some(paying), Some(card)) = (paying.as_object_mut(), &self.card) {
            paying.insert("brand".to_owned(), card.brand.clone().into());
            paying.insert("last_digits".to_owned(), card.last_digits.clone().into());
        }
        paying
    }
}

/// An order that the user agreed to and that the shop still offers so, without a signature. Only [`pay`](UnsignedOrder::pay) can follow.
pub struct UnsignedOrder {
    pub(crate) shop: Profile,
    pub(crate) at: CheckoutAddress,
    pub(crate) handler: String,
    pub(crate) agreement: Agreement,
}

impl UnsignedOrder {
    /// Pays with this token, which is used up. Before it, whoever calls it writes down that the purchase is about to be made. `random` gives 16 random bytes
    /// for each key.
    pub fn pay(
        self,
        token: PaymentToken,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Completing, OrderFault> {
        let UnsignedOrder { shop, at, handler, agreement } = self;
        let paying = &agreement.instrument;
        let instrument = token.instrument(&paying.id, &paying.kind, &handler);
        let body = Body(match shop.version() {
            Version::January11 => first_form::completion(instrument),
            _ => object([("payment", object([("instruments", vec![instrument].into())]))]),
        });
        let complete = at.to("complete").ok_or(OrderFault::NotOffered)?;
        let complete = Call::change(&shop, Method::Post, complete, body.bytes()?, random());
        Completing::begin(shop, at, agreement, complete, None, random)
    }
}

/// Reads a checkout that nobody signed. Where it names no merchant, the shop at this origin is the merchant, and its name is its host.
pub(crate) fn stated(checkout: Map<String, Value>, shop: &Profile) -> Result<Stated, CheckoutFault> {
    let mut checkout = match shop.version() {
        Version::January11 => first_form::later(checkout)?,
        _ => checkout,
    };
    checkout.entry("merchant").or_insert_with(|| merchant(shop.endpoint()));
    Ok(Stated { content: read(checkout.into())?, origin: shop.origin() })
}

/// The shop at an address as a merchant.
pub(crate) fn merchant(shop: &Url) -> Value {
    let host = shop.host_str().unwrap_or_default();
    json!({"id": host, "name": host, "website": shop.origin().ascii_serialization()})
}
