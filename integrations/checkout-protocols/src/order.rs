//! An order from what is wanted to what the shop offers for it.
//!
//! The guard tells the shop the items and the address, chooses the cheapest delivery where the shop leaves the choice, and reads the checkout that
//! the shop states. Nothing is bought here: a checkout that is never completed expires.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use serde_json::{Map, Value, json};
use url::Url;
use zeroize::Zeroizing;

use crate::address::{Buyer, PostalAddress};
use crate::agreement::{AgreedLine, Difference};
use crate::answer::{AnswerFault, Answered, ShopCode};
use crate::call::{Call, CheckoutAddress, Method, Reply, uuid};
use crate::checkout::Status;
use crate::claims::{Currency, Instrument};
use crate::first_form;
use crate::json::JsonFault;
use crate::offer::{Offered, are_wanted};
use crate::profile::{Profile, Version};

/// How often a call is sent before the shop counts as not answering.
const TRIES: u8 = 3;
/// How often the shop is told of a choice: some offer the ways of delivery only once they know the destination.
const CHOICES: u8 = 2;
/// The most items of an order.
const MAX_ITEMS: usize = 20;

/// An item that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// The shop's id of the item.
    pub item: String,
    /// The number of pieces.
    pub quantity: NonZeroU32,
}

/// What an order needs.
pub struct Wish {
    /// The items: at least one and at most 20, each once.
    pub items: Vec<Wanted>,
    /// Where the goods go; none where nothing is sent.
    pub address: Option<PostalAddress>,
    /// The buyer that the shop is told; none where it is told nobody apart from the recipient.
    pub buyer: Option<Buyer>,
    /// What pays.
    pub means: PaymentMeans,
    /// The currency, which shops that speak the first form are told. Without it nothing is ordered there.
    pub currency: Option<Currency>,
}

impl Wish {
    /// Tells if the number of items is possible, and each is there once.
    pub(crate) fn has_possible_items(&self) -> bool {
        let ids: BTreeSet<&str> = self.items.iter().map(|wanted| &*wanted.item).collect();
        ids.len() == self.items.len() && (1..=MAX_ITEMS).contains(&ids.len())
    }
}

/// A means of payment of the guard's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentMeans {
    /// The name of the payment handler that the shop must have, such as `com.example.pay`.
    pub handler: String,
    /// What pays.
    pub instrument: Instrument,
    /// What makes it pay.
    pub credential: Credential,
}

/// What makes a means of payment pay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A mandate that the guard signs, for a checkout that the shop signed.
    Mandate,
    /// A token of the payment handler, at shops that sign nothing.
    Token,
}

/// Why an order does not come about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderFault {
    /// The shop does not sell by this means of payment, or wants to be told a currency that is not known.
    #[error("the shop does not sell by the means of payment that you have")]
    NotOffered,
    /// No items, too many, or one twice.
    #[error("an order has 1 to 20 items, each once")]
    Items,
    /// The shop's answer.
    #[error(transparent)]
    Answer(#[from] AnswerFault),
    /// The shop wants something that the guard cannot give.
    #[error("the shop does not complete the checkout: {0}")]
    Incomplete(ShopCode),
    /// The shop wants a person to go on, at an address on another site than its own.
    #[error("the shop sends you to another site to go on")]
    Elsewhere,
    /// The shop's checkout is in a state in which it cannot be bought.
    #[error("the checkout was completed or cancelled already")]
    State,
    /// The checkout is not the one that was wanted, or agreed to.
    #[error(transparent)]
    Differs(#[from] Difference),
    /// The call cannot be written.
    #[error("the call to the shop: {0}")]
    Json(#[from] JsonFault),
}

/// An order whose next call is ready.
pub struct Preparing {
    shop: Profile,
    wish: Wish,
    call: Call,
    tries: u8,
    /// How often the shop was told of a choice.
    choices: u8,
    /// The checkout, once the shop has made it.
    at: Option<CheckoutAddress>,
}

/// The next step after an answer.
pub enum Step {
    /// A call is to be sent: the same once more, or the next.
    Call(Box<Preparing>),
    /// The shop stated a checkout for what is wanted, and signed it where it takes mandates.
    Offered(Box<Offered>),
    /// The shop wants a person to go on in a page of its own, at this address.
    Escalated(Url),
}

impl Preparing {
    /// Begins an order at a shop. `random` gives 16 random bytes for each call.
    pub fn begin(
        shop: Profile,
        wish: Wish,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Preparing, OrderFault> {
        if shop.takes(&wish.means).is_none() {
            return Err(OrderFault::NotOffered);
        }
        if !wish.has_possible_items() {
            return Err(OrderFault::Items);
        }
        let is_first = shop.version() == Version::January11;
        let lines = wish.items.iter().map(|it| {
            let quantity = it.quantity.get();
            if is_first {
                first_form::line(None, &it.item, None, quantity)
            } else {
                json!({"item": {"id": it.item}, "quantity": quantity})
            }
        });
        let lines: Vec<Value> = lines.collect();
        // In the first form the destination follows once the lines have ids.
        let address = wish.address.as_ref().filter(|_| !is_first);
        let fulfillment = address.map(|address| {
            let method = [("type", "shipping".into()), ("destinations", vec![address.written()].into())];
            object([("methods", vec![object(method)].into())])
        });
        let body = Body::of(&shop, &wish, lines, fulfillment, None)?;
        let url = CheckoutAddress::all(&shop).ok_or(OrderFault::NotOffered)?;
        let call = Call::change(&shop, Method::Post, url, body.bytes()?, random());
        Ok(Preparing { shop, wish, call, tries: 1, choices: 0, at: None })
    }

    /// The call that is to be sent now.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Takes what came back.
    pub fn answered(
        mut self,
        reply: Reply<'_>,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Step, OrderFault> {
        let id = self.at.as_ref().map(|at| at.id.clone());
        let answered = match Answered::read(reply, &self.shop, id.as_deref()) {
            Err(fault) if fault.may_pass() && self.tries < TRIES => {
                self.tries += 1;
                return Ok(Step::Call(Box::new(self)));
            }
            answered => answered?,
        };
        let content = answered.content();
        let at = CheckoutAddress::new(&self.shop, &content.id).ok_or(AnswerFault::OtherCheckout)?;
        // In the first form a checkout may count as ready before anything is chosen.
        let is_first = self.shop.version() == Version::January11;
        let is_open = is_first
            && self.choices < CHOICES
            && self.wish.address.is_some()
            && !content.fulfillment.is_chosen();
        match content.status {
            Status::ReadyForComplete if !is_open => {
                Ok(Step::Offered(Box::new(Offered::new(self.shop, self.wish, at, &answered)?)))
            }
            Status::RequiresEscalation => {
                let url = content.continue_url.as_deref().and_then(|url| Url::parse(url).ok());
                let is_own = |url: &Url| {
                    url.origin().ascii_serialization() == self.shop.origin()
                        && url.username().is_empty()
                        && url.password().is_none()
                };
                url.filter(is_own).map(Step::Escalated).ok_or(OrderFault::Elsewhere)
            }
            // The shop was told everything that there is already.
            Status::Incomplete
                if self.choices >= CHOICES || self.at.is_some() && content.fulfillment.is_chosen() =>
            {
                Err(OrderFault::Incomplete(ShopCode::first(&content.messages)))
            }
            Status::Incomplete | Status::ReadyForComplete => {
                if !are_wanted(
                    &content.line_items.iter().map(AgreedLine::of).collect::<Vec<_>>(),
                    &self.wish.items,
                ) {
                    return Err(OrderFault::Differs(Difference::Lines));
                }
                // Before the shop is told the address.
                if is_first && self.wish.currency.as_ref() != Some(&content.currency) {
                    return Err(OrderFault::Differs(Difference::Currency));
                }
                let chosen = self.wish.address.as_ref().and_then(|address| {
                    if is_first && content.fulfillment.is_empty() {
                        let ids: Vec<&str> = content.line_items.iter().map(|line| &*line.id).collect();
                        Some(first_form::methods(&ids, address, &uuid(random())))
                    } else {
                        content.fulfillment.choose(address)
                    }
                });
                let Some(methods) = chosen else {
                    return Err(OrderFault::Incomplete(ShopCode::first(&content.messages)));
                };
                let lines = content.line_items.iter().map(|it| {
                    let (item, quantity) = (&it.item, it.quantity.get());
                    if is_first {
                        first_form::line(Some(&it.id), &item.id, Some(&item.title), quantity)
                    } else {
                        json!({"id": it.id, "item": {"id": item.id}, "quantity": quantity})
                    }
                });
                let lines: Vec<Value> = lines.collect();
                let fulfillment = Some(object([("methods", methods.into())]));
                let body = Body::of(&self.shop, &self.wish, lines, fulfillment, Some(&at.id))?;
                self.call = Call::change(&self.shop, Method::Put, at.url(), body.bytes()?, random());
                (self.tries, self.choices, self.at) = (1, self.choices + 1, Some(at));
                Ok(Step::Call(Box::new(self)))
            }
            Status::CompleteInProgress | Status::Completed | Status::Canceled => Err(OrderFault::State),
        }
    }
}

/// The body of a call, whose texts are wiped: they hold an address.
pub(crate) struct Body(pub(crate) Value);

impl Body {
    /// A checkout as it is created or changed: what is left out is gone.
    fn of(
        shop: &Profile,
        wish: &Wish,
        lines: Vec<Value>,
        fulfillment: Option<Value>,
        id: Option<&str>,
    ) -> Result<Body, OrderFault> {
        let mut members = Map::from_iter([("line_items".to_owned(), lines.into())]);
        members.extend(fulfillment.map(|it| ("fulfillment".to_owned(), it)));
        members.extend(wish.buyer.as_ref().map(|it| ("buyer".to_owned(), it.written())));
        if shop.version() == Version::January11 {
            let currency = wish.currency.as_ref().ok_or(OrderFault::NotOffered)?;
            first_form::extend_call(&mut members, currency, id);
        }
        Ok(Body(members.into()))
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, JsonFault> {
        let mut written = Zeroizing::new(Vec::new());
        serde_json::to_writer(&mut *written, &self.0)?;
        Ok(std::mem::take(&mut *written))
    }
}

/// An object of these members. Each value is moved, since a copy would have to be wiped.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

impl Drop for Body {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

fn wipe(value: &mut Value) {
    use zeroize::Zeroize;
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(values) => values.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
