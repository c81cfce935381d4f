//! The same order in the shapes of ACP (the Agentic Commerce Protocol, 2026-04-17).
//!
//! It is not run against a server, since none was to be had: its bodies are checked against the published schemas, and its reader against the
//! published examples. A one-time card of Stripe's Link is a source of values for a shop's form and no protocol, so nothing here speaks to it.
//!
//! [`Endpoint`] writes the calls. [`Session`] is an answer, in the form in which every checkout here is compared. [`Session::offer`] is what
//! the user is asked about, and [`Session::agreed`] the second look after the yes. Only an [`AgreedSession`] can be paid for: it gives the
//! [`Allowance`] of a token, and the call that completes.
//!
//! No shop signs anything here, and nothing proves what the user agreed to. So a token's allowance is what bounds a shop: one payment, of
//! the agreed total at most, for this session.
//!
//! An order that the published form cannot express is refused. A call has no place for a number of pieces, so more than one piece of an item
//! cannot be ordered; and since no sign is fixed for discounts, store credit and refunds, an answer with one is not read.

use serde_json::{Map, Value, json};
use url::Url;
use zeroize::Zeroizing;

use crate::address::PostalAddress;
use crate::agreement::Difference;
use crate::answer::AnswerFault;
use crate::call::{Method, below, is_segment, uuid};
use crate::json::JsonFault;
use crate::order::{Body, OrderFault, Wish, object};
use crate::unsigned::PaymentToken;

mod later;
mod line;
mod payment;
mod session;
#[cfg(test)]
mod tests;

pub use payment::{Allowance, Card, Funding, RiskAction, RiskSignal, delegate_payment};
pub use session::{AgreedSession, Choice, Session};

/// The version of the protocol, as a call's header names it.
pub const VERSION: &str = "2026-04-17";

/// Why an order does not come about in this protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcpFault {
    /// The address of the shop.
    #[error("a shop is spoken to at an https address without a user name, a query and a fragment")]
    Endpoint,
    /// The shop's name of a session is no segment of a path.
    #[error("the shop's name for the checkout session cannot stand in an address")]
    Id,
    /// No items, too many, or one twice.
    #[error("an order has 1 to 20 items, each once")]
    Items,
    /// More than one piece.
    #[error("a call of ACP {VERSION} cannot say how many pieces are wanted: order one piece of each item")]
    Quantity,
    /// No currency.
    #[error("the protocol has to be told a currency")]
    Currency,
    /// A buyer without an e-mail address.
    #[error("a buyer needs an e-mail address in this protocol")]
    Email,
    /// The shop answers in another version.
    #[error("the shop answers in another version of ACP than {VERSION}")]
    Version,
    /// A discount.
    #[error(
        "the shop gives a discount, a credit or a refund, and ACP does not say its sign: order without a discount"
    )]
    Discount,
    /// The means of payment.
    #[error("the shop does not sell by the means of payment that you have")]
    NotOffered,
    /// The card.
    #[error(
        "a card has a number of 12 to 19 digits, a month from 1 to 12, a year of four digits and a code of 3 or 4 digits"
    )]
    Card,
    /// The billing address.
    #[error(
        "a billing address has lines and a city of up to 60 letters, a postal code of up to 20 and a country of two"
    )]
    Billing,
    /// No risk signal.
    #[error("a payment is delegated with at least one risk signal")]
    Risk,
    /// The allowance.
    #[error("an allowance ends later than now and within a day, for a payee with a name of 1 to 256 letters")]
    Allowance,
    /// The shop's answer.
    #[error(transparent)]
    Answer(#[from] AnswerFault),
    /// The session is not the one that was wanted, or agreed to.
    #[error(transparent)]
    Differs(#[from] Difference),
    /// The shop's offer.
    #[error(transparent)]
    Order(#[from] OrderFault),
    /// The call cannot be written.
    #[error("the call: {0}")]
    Json(#[from] JsonFault),
}

/// A call that is to be sent over TLS, without following a redirect, with the caller's `Authorization`. The same value may be sent again:
/// it has the same key, so that the shop carries it out once. Its body is wiped when it is dropped, and it has no `Debug` and no `Clone`.
pub struct AcpCall {
    method: Method,
    url: Url,
    request: String,
    /// The key of a call that changes something.
    key: Option<String>,
    body: Zeroizing<Vec<u8>>,
}

impl AcpCall {
    fn post(url: Url, body: &Body, random: &mut dyn FnMut() -> [u8; 16]) -> Result<AcpCall, AcpFault> {
        let (request, key) = (uuid(random()), Some(uuid(random())));
        Ok(AcpCall { method: Method::Post, url, request, key, body: Zeroizing::new(body.bytes()?) })
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The address.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The body: JSON, or nothing.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The headers of the protocol apart from `Authorization`, which is the caller's.
    pub fn headers(&self) -> Vec<(&'static str, &str)> {
        let mut headers =
            vec![("Accept", "application/json"), ("API-Version", VERSION), ("Request-Id", &*self.request)];
        if let Some(key) = &self.key {
            headers.extend([("Content-Type", "application/json"), ("Idempotency-Key", &**key)]);
        }
        headers
    }
}

/// Where a shop is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

impl Endpoint {
    /// Takes the base address of a shop, below which its sessions are. The shop at this origin is the merchant.
    pub fn new(base: Url) -> Result<Endpoint, AcpFault> {
        let is_plain = base.scheme() == "https"
            && base.username().is_empty()
            && base.password().is_none()
            && base.query().is_none()
            && base.fragment().is_none();
        if is_plain { Ok(Endpoint(base)) } else { Err(AcpFault::Endpoint) }
    }

    fn at(&self, segments: &[&str]) -> Result<Url, AcpFault> {
        let is_plain = segments.iter().all(|segment| is_segment(segment));
        let all = below(&self.0, &["checkout_sessions"]).ok_or(AcpFault::Endpoint)?;
        if is_plain { below(&all, segments).ok_or(AcpFault::Endpoint) } else { Err(AcpFault::Id) }
    }

    /// The call that creates a session for what is wanted. `random` gives 16 random bytes for each name of a call.
    pub fn create(&self, wish: &Wish, random: &mut dyn FnMut() -> [u8; 16]) -> Result<AcpCall, AcpFault> {
        let (url, currency) = (self.at(&[])?, wish.currency.as_ref().ok_or(AcpFault::Currency)?);
        let mut members = wanted(wish)?;
        members.insert("currency".to_owned(), currency.to_string().to_ascii_lowercase().into());
        // The guard takes part in no authentication and understands no extension.
        members.insert("capabilities".to_owned(), json!({}));
        AcpCall::post(url, &Body(members.into()), random)
    }

    /// The call that tells a session what is wanted once more, with a way of delivery where one was chosen.
    pub fn update(
        &self,
        session: &Session,
        wish: &Wish,
        choice: Option<&Choice>,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<AcpCall, AcpFault> {
        let url = self.at(&[session.id()])?;
        let mut members = wanted(wish)?;
        members.extend(choice.map(|it| ("selected_fulfillment_options".to_owned(), json!([it.written()]))));
        AcpCall::post(url, &Body(members.into()), random)
    }

    /// The call that looks at a session.
    pub fn look(&self, id: &str, random: &mut dyn FnMut() -> [u8; 16]) -> Result<AcpCall, AcpFault> {
        let (url, request) = (self.at(&[id])?, uuid(random()));
        Ok(AcpCall { method: Method::Get, url, request, key: None, body: Zeroizing::default() })
    }

    /// The call that pays with a token, for a session that the user agreed to. Before it, whoever calls it writes down that the purchase is
    /// about to be made.
    pub fn complete(
        &self,
        session: AgreedSession<'_>,
        token: PaymentToken,
        random: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<AcpCall, AcpFault> {
        let url = self.at(&[&session.id, "complete"])?;
        let agreement = session.agreement;
        // A token goes to the shop that the user agreed to, and to no other.
        if agreement.payee.website.as_deref() != Some(&*self.0.origin().ascii_serialization()) {
            return Err(Difference::Payee.into());
        }
        let buyer = agreement.buyer.as_ref();
        if buyer.is_some_and(|it| it.email.is_empty()) {
            return Err(AcpFault::Email);
        }
        let credential = object([("type", "spt".into()), ("token", token.text.as_str().into())]);
        let kind = agreement.instrument.kind.as_str();
        let instrument = object([("type", kind.into()), ("credential", credential)]);
        let paying = object([("handler_id", session.handler.into()), ("instrument", instrument)]);
        let mut members = Map::from_iter([("payment_data".to_owned(), paying)]);
        members.extend(buyer.map(|it| ("buyer".to_owned(), it.written())));
        AcpCall::post(url, &Body(members.into()), random)
    }

    /// The call that cancels a session. It tells the shop no reason, since that would be a person's.
    pub fn cancel(&self, id: &str, random: &mut dyn FnMut() -> [u8; 16]) -> Result<AcpCall, AcpFault> {
        AcpCall::post(self.at(&[id, "cancel"])?, &Body(json!({})), random)
    }
}

/// The members that say what is wanted, and for whom. Whoever writes them down wipes them.
fn wanted(wish: &Wish) -> Result<Map<String, Value>, AcpFault> {
    if !wish.has_possible_items() {
        return Err(AcpFault::Items);
    }
    if wish.items.iter().any(|wanted| wanted.quantity.get() != 1) {
        return Err(AcpFault::Quantity);
    }
    if wish.buyer.as_ref().is_some_and(|it| it.email.is_empty()) {
        return Err(AcpFault::Email);
    }
    let items: Vec<Value> = wish.items.iter().map(|wanted| json!({"id": wanted.item})).collect();
    let mut members = Map::from_iter([("line_items".to_owned(), items.into())]);
    let details = wish.address.as_ref().map(|address| {
        let mut details = object([("name", full_name(address).into()), ("address", written(address))]);
        if let (Some(details), false) = (details.as_object_mut(), address.phone_number.is_empty()) {
            details.insert("phone_number".to_owned(), address.phone_number.as_str().into());
        }
        details
    });
    members.extend(details.map(|it| ("fulfillment_details".to_owned(), it)));
    members.extend(wish.buyer.as_ref().map(|it| ("buyer".to_owned(), it.written())));
    Ok(members)
}

/// The recipient's name, in the protocol's one field.
fn full_name(address: &PostalAddress) -> String {
    match (&*address.first_name, &*address.last_name) {
        (first, "") => first.to_owned(),
        ("", last) => last.to_owned(),
        (first, last) => [first, last].join(" "),
    }
}

/// An address in the protocol's fields. All but the second line have to be there. Whoever writes it down wipes it.
fn written(address: &PostalAddress) -> Value {
    let mut written = object([
        ("name", full_name(address).into()),
        ("line_one", address.street_address.as_str().into()),
        ("city", address.address_locality.as_str().into()),
        ("state", address.address_region.as_str().into()),
        ("country", address.address_country.as_str().into()),
        ("postal_code", address.postal_code.as_str().into()),
    ]);
    if let (Some(written), false) = (written.as_object_mut(), address.extended_address.is_empty()) {
        written.insert("line_two".to_owned(), address.extended_address.as_str().into());
    }
    written
}
