//! The same shop in UCP's first form (2026-01-11), which signs nothing: what a client is told of the protocol, a checkout in that form, and
//! the token that pays. As in the reference server, a checkout always counts as ready, members that do not apply are null, and the ways
//! of delivery are told once the destination is chosen.

use checkout_protocols::{Accepted, Amount, Instrument};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::completion::Unsold;
use crate::offer::{Offer, Status};
use crate::order::{Unavailable, is_in_stock};
use crate::profile::{CHECKOUT, ENDPOINT_PATH, FULFILLMENT, HANDLER, HANDLER_ID, SERVICE};
use crate::refusal::Refusal;
use crate::trade::Trade;
use crate::written;

const VERSION: &str = "2026-01-11";
/// The token of the test money. Everybody may know it, since it pays nothing.
pub const TEST_TOKEN: &str = "test-money-token";

/// The profile of a shop whose calls are at this origin.
pub(crate) fn profile(origin: &str) -> Value {
    let endpoint = format!("{origin}{ENDPOINT_PATH}");
    let capability = |name: &str| json!({"name": name, "version": VERSION});
    json!({
        "ucp": {
            "version": VERSION,
            "services": {SERVICE: {"version": VERSION, "rest": {"endpoint": endpoint}}},
            "capabilities": [capability(CHECKOUT), capability(FULFILLMENT)],
        },
        "payment": {"handlers": [{"id": HANDLER_ID, "name": HANDLER, "version": VERSION}]},
        "signing_keys": null,
    })
}

/// Writes an offer.
pub(crate) fn checkout(offer: &Offer, origin: &str) -> Map<String, Value> {
    let mut checkout = written::checkout(offer, origin);
    let mut set = |name: &str, value: Value| checkout.insert(name.to_owned(), value);
    set(
        "ucp",
        json!({"version": VERSION, "capabilities": [{"name": CHECKOUT, "version": VERSION, "extends": null}]}),
    );
    set("payment", json!({"handlers": [], "instruments": null, "selected_instrument_id": null}));
    set("discounts", json!({"codes": null, "applied": null}));
    set("ap2", Value::Null);
    set("platform", Value::Null);
    // What is missing shows only when it is completed.
    if offer.status == Status::Incomplete {
        set("status", "ready_for_complete".into());
        set("messages", Value::Null);
    }
    checkout.remove("merchant");
    negate_discount(checkout.get_mut("totals"));
    let methods = checkout.get_mut("fulfillment").and_then(|it| it.get_mut("methods"));
    for method in methods.and_then(Value::as_array_mut).into_iter().flatten() {
        let is_chosen = method.get("selected_destination_id").is_some();
        if let Some(groups) = method.get_mut("groups").filter(|_| !is_chosen) {
            *groups = Value::Null;
        }
    }
    checkout
}

/// Discounts are above zero in the first form.
fn negate_discount(totals: Option<&mut Value>) {
    for total in totals.and_then(Value::as_array_mut).into_iter().flatten() {
        let is_discount = total.get("type").and_then(Value::as_str) == Some("discount");
        if let Some(amount) = total.get_mut("amount").filter(|_| is_discount) {
            *amount = amount.as_i64().unwrap_or_default().saturating_neg().into();
        }
    }
}

/// The body that completes a checkout.
#[derive(Deserialize)]
pub(crate) struct CompleteBody {
    payment_data: Paying,
    #[serde(rename = "risk_signals")]
    _risk_signals: Map<String, Value>,
}

#[derive(Deserialize)]
struct Paying {
    id: String,
    handler_id: String,
    #[serde(rename = "type")]
    kind: String,
    credential: Token,
}

#[derive(Deserialize)]
struct Token {
    #[serde(rename = "type")]
    kind: String,
    token: String,
}

/// Refuses a token that is not one of the test money, by a status and without a checkout, as the reference server does.
pub(crate) fn check_token(body: &CompleteBody) -> Result<(), Refusal> {
    let Paying { handler_id, credential, .. } = &body.payment_data;
    let is_ours = handler_id == HANDLER_ID && credential.kind == "token" && credential.token == TEST_TOKEN;
    if is_ours { Ok(()) } else { Err(Refusal::Token) }
}

/// Accepts a checked token for this offer.
pub(crate) fn accept(trade: &Trade, offer: &Offer, body: &CompleteBody) -> Result<Accepted, Unsold> {
    if offer.status != Status::ReadyForComplete {
        return Err(Unsold::State);
    }
    if !is_in_stock(&offer.order.lines, &trade.catalogue) {
        return Err(Unsold::Stock(Unavailable::Stock));
    }
    let Paying { id, kind, .. } = &body.payment_data;
    let currency = offer.currency.code().to_owned().try_into().map_err(|_| Unsold::State)?;
    Ok(Accepted {
        total: Amount { amount: offer.totals().total, currency },
        instrument: Instrument { id: id.clone(), kind: kind.clone(), description: None },
        checkout_reference: String::new(),
        payment_reference: String::new(),
    })
}
