//! The JSON of an offer.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::offer::{Message, Offer, Severity};
use crate::order::Unavailable;
use crate::profile::{VERSION, metadata};

/// Writes an offer as UCP's checkout, without its member `ap2`.
pub(crate) fn checkout(offer: &Offer, origin: &str) -> Map<String, Value> {
    let lines: Vec<Value> = offer.order.lines.iter().map(line).collect();
    let mut checkout = Map::new();
    let mut add = |name: &str, value: Value| checkout.insert(name.to_owned(), value);
    add("ucp", metadata());
    add("id", offer.id.clone().into());
    add("merchant", json!(offer.merchant));
    add("status", json!(offer.status));
    add("currency", json!(offer.currency));
    add("line_items", lines.into());
    add("totals", totals(offer));
    add("messages", json!(offer.messages));
    add("links", json!([{"type": "terms_of_service", "url": format!("{origin}/terms")}]));
    add("expires_at", time(offer.expires_at).into());
    if !offer.order.destinations.is_empty() {
        add("fulfillment", fulfillment(offer));
    }
    if let Some(buyer) = offer.buyer() {
        add("buyer", json!(buyer));
    }
    if let Some(url) = &offer.continue_url {
        add("continue_url", url.clone().into());
    }
    if offer.is_recurring {
        add("payment_terms", json!({"type": "recurring", "interval": "month", "count": 12}));
    }
    if let Some(order) = &offer.confirmation {
        add("order", json!(order));
    }
    checkout
}

/// Writes that an order has no checkout.
pub(crate) fn unavailable(why: Unavailable) -> Value {
    let message = Message::error(why.code(), Severity::Unrecoverable, why.to_string());
    json!({"ucp": {"version": VERSION, "status": "error"}, "messages": [message]})
}

fn line(line: &crate::order::Line) -> Value {
    let total = line.total();
    json!({
        "id": line.id,
        "item": {"id": line.item, "title": line.title, "price": line.price},
        "quantity": line.quantity,
        "totals": [{"type": "subtotal", "amount": total}, {"type": "total", "amount": total}],
    })
}

fn totals(offer: &Offer) -> Value {
    let sums = offer.totals();
    let mut totals = vec![json!({"type": "subtotal", "display_text": "Goods", "amount": sums.subtotal})];
    if let Some(delivery) = sums.delivery {
        totals.push(json!({"type": "fulfillment", "display_text": offer.delivery_text.unwrap_or(delivery.title), "amount": delivery.price}));
    }
    totals.push(json!({"type": "tax", "display_text": "Tax", "amount": sums.tax}));
    if sums.fee > 0 {
        totals.push(json!({"type": "fee", "display_text": "Handling", "amount": sums.fee}));
    }
    totals.push(json!({"type": "total", "display_text": "Total", "amount": sums.total}));
    totals.into()
}

/// Everything goes in one parcel to one destination.
fn fulfillment(offer: &Offer) -> Value {
    let lines: Vec<&str> = offer.order.lines.iter().map(|line| &*line.id).collect();
    let options = offer.deliveries.iter().map(|it| {
        let totals = json!([{"type": "subtotal", "amount": it.price}, {"type": "total", "amount": it.price}]);
        json!({"id": it.id, "title": it.title, "totals": totals})
    });
    let mut group = json!({
        "id": "parcel_1",
        "line_item_ids": lines,
        "options": options.collect::<Vec<Value>>(),
    });
    if let (Some(delivery), Some(group)) = (offer.order.delivery, group.as_object_mut()) {
        group.insert("selected_option_id".to_owned(), delivery.id.into());
    }
    let mut method = json!({
        "id": "method_1",
        "type": "shipping",
        "line_item_ids": lines,
        "destinations": offer.order.destinations,
        "groups": [group],
    });
    if let (Some(destination), Some(method)) = (&offer.order.destination, method.as_object_mut()) {
        method.insert("selected_destination_id".to_owned(), destination.clone().into());
    }
    json!({"methods": [method]})
}

/// A time as in RFC 3339. One after the last that can be written is the last.
fn time(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.unwrap_or(Timestamp::MAX).to_string()
}
