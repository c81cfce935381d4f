//! A client that orders, with a guard's keys.

use checkout_protocols::{
    AgreedLine, Agreement, Amount, CheckoutFault, Currency, Instrument, KeySet, Mandates, Merchant,
    PROFILE_PATH, PostalAddress, Profile, SignedCheckout, Signer, SigningKey, VerifiedCheckout,
};
use serde_json::{Value, json};
use ucp_shop::{Answer, Behaviour, Method, Product, Request, Shop};

use crate::schema::assert_checkout;

pub const ORIGIN: &str = "https://kettles.example";
pub const SESSIONS: &str = "/ucp/v1/checkout-sessions";
pub const NOW: u64 = 1_795_931_293;

pub fn key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32]).unwrap()
}

pub fn address() -> Value {
    json!({"first_name": "Ada", "last_name": "Canary", "street_address": "17 Canary Quarry Road", "address_locality": "Berkeley",
        "address_region": "CA", "postal_code": "94704", "address_country": "US"})
}

/// An order of two kettles to the address.
pub fn order() -> Value {
    json!({
        "line_items": [{"item": {"id": "kettle"}, "quantity": 2}],
        "fulfillment": {"methods": [{"type": "shipping", "destinations": [address()]}]},
    })
}

/// A shop with kettles and one teapot, which takes the mandates of the first key and signs with the third.
pub fn shop() -> Shop {
    let products = [("kettle", "Kettle", 1900, 10), ("teapot", "Teapot", 2450, 1)];
    let products = products.map(|(id, title, price, stock)| Product {
        id: id.into(),
        title: title.into(),
        price,
        stock,
    });
    let surfaces = KeySet::of(key(1).public());
    Shop::new(ORIGIN.parse().unwrap(), key(3), surfaces, products.into())
}

/// A shop and its client.
pub struct Client {
    pub shop: Shop,
    pub now: u64,
    /// The last of the numbers that stand for random bytes.
    pub number: u128,
    keys: u128,
}

/// The JSON of an answer.
pub fn body(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

impl Client {
    pub fn new() -> Client {
        let shop = shop().named("Kettle Shop");
        Client { shop, now: NOW, number: 0, keys: 0 }
    }

    pub fn behaving(behaviour: Behaviour) -> Client {
        let mut client = Client::new();
        client.shop.behave(behaviour);
        client
    }

    pub fn fresh_key(&mut self) -> String {
        self.keys += 1;
        format!("key-{:022}", self.keys)
    }

    /// Sends exactly these headers.
    pub fn send(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let number = &mut self.number;
        let mut entropy = || {
            *number += 1;
            number.to_be_bytes()
        };
        let answer = self.shop.answer(&Request { method, path, headers, body }, self.now, &mut entropy);
        if let Some(checkout) =
            serde_json::from_slice(&answer.body).ok().filter(|it: &Value| it["id"].is_string())
        {
            assert_checkout(&checkout);
        }
        answer
    }

    /// Sends a body under a key.
    pub fn send_as(&mut self, key: &str, method: Method, path: &str, body: &Value) -> Answer {
        let headers = [
            ("UCP-Agent", "profile=\"https://guard.example/profile\""),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", key),
        ];
        self.send(method, path, &headers, body.to_string().as_bytes())
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Answer {
        let key = self.fresh_key();
        self.send_as(&key, Method::Post, path, body)
    }

    pub fn put(&mut self, path: &str, body: &Value) -> Answer {
        let key = self.fresh_key();
        self.send_as(&key, Method::Put, path, body)
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send(Method::Get, path, &[("ucp-agent", "profile=\"https://guard.example/profile\"")], b"")
    }

    pub fn show(&mut self, checkout: &Value) -> Value {
        body(&self.get(&path(checkout)))
    }

    pub fn create(&mut self) -> Value {
        let answer = self.post(SESSIONS, &order());
        assert_eq!(answer.status, 201);
        body(&answer)
    }

    /// Chooses a way of delivery, and repeats the rest of the order.
    pub fn choose(&mut self, checkout: &Value, option: &str) -> Value {
        let answer = self.put(&path(checkout), &chosen(checkout, option));
        assert_eq!(answer.status, 200);
        body(&answer)
    }

    /// A checkout that is ready.
    pub fn ready(&mut self) -> Value {
        let checkout = self.create();
        self.choose(&checkout, "standard")
    }

    pub fn profile(&mut self) -> Profile {
        let answer = self.send(Method::Get, PROFILE_PATH, &[], b"");
        assert_eq!(answer.status, 200);
        Profile::read(&answer.body, &ORIGIN.parse().unwrap()).unwrap()
    }

    pub fn verify(&mut self, checkout: &Value) -> Result<VerifiedCheckout, CheckoutFault> {
        SignedCheckout::detached(checkout.to_string().as_bytes())?.verify(&self.profile())
    }

    /// Signs mandates for a checkout, as a user does who agrees to what it says.
    pub fn authorise(&mut self, checkout: &Value) -> Mandates {
        let agreed = self.verify(checkout).unwrap().agreed(&agreement(checkout), self.now).unwrap();
        let (surface, agent) = (key(1), key(2));
        let number = &mut self.number;
        let mut salt = || {
            *number += 1;
            number.to_be_bytes()
        };
        let nonce = checkout["ap2"]["nonce"].as_str().unwrap();
        Signer { surface: &surface, agent: &agent }.authorise(agreed, nonce, &mut salt).unwrap()
    }

    pub fn complete_with(&mut self, checkout: &Value, mandates: &Mandates) -> Answer {
        self.post(&format!("{}/complete", path(checkout)), &completion(mandates))
    }

    /// Completes a checkout with mandates for it.
    pub fn complete(&mut self, checkout: &Value) -> Value {
        let mandates = self.authorise(checkout);
        let answer = self.complete_with(checkout, &mandates);
        assert_eq!(answer.status, 200);
        body(&answer)
    }

    pub fn cancel(&mut self, checkout: &Value) -> Answer {
        self.post(&format!("{}/cancel", path(checkout)), &json!({}))
    }

    pub fn sales(&self) -> usize {
        self.shop.ledger().len()
    }
}

pub fn path(checkout: &Value) -> String {
    format!("{SESSIONS}/{}", checkout["id"].as_str().unwrap())
}

/// The body that repeats a checkout's order with a way of delivery.
pub fn chosen(checkout: &Value, option: &str) -> Value {
    let lines = checkout["line_items"].as_array().unwrap().iter();
    let lines: Vec<Value> = lines
        .map(|line| json!({"id": line["id"], "item": {"id": line["item"]["id"]}, "quantity": line["quantity"]}))
        .collect();
    let method = &checkout["fulfillment"]["methods"][0];
    json!({
        "line_items": lines,
        "fulfillment": {"methods": [{
            "id": method["id"], "type": "shipping", "line_item_ids": method["line_item_ids"],
            "destinations": method["destinations"], "selected_destination_id": method["selected_destination_id"],
            "groups": [{"id": method["groups"][0]["id"], "selected_option_id": option}],
        }]},
    })
}

/// The body that completes a session.
pub fn completion(mandates: &Mandates) -> Value {
    json!({
        "payment": {"instruments": [{"id": "purse", "handler_id": "test_money", "type": "test_money", "selected": true,
            "credential": {"type": "ap2_mandate", "token": mandates.payment}}]},
        "ap2": {"checkout_mandate": mandates.checkout},
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The sum of a checkout.
pub fn total(checkout: &Value) -> u64 {
    let totals = checkout["totals"].as_array().unwrap();
    totals.iter().find(|it| it["type"] == "total").unwrap()["amount"].as_u64().unwrap()
}

/// The code of the one error of a checkout; empty where there is none.
pub fn error(checkout: &Value) -> String {
    let messages = checkout["messages"].as_array().unwrap();
    let errors: Vec<&Value> = messages.iter().filter(|it| it["type"] == "error").collect();
    assert!(errors.len() <= 1, "{errors:?}");
    errors.first().map(|it| text(&it["code"])).unwrap_or_default()
}

/// What the shop says beside a checkout.
fn notes(checkout: &Value) -> Vec<String> {
    let messages = checkout["messages"].as_array().unwrap().iter();
    messages.filter(|it| it["type"] != "error").map(|it| text(&it["content"])).collect()
}

/// Agrees to all that a checkout says.
pub fn agreement(checkout: &Value) -> Agreement {
    let lines = checkout["line_items"].as_array().unwrap().iter().map(|line| AgreedLine {
        item: text(&line["item"]["id"]),
        title: text(&line["item"]["title"]),
        quantity: u32::try_from(line["quantity"].as_u64().unwrap()).unwrap().try_into().unwrap(),
        price: line["item"]["price"].as_u64().unwrap(),
    });
    let method = &checkout["fulfillment"]["methods"][0];
    let mut destination = method["destinations"][0].clone();
    destination.as_object_mut().unwrap().remove("id");
    let address: PostalAddress = serde_json::from_value(destination).unwrap();
    let options = method["groups"][0]["options"].as_array().unwrap();
    let option = options.iter().find(|it| it["id"] == method["groups"][0]["selected_option_id"]).unwrap();
    Agreement {
        payee: Merchant {
            id: text(&checkout["merchant"]["id"]),
            name: text(&checkout["merchant"]["name"]),
            website: Some(ORIGIN.into()),
        },
        lines: lines.collect(),
        total: Amount {
            amount: total(checkout),
            currency: Currency::try_from(text(&checkout["currency"])).unwrap(),
        },
        address: Some(address),
        delivery: vec![text(&option["title"])],
        buyer: None,
        instrument: Instrument { id: "purse".into(), kind: "test_money".into(), description: None },
        shown: notes(checkout),
    }
}
