//! UCP's first form (2026-01-11): its calls, and its checkouts in the later form, which is the one that is compared.
//!
//! In the first form discounts are above zero, a member that does not apply may be null, and the client names the currency, the titles and
//! the destination.

use serde_json::{Map, Value, json};

use crate::address::PostalAddress;
use crate::checkout::CheckoutFault;
use crate::claims::Currency;
use crate::order::object;

/// What is left out of a checkout, with the members that it may have: they repeat what the client sent, or say how it may pay, and none of
/// them changes what is bought. With any other member it stays, and is refused when the checkout is read.
const REPEATED: [(&str, &[&str]); 3] =
    [("payment", &["handlers"]), ("platform", &["webhook_url"]), ("discounts", &[])];

/// A line of a call. A title that the shop did not say yet is the name of the item.
pub(crate) fn line(id: Option<&str>, item: &str, title: Option<&str>, quantity: u32) -> Value {
    let mut line = json!({"item": {"id": item, "title": title.unwrap_or(item)}, "quantity": quantity});
    if let (Some(line), Some(id)) = (line.as_object_mut(), id) {
        line.insert("id".to_owned(), id.into());
    }
    line
}

/// The one way in which the lines with these ids are sent, to an address that is new to the shop under this id. Whoever writes it down
/// wipes it.
pub(crate) fn methods(lines: &[&str], address: &PostalAddress, id: &str) -> Vec<Value> {
    let mut destination = address.written();
    if let Some(destination) = destination.as_object_mut() {
        destination.insert("id".to_owned(), id.into());
    }
    vec![object([
        ("id", "delivery".into()),
        ("type", "shipping".into()),
        ("line_item_ids", lines.into()),
        ("destinations", vec![destination].into()),
        ("selected_destination_id", id.into()),
    ])]
}

/// Adds what a call in the first form has to say.
pub(crate) fn extend_call(members: &mut Map<String, Value>, currency: &Currency, id: Option<&str>) {
    members.insert("currency".to_owned(), currency.to_string().into());
    members.insert("payment".to_owned(), json!({}));
    members.extend(id.map(|id| ("id".to_owned(), id.into())));
}

/// The body that completes a checkout.
pub(crate) fn completion(instrument: Value) -> Value {
    object([("payment_data", instrument), ("risk_signals", json!({}))])
}

/// A checkout in the later form. A member that is not known stays, and is refused when the checkout is read.
pub(crate) fn later(checkout: Map<String, Value>) -> Result<Map<String, Value>, CheckoutFault> {
    let mut checkout = without_nulls(checkout);
    for (member, known) in REPEATED {
        let is_harmless = |(name, value): (&String, &Value)| {
            known.contains(&name.as_str()) || value.as_array().is_some_and(Vec::is_empty)
        };
        if checkout.get(member).and_then(Value::as_object).is_some_and(|it| it.iter().all(is_harmless)) {
            checkout.remove(member);
        }
    }
    negate_discounts(checkout.get_mut("totals"))?;
    let lines = checkout.get_mut("line_items").and_then(Value::as_array_mut);
    for line in lines.into_iter().flatten() {
        negate_discounts(line.get_mut("totals"))?;
    }
    Ok(checkout)
}

/// Writes discounts below zero, as the later form does. One that is below zero already has no meaning in the first form.
fn negate_discounts(totals: Option<&mut Value>) -> Result<(), CheckoutFault> {
    for total in totals.and_then(Value::as_array_mut).into_iter().flatten() {
        let is_discount =
            total.get("type").and_then(Value::as_str).is_some_and(|it| it.ends_with("discount"));
        if let Some(amount) = total.get_mut("amount").filter(|_| is_discount) {
            let above = amount.as_u64().and_then(|amount| i64::try_from(amount).ok());
            *amount = above.ok_or(CheckoutFault::Form)?.saturating_neg().into();
        }
    }
    Ok(())
}

fn without_nulls(members: Map<String, Value>) -> Map<String, Value> {
    let kept = members.into_iter().filter(|(_, value)| !value.is_null());
    kept.map(|(name, value)| (name, without_nulls_within(value))).collect()
}

fn without_nulls_within(value: Value) -> Value {
    match value {
        Value::Object(members) => without_nulls(members).into(),
        Value::Array(values) => values.into_iter().map(without_nulls_within).collect(),
        other => other,
    }
}
