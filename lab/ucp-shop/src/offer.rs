//! The checkout that the shop offers. Its sums follow from its parts, so that a changed offer adds up too.

use checkout_protocols::Merchant;
use serde::Serialize;

use crate::address::{Buyer, Destination};
use crate::catalogue::Delivery;
use crate::order::{Line, Order};

/// The states of a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Incomplete,
    RequiresEscalation,
    ReadyForComplete,
    CompleteInProgress,
    Completed,
    Canceled,
}

/// The currencies that an offer can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Currency {
    Usd,
    Jpy,
}

impl Currency {
    /// Its code.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Currency::Usd => "USD",
            Currency::Jpy => "JPY",
        }
    }
}

/// How bad an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    Recoverable,
    RequiresBuyerReview,
    Unrecoverable,
}

/// What the shop says beside the checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Message {
    Error {
        code: &'static str,
        severity: Severity,
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<&'static str>,
    },
    Info {
        content: &'static str,
    },
}

impl Message {
    /// An error.
    pub(crate) fn error(code: &'static str, severity: Severity, content: impl Into<String>) -> Message {
        Message::Error { code, severity, content: content.into(), path: None }
    }

    /// Something that the client has to add.
    fn missing(code: &'static str, content: &str, path: &'static str) -> Message {
        Message::Error {
            code,
            severity: Severity::Recoverable,
            content: content.to_owned(),
            path: Some(path),
        }
    }
}

/// The order that a completed checkout names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Confirmation {
    pub(crate) id: String,
    pub(crate) permalink_url: String,
}

/// A checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) id: String,
    pub(crate) merchant: Merchant,
    pub(crate) status: Status,
    pub(crate) currency: Currency,
    pub(crate) order: Order,
    /// The ways of delivery that can be chosen.
    pub(crate) deliveries: Vec<Delivery>,
    /// The tax on the goods, in percent.
    pub(crate) tax: u8,
    /// What the shop adds for its trouble.
    pub(crate) fee: u32,
    pub(crate) messages: Vec<Message>,
    /// What the cost of delivery is called, if not after its way.
    pub(crate) delivery_text: Option<&'static str>,
    /// In seconds since 1970.
    pub(crate) expires_at: u64,
    /// Where a person goes on; nowhere after the end.
    pub(crate) continue_url: Option<String>,
    /// Whether the shop asks for the sum each month.
    pub(crate) is_recurring: bool,
    pub(crate) confirmation: Option<Confirmation>,
}

/// The parts of the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) subtotal: u64,
    pub(crate) delivery: Option<Delivery>,
    pub(crate) tax: u64,
    pub(crate) fee: u32,
    pub(crate) total: u64,
}

impl Offer {
    /// The parts of the sum, which add up.
    pub(crate) fn totals(&self) -> Totals {
        let subtotal: u64 = self.order.lines.iter().map(Line::total).sum();
        let (delivery, tax, fee) = (self.order.delivery, subtotal * u64::from(self.tax) / 100, self.fee);
        let sent = delivery.map_or(0, |it| u64::from(it.price));
        Totals { subtotal, delivery, tax, fee, total: subtotal + sent + tax + u64::from(fee) }
    }

    /// The chosen destination.
    pub(crate) fn destination(&self) -> Option<&Destination> {
        let chosen = self.order.destination.as_ref()?;
        self.order.destinations.iter().find(|it| it.id == *chosen)
    }

    /// What the client has to add before the order can be completed.
    pub(crate) fn missing(&self) -> Option<Message> {
        if self.order.destinations.is_empty() {
            let text = "The order needs an address that it is sent to.";
            return Some(Message::missing("fulfillment_required", text, "$.fulfillment"));
        }
        let Some(destination) = self.destination() else {
            let (text, path) = (
                "The order needs one of its destinations to be selected.",
                "$.fulfillment.methods[0].selected_destination_id",
            );
            return Some(Message::missing("destination_required", text, path));
        };
        if !destination.address.is_deliverable() {
            let (text, path) = (
                "The address needs a street, a city and a country.",
                "$.fulfillment.methods[0].destinations[0]",
            );
            return Some(Message::missing("address_undeliverable", text, path));
        }
        if self.order.delivery.is_none() {
            let (text, path) = (
                "The order needs one of the ways of delivery to be selected.",
                "$.fulfillment.methods[0].groups[0].selected_option_id",
            );
            return Some(Message::missing("option_required", text, path));
        }
        None
    }

    /// What the checkout says of the buyer.
    pub(crate) fn buyer(&self) -> Option<&Buyer> {
        self.order.buyer.as_ref()
    }
}
