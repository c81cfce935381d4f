//! A session of ACP in UCP's later form, which is the one that is compared.
//!
//! A member that is not known is refused.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::line::{AcpLine, AcpTotal, Part, one, parts};
use super::{AcpFault, Choice, object};
use crate::address::{Buyer, has_same_words};
use crate::answer::AnswerFault;
use crate::checkout::CheckoutFault;
use crate::order::Body;

/// The form cannot be compared.
pub(super) const FORM: AcpFault = AcpFault::Answer(AnswerFault::Checkout(CheckoutFault::Form));

#[derive(Deserialize)]
pub(super) struct AcpSession {
    pub(super) id: String,
    #[serde(default, rename = "protocol")]
    _protocol: Option<Value>,
    pub(super) capabilities: Map<String, Value>,
    #[serde(default)]
    buyer: Option<Buyer>,
    status: AcpStatus,
    currency: String,
    line_items: Vec<AcpLine>,
    #[serde(default)]
    fulfillment_details: Option<Details>,
    fulfillment_options: Vec<DeliveryOption>,
    #[serde(default)]
    selected_fulfillment_options: Vec<Selected>,
    totals: Vec<AcpTotal>,
    messages: Vec<Value>,
    #[serde(rename = "links")]
    _links: Vec<Value>,
    /// Of a session in which the bank wants to see the person: that is not paid here.
    #[serde(default, rename = "authentication_metadata")]
    _authentication: Option<Value>,
    #[serde(default, rename = "created_at")]
    _created_at: Option<String>,
    #[serde(default, rename = "updated_at")]
    _updated_at: Option<String>,
    #[serde(default)]
    expires_at: Option<String>,
    #[serde(default)]
    continue_url: Option<String>,
    #[serde(default, rename = "locale")]
    _locale: Option<String>,
    #[serde(default, rename = "timezone")]
    _timezone: Option<String>,
    #[serde(default, rename = "metadata")]
    _metadata: Option<Value>,
    #[serde(default)]
    discounts: Option<Map<String, Value>>,
    /// Nothing is consented to.
    #[serde(default, rename = "marketing_consent_options")]
    _consents: Vec<Value>,
    #[serde(default)]
    order: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum AcpStatus {
    Incomplete,
    NotReadyForPayment,
    RequiresEscalation,
    AuthenticationRequired,
    ReadyForPayment,
    PendingApproval,
    CompleteInProgress,
    InProgress,
    Completed,
    Canceled,
    Expired,
}

impl AcpStatus {
    /// The status in UCP's words. Where a shop may still sell, it counts as selling.
    fn later(&self) -> &'static str {
        match self {
            AcpStatus::Incomplete | AcpStatus::NotReadyForPayment => "incomplete",
            AcpStatus::RequiresEscalation | AcpStatus::AuthenticationRequired => "requires_escalation",
            AcpStatus::ReadyForPayment => "ready_for_complete",
            AcpStatus::PendingApproval | AcpStatus::CompleteInProgress | AcpStatus::InProgress => {
                "complete_in_progress"
            }
            AcpStatus::Completed => "completed",
            AcpStatus::Canceled | AcpStatus::Expired => "canceled",
        }
    }
}

/// Whom the goods are for. The fields of the address are in [`Details::destination`].
#[derive(Deserialize, Zeroize, ZeroizeOnDrop)]
struct Details {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    phone_number: Option<String>,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    address: Option<AcpAddress>,
}

#[derive(Deserialize, Zeroize, ZeroizeOnDrop)]
struct AcpAddress {
    name: String,
    line_one: String,
    #[serde(default)]
    line_two: String,
    city: String,
    state: String,
    country: String,
    postal_code: String,
}

impl Details {
    /// The address as a destination of UCP's. The whole name stands in one field: both are compared together.
    fn destination(&self) -> Result<Option<Value>, AcpFault> {
        let Some(address) = &self.address else { return Ok(None) };
        if self.name.as_ref().is_some_and(|name| !has_same_words(name, &address.name)) {
            return Err(FORM);
        }
        Ok(Some(json!({
            "id": "address",
            "first_name": address.name,
            "street_address": address.line_one,
            "extended_address": address.line_two,
            "address_locality": address.city,
            "address_region": address.state,
            "address_country": address.country,
            "postal_code": address.postal_code,
            "phone_number": self.phone_number.as_deref().unwrap_or_default(),
        })))
    }
}

/// A way of delivery.
#[derive(Deserialize)]
struct DeliveryOption {
    #[serde(rename = "type")]
    kind: String,
    id: String,
    title: String,
    totals: Vec<AcpTotal>,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default, rename = "carrier")]
    _carrier: Option<String>,
    #[serde(default, rename = "earliest_delivery_time")]
    _earliest: Option<String>,
    #[serde(default, rename = "latest_delivery_time")]
    _latest: Option<String>,
    #[serde(default, rename = "location")]
    _location: Option<Value>,
    #[serde(default, rename = "pickup_type")]
    _pickup: Option<String>,
    #[serde(default, rename = "ready_by")]
    _ready_by: Option<String>,
    #[serde(default, rename = "pickup_by")]
    _pickup_by: Option<String>,
    #[serde(default, rename = "delivery_window")]
    _window: Option<Value>,
    #[serde(default, rename = "service_area")]
    _area: Option<Value>,
}

/// A way of delivery that is chosen for some lines.
#[derive(Deserialize)]
struct Selected {
    #[serde(rename = "type")]
    kind: String,
    option_id: String,
    item_ids: Vec<String>,
}

impl AcpSession {
    pub(super) fn cheapest(&self) -> Option<Choice> {
        let shipping = self.fulfillment_options.iter().filter(|it| it.kind == "shipping");
        let costs = shipping.filter_map(|it| Some((one(&it.totals, Part::Total)?, it)));
        let (_, cheapest) = costs.min_by_key(|(cost, _)| *cost)?;
        let lines = self.line_items.iter().map(|line| line.id.clone()).collect();
        Some(Choice { option: cheapest.id.clone(), lines })
    }

    /// The lines that a choice is about. The schema says that lines are named, and the published examples name items.
    fn chosen_lines(&self, selected: &Selected) -> Result<Vec<&str>, AcpFault> {
        let line = |id: &String| {
            let mut named = self.line_items.iter().filter(|line| line.id == *id || line.item.id == *id);
            match (named.next(), named.next()) {
                (Some(line), None) => Ok(line.id.as_str()),
                _ => Err(FORM),
            }
        };
        selected.item_ids.iter().map(line).collect()
    }

    /// Tells if the session has ended. The delivery and the contact of an ended session are not read: they are compared with nothing, and the
    /// published examples contradict themselves there.
    fn has_ended(&self) -> bool {
        matches!(self.status, AcpStatus::Completed | AcpStatus::Canceled | AcpStatus::Expired)
    }

    /// The chosen ways of delivery, in UCP's form. What is sent by wire has no destination.
    fn methods(&self) -> Result<Vec<Value>, AcpFault> {
        if self.has_ended() {
            return Ok(Vec::new());
        }
        let destination = self.fulfillment_details.as_ref().map(Details::destination).transpose()?.flatten();
        let destination = destination.map(Body);
        let mut methods = Vec::new();
        for (number, selected) in self.selected_fulfillment_options.iter().enumerate() {
            let mut chosen = self.fulfillment_options.iter().filter(|it| it.id == selected.option_id);
            let (Some(option), None) = (chosen.next(), chosen.next()) else { return Err(FORM) };
            if option.kind != selected.kind {
                return Err(FORM);
            }
            let lines = self.chosen_lines(selected)?;
            if option.kind == "digital" {
                continue;
            }
            methods.push(json!({
                "id": number.to_string(),
                "type": option.kind,
                "line_item_ids": lines,
                "destinations": destination.iter().map(|it| &it.0).collect::<Vec<_>>(),
                "selected_destination_id": destination.as_ref().map(|_| "address"),
                "groups": [{
                    "id": number.to_string(),
                    "line_item_ids": lines,
                    "options": [{"id": option.id, "title": option.title, "totals": parts(&option.totals)?}],
                    "selected_option_id": option.id,
                }],
            }));
        }
        Ok(methods)
    }

    /// The buyer. A shop that repeats an e-mail address beside the delivery alone repeats a buyer who has nothing else.
    fn buyer(&self) -> Result<Option<Value>, AcpFault> {
        let email = self.fulfillment_details.as_ref().and_then(|it| it.email.as_ref());
        let Some(buyer) = &self.buyer else { return Ok(email.map(|email| json!({"email": email}))) };
        let is_other = email.is_some_and(|email| !has_same_words(email, &buyer.email));
        if is_other && !self.has_ended() { Err(FORM) } else { Ok(Some(buyer.written())) }
    }
}

/// A session as a checkout of UCP's, without its merchant.
pub(super) fn later(session: AcpSession) -> Result<Map<String, Value>, AcpFault> {
    let is_empty = |it: &Value| it.as_array().is_some_and(Vec::is_empty);
    if session.discounts.iter().flat_map(Map::values).any(|it| !is_empty(it)) {
        return Err(AcpFault::Discount);
    }
    let lines = session.line_items.iter().map(AcpLine::later).collect::<Result<Vec<_>, _>>()?;
    let (methods, buyer) = (session.methods()?, session.buyer()?);
    let mut checkout = json!({
        "id": session.id,
        "status": session.status.later(),
        "currency": session.currency.to_ascii_uppercase(),
        "line_items": lines,
        "totals": parts(&session.totals)?,
        "expires_at": session.expires_at,
        "continue_url": session.continue_url,
    });
    let mut messages = session.messages;
    for line in &session.line_items {
        messages.extend(line.notes()?.into_iter().map(|it| json!({"type": "info", "content": it})));
    }
    let checkout = checkout.as_object_mut().ok_or(FORM)?;
    // These are moved, since a copy would have to be wiped.
    checkout.insert("fulfillment".to_owned(), object([("methods", methods.into())]));
    checkout.extend(buyer.map(|it| ("buyer".to_owned(), it)));
    checkout.insert("messages".to_owned(), messages.into());
    if let Some(order) = &session.order {
        let text = |member: &str| order.get(member).and_then(Value::as_str);
        if text("checkout_session_id") != Some(&session.id) {
            return Err(FORM);
        }
        let order = json!({"id": text("id"), "permalink_url": text("permalink_url")});
        checkout.insert("order".to_owned(), order);
    }
    Ok(std::mem::take(checkout))
}
