//! The parties, and a purchase that is as it should be.

use checkout_protocols::{
    Accepted, AgreedCheckout, AgreedLine, Agreement, Amount, Currency, Expected, Instrument, KeySet,
    MandateFault, Mandates, Merchant, PostalAddress, Profile, Shop, SignedCheckout, Signer, SigningKey,
    UsedMandates, VerifiedCheckout, sign_checkout,
};
use serde_json::{Value, json};

pub const ORIGIN: &str = "https://flowers.example";
pub const NONCE: &str = "nonce-of-this-session";
pub const NOW: u64 = 1_795_931_293;

pub fn key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32]).unwrap()
}

pub fn merchant() -> Merchant {
    Merchant { id: "m-1".into(), name: "Flower Shop".into(), website: Some(ORIGIN.into()) }
}

/// A checkout as the shop offers it.
pub fn checkout() -> Value {
    json!({
        "id": "chk_1",
        "merchant": {"id": "m-1", "name": "Flower Shop", "website": ORIGIN},
        "status": "ready_for_complete",
        "currency": "USD",
        "line_items": [
            {"id": "l1", "item": {"id": "roses", "title": "Red roses", "price": 3500}, "quantity": 2,
                "totals": [{"type": "subtotal", "amount": 7000}, {"type": "total", "amount": 7000}]},
            {"id": "l2", "item": {"id": "vase", "title": "Vase", "price": 1500}, "quantity": 1,
                "totals": [{"type": "subtotal", "amount": 1500}, {"type": "items_discount", "amount": -100},
                    {"type": "total", "amount": 1400}]},
        ],
        "totals": [
            {"type": "subtotal", "amount": 8500}, {"type": "items_discount", "amount": -100},
            {"type": "fulfillment", "amount": 500, "display_text": "Standard"}, {"type": "tax", "amount": 70},
            {"type": "total", "amount": 8970},
        ],
        "fulfillment": {"methods": [{
            "id": "method", "type": "shipping", "line_item_ids": ["l1", "l2"],
            "destinations": [
                {"id": "home", "street_address": "17 Canary Quarry Road", "address_locality": "Berkeley",
                    "address_region": "CA", "postal_code": "94704", "address_country": "US"},
                {"id": "other", "street_address": "99 Thief Alley", "address_country": "US"},
            ],
            "selected_destination_id": "home",
            "groups": [{
                "id": "parcel", "line_item_ids": ["l1", "l2"],
                "options": [
                    {"id": "slow", "title": "Standard", "totals": [{"type": "total", "amount": 500}]},
                    {"id": "fast", "title": "Express", "totals": [{"type": "total", "amount": 500}]},
                ],
                "selected_option_id": "slow",
            }],
        }]},
        "messages": [{"type": "warning", "code": "allergens", "content": "May hold pollen."}],
        "expires_at": "2026-12-31T00:00:00Z",
        "links": [],
    })
}

/// What the user agreed to.
pub fn agreement() -> Agreement {
    let line = |item: &str, title: &str, quantity: u32, price| AgreedLine {
        item: item.into(),
        title: title.into(),
        quantity: quantity.try_into().unwrap(),
        price,
    };
    let mut address = PostalAddress::default();
    address.street_address = "17 canary  quarry road".into();
    address.address_locality = "Berkeley".into();
    address.address_region = "CA".into();
    address.postal_code = "94704".into();
    address.address_country = "US".into();
    Agreement {
        payee: merchant(),
        lines: vec![line("vase", "Vase", 1, 1500), line("roses", "Red roses", 2, 3500)],
        total: Amount { amount: 8970, currency: Currency::try_from("USD".to_owned()).unwrap() },
        address: Some(address),
        delivery: vec!["Standard".into()],
        buyer: None,
        instrument: Instrument { id: "card-1".into(), kind: "card".into(), description: None },
        shown: vec!["May hold pollen.".into()],
    }
}

/// The profile of a shop at an origin, whose key has this number and the name `shop`.
pub fn profile(origin: &str, number: u8) -> Profile {
    let mut jwk = key(number).public().to_jwk();
    jwk["kid"] = "shop".into();
    profile_with(origin, &jwk)
}

pub fn profile_with(origin: &str, jwk: &Value) -> Profile {
    let text = profile_json(origin, jwk).to_string();
    Profile::read(text.as_bytes(), &origin.parse().unwrap()).unwrap()
}

pub fn profile_json(origin: &str, jwk: &Value) -> Value {
    json!({
        "ucp": {
            "version": "2026-04-08",
            "services": {"dev.ucp.shopping": [{"transport": "rest", "endpoint": format!("{origin}/ucp/v1")}]},
            "capabilities": {
                "dev.ucp.shopping.checkout": [{"version": "2026-04-08"}],
                "dev.ucp.shopping.ap2_mandate": [{"version": "2026-04-08"}],
            },
        },
        "signing_keys": [jwk],
    })
}

/// A checkout as the shop at this origin signs it, verified.
pub fn signed_at(origin: &str, checkout: &Value) -> VerifiedCheckout {
    let jwt = sign_checkout(&key(3), "shop", checkout.as_object().unwrap().clone()).unwrap();
    SignedCheckout::compact(&jwt).verify(&profile(origin, 3)).unwrap()
}

pub fn signed(checkout: &Value) -> VerifiedCheckout {
    signed_at(ORIGIN, checkout)
}

pub fn agreed(checkout: &Value) -> AgreedCheckout {
    signed(checkout).agreed(&agreement(), NOW).unwrap()
}

/// The mandates that the guard signs for the checkout, with this nonce.
pub fn mandates(nonce: &str) -> Mandates {
    let (surface, agent) = (key(1), key(2));
    let mut salt = 0;
    let mut salts = || {
        salt += 1;
        [salt; 16]
    };
    Signer { surface: &surface, agent: &agent }.authorise(agreed(&checkout()), nonce, &mut salts).unwrap()
}

/// Shows mandates to the shop, whose session has this checkout.
pub fn shown(
    mandates: &Mandates,
    checkout: &VerifiedCheckout,
    now: u64,
    used: &mut UsedMandates,
) -> Result<Accepted, MandateFault> {
    let (merchant, surfaces) = (merchant(), KeySet::of(key(1).public()));
    let shop = Shop { merchant: &merchant, surfaces: &surfaces };
    shop.accept(mandates, &Expected { checkout, nonce: NONCE, now }, used)
}

/// Shows mandates to the shop as it should be.
pub fn sold(mandates: &Mandates) -> Result<Accepted, MandateFault> {
    shown(mandates, &signed(&checkout()), NOW, &mut UsedMandates::default())
}
