//! A checkout session as a shop answers with it, compared as every checkout is.

use serde_json::{Map, Value, json};

use super::later::{AcpSession, later};
use super::{AcpFault, Endpoint, VERSION};
use crate::agreement::{Agreement, Difference, compare_at};
use crate::answer::{AnswerFault, ShopCode, body};
use crate::call::Reply;
use crate::checkout::{CheckoutFault, Stated, Status, read};
use crate::claims::Amount;
use crate::json::parse_object;
use crate::offer::agreement;
use crate::order::{OrderFault, Wish};
use crate::unsigned::merchant;

/// A session that nobody signed. It repeats the address that the shop was given, so it has no `Debug` and no `Clone`.
pub struct Session {
    stated: Stated,
    choice: Option<Choice>,
    handlers: Vec<Handler>,
}

/// A way of paying that the shop takes: its own id, and the published name.
pub(super) struct Handler {
    id: String,
    name: String,
}

/// The cheapest way in which a shop sends all lines. A shop that sends them in several ways leaves no such choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub(super) option: String,
    pub(super) lines: Vec<String>,
}

impl Choice {
    pub(super) fn written(&self) -> Value {
        json!({"type": "shipping", "option_id": self.option, "item_ids": self.lines})
    }
}

/// A session that equals what the user agreed to. Only it can be paid for.
pub struct AgreedSession<'a> {
    pub(super) id: String,
    pub(super) handler: String,
    pub(super) agreement: &'a Agreement,
}

impl Session {
    /// Reads an answer of a shop. `id` is the session that the call was about, if there was one.
    pub fn read(reply: Reply<'_>, shop: &Endpoint, id: Option<&str>) -> Result<Session, AcpFault> {
        let answer = parse_object(body(reply)?).map_err(AnswerFault::from)?;
        let version = answer.get("protocol").and_then(|it| it.get("version"));
        if version.is_some_and(|it| it.as_str() != Some(VERSION)) {
            return Err(AcpFault::Version);
        }
        let session: AcpSession = read(Value::Object(answer)).map_err(AnswerFault::from)?;
        if id.is_some_and(|id| session.id != id) {
            return Err(AnswerFault::OtherCheckout.into());
        }
        let (handlers, choice) = (handlers(&session.capabilities)?, session.cheapest());
        let mut checkout = later(session)?;
        checkout.insert("merchant".to_owned(), merchant(&shop.0));
        let content = read(checkout.into()).map_err(AnswerFault::from)?;
        let origin = shop.0.origin().ascii_serialization();
        Ok(Session { stated: Stated { origin, content }, choice, handlers })
    }

    /// The shop's name of the session.
    pub fn id(&self) -> &str {
        &self.stated.content.id
    }

    /// The total; none where its parts do not add up, as long as the shop does not know all of them.
    pub fn total(&self) -> Option<Amount> {
        self.stated.total()
    }

    /// Whether the shop lets the session be paid for.
    pub fn is_ready(&self) -> bool {
        self.stated.content.status == Status::ReadyForComplete
    }

    /// The shop's id of the order that a completed session became.
    pub fn order(&self) -> Option<&str> {
        let content = &self.stated.content;
        let order = content.order.as_ref().filter(|_| content.status == Status::Completed);
        order.map(|order| &*order.id).filter(|id| !id.is_empty())
    }

    /// The code of the shop's first error; none where it states no error.
    pub fn error(&self) -> Option<ShopCode> {
        let messages = &self.stated.content.messages;
        messages.iter().any(|it| it.kind == "error").then(|| ShopCode::first(messages))
    }

    /// The cheapest way in which the shop sends everything; none where it sends nothing, or states no price.
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_ref()
    }

    /// What the user is asked to agree to: exactly what was wanted, with the shop's prices, titles and notes.
    pub fn offer(&self, wish: Wish) -> Result<Agreement, OrderFault> {
        self.handler(&wish.means.handler).ok_or(OrderFault::NotOffered)?;
        agreement(&self.stated, wish)
    }

    /// Compares the session with what the user agreed to. `handler` is the published name of the means' handler, and `now` is in seconds
    /// since 1970.
    pub fn agreed<'a>(
        &self,
        agreement: &'a Agreement,
        handler: &str,
        now: u64,
    ) -> Result<AgreedSession<'a>, AcpFault> {
        compare_at(&self.stated, agreement, now)?;
        let handler = self.handler(handler).ok_or(AcpFault::NotOffered)?.to_owned();
        Ok(AgreedSession { id: self.id().to_owned(), handler, agreement })
    }

    /// The first difference between what a completed session says that the shop sold and what the user agreed to.
    pub fn differs(&self, agreement: &Agreement) -> Option<Difference> {
        crate::agreement::is_same_order(&self.stated, agreement).err()
    }

    /// The shop's id of a handler, which it has once.
    fn handler(&self, name: &str) -> Option<&str> {
        let mut named = self.handlers.iter().filter(|it| it.name == name);
        match (named.next(), named.next()) {
            (Some(handler), None) => Some(&handler.id),
            _ => None,
        }
    }
}

/// The handlers among a shop's capabilities. What else is there does not change what is bought.
fn handlers(capabilities: &Map<String, Value>) -> Result<Vec<Handler>, AcpFault> {
    let handlers = capabilities.get("payment").and_then(|it| it.get("handlers")).and_then(Value::as_array);
    let handler = |it: &Value| {
        let text = |member: &str| it.get(member).and_then(Value::as_str).map(str::to_owned);
        Some(Handler { id: text("id")?, name: text("name")? })
    };
    let handlers: Option<Vec<Handler>> = handlers.into_iter().flatten().map(handler).collect();
    handlers.ok_or(AnswerFault::Checkout(CheckoutFault::Form).into())
}
