//! The bodies of calls. UCP lets a client send members that a shop does not know, so those are ignored.

use std::num::NonZeroU32;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::address::{Address, Buyer};
use crate::refusal::Refusal;

/// Reads a body, which is one JSON object.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    // Serde takes an array for a structure too.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(Refusal::Body);
    }
    serde_json::from_slice(body).map_err(|_| Refusal::Body)
}

/// Checks the body of a call that takes nothing: there is none, or an object.
pub(crate) fn check_unused(body: &[u8]) -> Result<(), Refusal> {
    if body.is_empty() { Ok(()) } else { read::<IgnoredAny>(body).map(|_| ()) }
}

/// The body that creates a session or replaces its content.
#[derive(Deserialize)]
pub(crate) struct OrderBody {
    pub(crate) line_items: Vec<LineBody>,
    #[serde(default)]
    pub(crate) buyer: Option<Buyer>,
    #[serde(default)]
    fulfillment: Option<FulfillmentBody>,
}

impl OrderBody {
    /// Reads it. An order has a line, and at most one method of delivery, since the shop sends one parcel.
    pub(crate) fn read(body: &[u8]) -> Result<OrderBody, Refusal> {
        let order: OrderBody = read(body)?;
        let methods = order.fulfillment.as_ref().map_or(0, |it| it.methods.len());
        if order.line_items.is_empty() || methods > 1 { Err(Refusal::Body) } else { Ok(order) }
    }

    /// The way in which everything is sent.
    pub(crate) fn method(&self) -> Option<&MethodBody> {
        self.fulfillment.as_ref()?.methods.first()
    }
}

/// A wanted line.
#[derive(Deserialize)]
pub(crate) struct LineBody {
    pub(crate) item: ItemBody,
    pub(crate) quantity: NonZeroU32,
}

#[derive(Deserialize)]
pub(crate) struct ItemBody {
    pub(crate) id: String,
}

#[derive(Deserialize)]
struct FulfillmentBody {
    #[serde(default)]
    methods: Vec<MethodBody>,
}

/// The kinds of delivery that the shop has.
#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MethodKind {
    #[default]
    Shipping,
}

#[derive(Deserialize)]
pub(crate) struct MethodBody {
    #[serde(default, rename = "type")]
    _kind: MethodKind,
    #[serde(default)]
    pub(crate) destinations: Vec<Address>,
    #[serde(default)]
    pub(crate) selected_destination_id: Option<String>,
    #[serde(default)]
    groups: Vec<GroupBody>,
}

impl MethodBody {
    /// The way of delivery that is chosen for the one parcel.
    pub(crate) fn option(&self) -> Option<&str> {
        self.groups.first()?.selected_option_id.as_deref()
    }
}

#[derive(Deserialize)]
struct GroupBody {
    #[serde(default)]
    selected_option_id: Option<String>,
}

/// The body that completes a session. Each part can be missing: the answer then says what the shop needs.
#[derive(Deserialize)]
pub(crate) struct CompleteBody {
    #[serde(default)]
    payment: PaymentBody,
    #[serde(default)]
    ap2: MandateBody,
}

impl CompleteBody {
    /// The one instrument that pays: the selected one, or the only one.
    pub(crate) fn instrument(&self) -> Option<&InstrumentBody> {
        let instruments = &self.payment.instruments;
        let mut selected = instruments.iter().filter(|it| it.selected || instruments.len() == 1);
        match (selected.next(), selected.next()) {
            (Some(instrument), None) => Some(instrument),
            _ => None,
        }
    }

    pub(crate) fn checkout_mandate(&self) -> Option<&str> {
        self.ap2.checkout_mandate.as_deref()
    }
}

#[derive(Default, Deserialize)]
struct PaymentBody {
    #[serde(default)]
    instruments: Vec<InstrumentBody>,
}

#[derive(Default, Deserialize)]
struct MandateBody {
    #[serde(default)]
    checkout_mandate: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct InstrumentBody {
    pub(crate) id: String,
    pub(crate) handler_id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    selected: bool,
    #[serde(default)]
    credential: Option<CredentialBody>,
}

impl InstrumentBody {
    /// The payment mandate. A credential of another kind is none.
    pub(crate) fn mandate(&self) -> Option<&str> {
        match self.credential.as_ref()? {
            CredentialBody::Ap2Mandate { token } => Some(token),
            CredentialBody::Other => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CredentialBody {
    Ap2Mandate {
        token: String,
    },
    #[serde(other)]
    Other,
}
