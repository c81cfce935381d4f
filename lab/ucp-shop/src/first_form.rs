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

/// What pays: a token of a payment handler, which has this id.
pub(crate) struct Till {
    pub(crate) handler: String,
    pub(crate) token: String,
}

impl Default for Till {
    fn default() -> Till {
        Till { handler: HANDLER_ID.to_owned(), token: TEST_TOKEN.to_owned() }
    }
}

/// The profile of a shop whose calls are at this origin.
pub(crate) fn profile(origin: &str, till: &Till) -> Value {
    let endpoint = format!("{origin}{ENDPOINT_PATH}");
    let capability = |name: &str| json!({"name": name, "version": VERSION});
    let rest = json!({"endpoint": endpoint, "schema": "https://ucp.dev/services/shopping/rest.openapi.json"});
    let spec = "https://ucp.dev/specification/reference";
    json!({
        "ucp": {
            "version": VERSION,
            "services": {SERVICE: {"version": VERSION, "spec": spec, "rest": rest}},
            "capabilities": [capability(CHECKOUT), capability(FULFILLMENT)],
        },
        "payment": {"handlers": [handler(till)]},
        "signing_keys": null,
    })
}

/// The handler of the test money. Nobody describes it anywhere, so its addresses lead nowhere.
fn handler(till: &Till) -> Value {
    json!({
        "id": till.handler,
        "name": HANDLER,
        "version": VERSION,
        "spec": "https://test-money.example/spec",
        "config_schema": "https://test-money.example/config.json",
        "instrument_schemas": ["https://test-money.example/instrument.json"],
        "config": {},
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
    set("payment", json!({"handlers": [], "instruments": [], "selected_instrument_id": null}));
    set("discounts", json!({"codes": null, "applied": null}));
    set("ap2", Value::Null);
    set("platform", Value::Null);
    // What is missing shows only when it is completed, and the first form has no word for an error that nobody can mend.
    if offer.status == Status::Incomplete {
        set("status", "ready_for_complete".into());
    }
    if [Status::Incomplete, Status::Canceled].contains(&offer.status) {
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

/// Refuses a completion by a status and without a checkout, as the reference server does: of a checkout that is not ready, of goods that are
/// gone, and by a token that is not one of the test money.
pub(crate) fn check(trade: &Trade, offer: &Offer, body: &CompleteBody) -> Result<(), Refusal> {
    if offer.status != Status::ReadyForComplete {
        return Err(Refusal::NotReady);
    }
    if !is_in_stock(&offer.order.lines, &trade.catalogue) {
        return Err(Unavailable::Stock.into());
    }
    let Paying { handler_id, credential, .. } = &body.payment_data;
    let till = &trade.till;
    let is_ours = *handler_id == till.handler && credential.kind == "token" && credential.token == till.token;
    if is_ours { Ok(()) } else { Err(Refusal::Token) }
}

/// Accepts a checked token for this offer.
pub(crate) fn accept(offer: &Offer, body: &CompleteBody) -> Result<Accepted, Unsold> {
    let Paying { id, kind, .. } = &body.payment_data;
    let currency = offer.currency.code().to_owned().try_into().map_err(|_| Unsold::State)?;
    Ok(Accepted {
        total: Amount { amount: offer.totals().total, currency },
        instrument: Instrument { id: id.clone(), kind: kind.clone(), description: None },
        checkout_reference: String::new(),
        payment_reference: String::new(),
    })
}
