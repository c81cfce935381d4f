//! A shop that signs another checkout than the one that the user agreed to.

use checkout_protocols::{CheckoutFault, Difference, JwsFault, Profile, SignedCheckout, sign_checkout};
use serde_json::{Value, json};

use crate::parties::{
    NOW, ORIGIN, agreement, checkout, key, profile, profile_json, profile_with, signed, signed_at,
};

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
        ("/fulfillment/methods/0/line_item_ids", json!(["l1", "l2", "l3"]), Difference::Address),
        ("/fulfillment/methods/0/line_item_ids", json!(["l1", "l2", "l2"]), Difference::Address),
        ("/fulfillment/methods", json!([method, method]), Difference::Address),
        ("/fulfillment/methods/0/destinations/1/id", json!("home"), Difference::Address),
        (street, json!({"id": "home", "street_address": "17 Canary Quarry Road"}), Difference::Address),
        ("/fulfillment/methods/0/groups/0/selected_option_id", json!("fast"), Difference::Delivery),
        ("/fulfillment/methods/0/groups/0/selected_option_id", Value::Null, Difference::Delivery),
        ("/fulfillment/methods/0/groups/0/options/1/id", json!("slow"), Difference::Delivery),
        ("/fulfillment/methods/0/groups", json!([]), Difference::Delivery),
        ("/expires_at", json!("2026-01-01T00:00:00Z"), Difference::Expiry),
        ("/expires_at", json!("tomorrow"), Difference::Expiry),
    ] {
        assert_eq!(changed(place, value.clone()), Err(difference), "{place} {value}");
    }
    let flat = format!("{street}/street_address");
    assert_eq!(changed(&flat, json!("17 Canary Quarry Road, Flat 3")), Err(Difference::Address));
}

/// The total is the agreed one and its parts add up, but not as the protocol says.
#[test]
fn parts_that_add_up_in_another_way_are_not_signed_for() {
    let added = |checkout: &mut Value, kind: &str, amount: i64| {
        // The tax takes up the difference.
        checkout["totals"][3]["amount"] = (70 - amount).into();
        checkout["totals"].as_array_mut().unwrap().push(json!({"type": kind, "amount": amount}));
    };
    let mut raised = checkout();
    added(&mut raised, "discount", 30);
    let mut lowered = checkout();
    added(&mut lowered, "fee", -30);
    let mut cheaper = checkout();
    cheaper["line_items"][0]["totals"] =
        json!([{"type": "subtotal", "amount": 6970}, {"type": "total", "amount": 6970}]);
    cheaper["totals"][0]["amount"] = 8470.into();
    cheaper["totals"][3]["amount"] = 100.into();
    let mut control = checkout();
    added(&mut control, "fee", 30);
    assert!(signed(&control).agreed(&agreement(), NOW).is_ok());
    for (what, checkout) in [
        ("a discount that is added", raised),
        ("a fee that is taken off", lowered),
        ("a line that costs less than its pieces", cheaper),
    ] {
        assert_eq!(signed(&checkout).agreed(&agreement(), NOW).err(), Some(Difference::Sum), "{what}");
    }
}

/// The total is right in itself and not the one that the user agreed to.
#[test]
fn another_total_that_adds_up_is_not_signed_for() {
    let mut dearer = checkout();
    dearer["totals"][3]["amount"] = 1070.into();
    dearer["totals"][4]["amount"] = 9970.into();
    assert_eq!(signed(&dearer).agreed(&agreement(), NOW).err(), Some(Difference::Total));
    let mut told = checkout();
    told["buyer"] = json!({"email": "eve@evil.example"});
    assert_eq!(signed(&told).agreed(&agreement(), NOW).err(), Some(Difference::Buyer));
    let mut nowhere = agreement();
    nowhere.address = None;
    assert_eq!(signed(&checkout()).agreed(&nowhere, NOW).err(), Some(Difference::Address));
    // The same checkout, signed at an origin that is not the merchant's.
    let elsewhere = signed_at("https://flowers.example.evil.example", &checkout());
    assert_eq!(elsewhere.agreed(&agreement(), NOW).err(), Some(Difference::Payee));
}

/// Verifies a checkout that key 3 signed under the name `shop`.
fn verified(checkout: &Value, profile: &Profile) -> Result<(), CheckoutFault> {
    let jwt = sign_checkout(&key(3), "shop", checkout.as_object().unwrap().clone()).unwrap();
    SignedCheckout::compact(&jwt).verify(profile).map(|_| ())
}

#[test]
fn members_that_are_not_known_are_refused_and_named() {
    let profile = profile(ORIGIN, 3);
    assert_eq!(verified(&checkout(), &profile), Ok(()));
    for (place, member, path) in [
        ("", "payment_terms", "payment_terms"),
        ("", "split_payments", "split_payments"),
        ("", "loyalty", "loyalty"),
        ("", "discounts", "discounts"),
        ("/line_items/0", "parent_id", "line_items.0.parent_id"),
        ("/line_items/0/item", "quantity_unit", "line_items.0.item.quantity_unit"),
        ("/totals/4", "lines", "totals.4.lines"),
        ("/fulfillment/methods/0", "pickup", "fulfillment.methods.0.pickup"),
        (
            "/fulfillment/methods/0/groups/0/options/0",
            "renews",
            "fulfillment.methods.0.groups.0.options.0.renews",
        ),
        ("", "17 Canary Quarry Road", "…"),
    ] {
        let mut checkout = checkout();
        checkout.pointer_mut(place).unwrap()[member] = json!("monthly");
        assert_eq!(verified(&checkout, &profile), Err(CheckoutFault::Unknown(path.to_owned())), "{place}");
    }
    // A member that is missing, of another form, or beside a merchant or an address. No value is in the error.
    for (place, value) in [
        ("/totals/4/amount", json!("8970")),
        ("/line_items/0/quantity", json!(0)),
        ("/line_items/0/item/price", json!(-1)),
        ("/currency", json!("usd")),
        ("/status", json!("17 Canary Quarry Road")),
        ("/merchant", json!({"id": "m-1", "name": "Flower Shop", "alias": "x"})),
        ("/fulfillment/methods/0/destinations/0", json!({"id": "home", "notes": "x"})),
        ("/fulfillment/methods/0/destinations/0", json!({"street_address": "17 Canary Quarry Road"})),
    ] {
        let mut checkout = checkout();
        *checkout.pointer_mut(place).unwrap() = value;
        assert_eq!(verified(&checkout, &profile), Err(CheckoutFault::Form), "{place}");
    }
}

#[test]
fn only_the_shops_own_signature_counts() {
    let stranger = CheckoutFault::Signed(JwsFault::Signature);
    assert_eq!(verified(&checkout(), &profile(ORIGIN, 4)), Err(stranger.clone()));
    let mut renamed = key(3).public().to_jwk();
    renamed["kid"] = "other".into();
    assert_eq!(verified(&checkout(), &profile_with(ORIGIN, &renamed)), Err(CheckoutFault::Key));
    let mut without = profile_json(ORIGIN, &key(3).public().to_jwk());
    without["ucp"]["capabilities"].as_object_mut().unwrap().remove("dev.ucp.shopping.ap2_mandate");
    without["signing_keys"][0]["kid"] = "shop".into();
    let without = Profile::read(without.to_string().as_bytes(), &ORIGIN.parse().unwrap()).unwrap();
    assert_eq!(verified(&checkout(), &without), Err(CheckoutFault::NoMandates));
    // The two forms are one signature.
    let checkout = checkout();
    let jwt = sign_checkout(&key(3), "shop", checkout.as_object().unwrap().clone()).unwrap();
    let authorization = SignedCheckout::compact(&jwt).authorization().unwrap();
    let mut sent = checkout;
    sent["ap2"] = json!({"merchant_authorization": authorization});
    let detached = SignedCheckout::detached(sent.to_string().as_bytes()).unwrap();
    assert!(detached == SignedCheckout::compact(&jwt));
    sent["totals"][4]["amount"] = 1.into();
    let changed = SignedCheckout::detached(sent.to_string().as_bytes()).unwrap();
    assert_eq!(changed.verify(&profile(ORIGIN, 3)).err(), Some(stranger));
    let twice = sent.to_string().replacen("\"currency\"", "\"currency\":\"JPY\",\"currency\"", 1);
    assert!(matches!(SignedCheckout::detached(twice.as_bytes()), Err(CheckoutFault::Json(_))));
}

/// A shop signs with its own key a text that is not canonical: its detached form would be another text.
#[test]
fn a_signed_text_that_is_not_canonical_is_refused() {
    let canonical = serde_json_canonicalizer::to_string(&checkout()).unwrap();
    let spaced = canonical.replacen(':', ": ", 1);
    for (payload, fault) in [(canonical, None), (spaced, Some(CheckoutFault::NotCanonical))] {
        let jwt = crate::tampering::signed_text(3, &json!({"alg": "ES256", "kid": "shop"}), &payload);
        assert_eq!(SignedCheckout::compact(&jwt).verify(&profile(ORIGIN, 3)).err(), fault);
    }
}
