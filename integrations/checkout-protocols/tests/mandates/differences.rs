//! A shop that signs another checkout than the one that the user agreed to.

use checkout_protocols::{CheckoutFault, Difference, JwsFault, KeySet, SignedCheckout, sign_checkout};
use serde_json::{Value, json};

use crate::parties::{NOW, agreement, checkout, key, signed};

/// Changes the checkout at a place and compares it with the agreement.
fn changed(place: &str, value: Value) -> Result<(), Difference> {
    let mut checkout = checkout();
    *checkout.pointer_mut(place).unwrap() = value;
    signed(&checkout).agreed(&agreement(), NOW).map(|_| ())
}

#[test]
fn a_checkout_that_differs_is_not_signed_for() {
    assert!(signed(&checkout()).agreed(&agreement(), NOW).is_ok(), "the control");
    let roses = checkout()["line_items"][0].clone();
    let mut hidden = roses.clone();
    hidden["id"] = "l3".into();
    let method = checkout()["fulfillment"]["methods"][0].clone();
    let street = "/fulfillment/methods/0/destinations/0";
    for (place, value, difference) in [
        ("/status", json!("incomplete"), Difference::State),
        ("/status", json!("requires_escalation"), Difference::State),
        ("/status", json!("completed"), Difference::State),
        ("/messages/0/type", json!("error"), Difference::Message),
        ("/messages/0/content", json!("May explode."), Difference::Message),
        ("/merchant/id", json!("m-2"), Difference::Payee),
        ("/merchant/name", json!("Fl0wer Shop"), Difference::Payee),
        ("/merchant/website", json!("https://flowers.example.evil.example"), Difference::Payee),
        ("/line_items/0/quantity", json!(10), Difference::Lines),
        ("/line_items/0/item/id", json!("tulips"), Difference::Lines),
        ("/line_items/0/item/title", json!("White roses"), Difference::Lines),
        ("/line_items/0/item/price", json!(3501), Difference::Lines),
        ("/line_items/1", roses, Difference::Lines),
        (
            "/line_items",
            json!([checkout()["line_items"][0], checkout()["line_items"][1], hidden]),
            Difference::Lines,
        ),
        ("/line_items", json!([]), Difference::Lines),
        ("/line_items/1/id", json!("l1"), Difference::Lines),
        ("/currency", json!("JPY"), Difference::Currency),
        ("/totals/4/amount", json!(8971), Difference::Sum),
        ("/totals/3/amount", json!(71), Difference::Sum),
        ("/totals/1/amount", json!(100), Difference::Sum),
        ("/totals/3/type", json!("total"), Difference::Sum),
        ("/totals/0/amount", json!(8400), Difference::Sum),
        ("/line_items/0/totals/0/amount", json!(6000), Difference::Sum),
        ("/fulfillment", json!({}), Difference::Address),
        ("/fulfillment/methods/0/selected_destination_id", json!("other"), Difference::Address),
        ("/fulfillment/methods/0/selected_destination_id", Value::Null, Difference::Address),
        ("/fulfillment/methods/0/type", json!("pickup"), Difference::Address),
        ("/fulfillment/methods/0/line_item_ids", json!(["l1"]), Difference::Address),
        ("/fulfillment/methods/0/line_item_ids", json!(["l1", "l2", "l2"]), Difference::Address),
        ("/fulfillment/methods", json!([method, method]), Difference::Address),
        ("/fulfillment/methods/0/destinations/1/id", json!("home"), Difference::Address),
        (street, json!({"id": "home", "street_address": "17 Canary Quarry Road"}), Difference::Address),
        ("/expires_at", json!("2026-01-01T00:00:00Z"), Difference::Expiry),
        ("/expires_at", json!("tomorrow"), Difference::Expiry),
    ] {
        assert_eq!(changed(place, value.clone()), Err(difference), "{place} {value}");
    }
    let flat = format!("{street}/street_address");
    assert_eq!(changed(&flat, json!("17 Canary Quarry Road, Flat 3")), Err(Difference::Address));
}

/// The total is right in itself and not the one that the user agreed to.
#[test]
fn another_total_that_adds_up_is_not_signed_for() {
    let mut dearer = checkout();
    dearer["totals"][3]["amount"] = 1070.into();
    dearer["totals"][4]["amount"] = 9970.into();
    assert_eq!(signed(&dearer).agreed(&agreement(), NOW).unwrap_err(), Difference::Total);
    let mut told = checkout();
    told["buyer"] = json!({"email": "eve@evil.example"});
    assert_eq!(signed(&told).agreed(&agreement(), NOW).unwrap_err(), Difference::Buyer);
    let mut nowhere = agreement();
    nowhere.address = None;
    assert_eq!(signed(&checkout()).agreed(&nowhere, NOW).unwrap_err(), Difference::Address);
}

/// Verifies a checkout that the shop's key signed under the name `shop`.
fn verified(checkout: &Value, keys: &KeySet) -> Result<(), CheckoutFault> {
    let jwt = sign_checkout(&key(3), "shop", checkout.as_object().unwrap().clone()).unwrap();
    SignedCheckout::compact(&jwt).verify(keys).map(|_| ())
}

fn profile(number: u8) -> KeySet {
    let mut jwk = key(number).public().to_jwk();
    jwk["kid"] = "shop".into();
    KeySet::from_jwks(&[jwk]).unwrap()
}

#[test]
fn members_that_are_not_known_are_refused_and_named() {
    assert_eq!(verified(&checkout(), &profile(3)), Ok(()));
    for (place, member) in [
        ("", "payment_terms"),
        ("", "split_payments"),
        ("", "loyalty"),
        ("", "discounts"),
        ("/line_items/0", "parent_id"),
        ("/line_items/0/item", "quantity_unit"),
        ("/totals/4", "lines"),
        ("/merchant", "alias"),
        ("/fulfillment/methods/0", "pickup"),
        ("/fulfillment/methods/0/destinations/0", "notes"),
    ] {
        let mut checkout = checkout();
        checkout.pointer_mut(place).unwrap()[member] = json!("monthly");
        let fault = verified(&checkout, &profile(3)).unwrap_err();
        assert!(matches!(&fault, CheckoutFault::Members(text) if text.contains(member)), "{place} {fault}");
    }
    for (place, value) in [
        ("/totals/4/amount", json!("8970")),
        ("/line_items/0/quantity", json!(0)),
        ("/line_items/0/item/price", json!(-1)),
        ("/currency", json!("usd")),
        ("/status", json!("nearly_ready")),
    ] {
        let mut checkout = checkout();
        *checkout.pointer_mut(place).unwrap() = value;
        assert!(matches!(verified(&checkout, &profile(3)), Err(CheckoutFault::Members(_))), "{place}");
    }
}

#[test]
fn only_the_shops_own_signature_counts() {
    let stranger = CheckoutFault::Signed(JwsFault::Signature);
    assert_eq!(verified(&checkout(), &profile(4)), Err(stranger.clone()));
    assert_eq!(verified(&checkout(), &KeySet::of(key(3).public())), Err(CheckoutFault::Key), "another name");
    // The two forms are one signature.
    let checkout = checkout();
    let jwt = sign_checkout(&key(3), "shop", checkout.as_object().unwrap().clone()).unwrap();
    let authorization = SignedCheckout::compact(&jwt).authorization().unwrap();
    let mut sent = checkout;
    sent["ap2"] = json!({"merchant_authorization": authorization});
    let detached = SignedCheckout::detached(sent.to_string().as_bytes()).unwrap();
    assert_eq!(detached, SignedCheckout::compact(&jwt));
    sent["totals"][4]["amount"] = 1.into();
    let changed = SignedCheckout::detached(sent.to_string().as_bytes()).unwrap();
    assert_eq!(changed.verify(&profile(3)).unwrap_err(), stranger);
    let twice = sent.to_string().replacen("\"currency\"", "\"currency\":\"JPY\",\"currency\"", 1);
    assert!(matches!(SignedCheckout::detached(twice.as_bytes()), Err(CheckoutFault::Json(_))));
}
