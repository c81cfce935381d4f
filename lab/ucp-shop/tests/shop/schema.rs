//! What the published schemas of UCP 2026-04-08 say of a checkout, checked by hand: the members that have to be there, their types, and
//! that the sums add up. AP2's member `merchant` is there too.

use serde_json::Value;

/// The members of an address.
const ADDRESS: [&str; 9] = [
    "first_name",
    "last_name",
    "street_address",
    "extended_address",
    "address_locality",
    "address_region",
    "postal_code",
    "address_country",
    "phone_number",
];

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_url(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.parse::<url::Url>().is_ok())
}

/// One subtotal and one total, whose difference the other parts make up.
fn assert_totals(totals: &Value) {
    let amounts = |kind: &str| -> Vec<i64> {
        let found = array(totals).iter().filter(|it| it["type"] == kind);
        found.map(|it| it["amount"].as_i64().unwrap()).collect()
    };
    let (subtotal, total) = (amounts("subtotal"), amounts("total"));
    assert_eq!((subtotal.len(), total.len()), (1, 1));
    let rest: i64 = ["fulfillment", "tax", "fee"].into_iter().flat_map(amounts).sum();
    assert_eq!(subtotal[0] + rest, total[0]);
    let known = ["subtotal", "fulfillment", "tax", "fee", "total"];
    assert!(array(totals).iter().all(|it| known.contains(&it["type"].as_str().unwrap())));
    assert!(array(totals).iter().all(|it| it["amount"].as_u64().is_some()));
}

pub fn assert_message(message: &Value) {
    assert!(is_text(&message["content"]));
    match message["type"].as_str().unwrap() {
        "error" => {
            let severities = ["recoverable", "requires_buyer_review", "unrecoverable"];
            assert!(is_text(&message["code"]));
            assert!(severities.contains(&message["severity"].as_str().unwrap()));
            assert!(message["path"].as_str().is_none_or(|path| path.starts_with("$.")));
        }
        kind => assert_eq!(kind, "info"),
    }
}

fn assert_method(method: &Value, lines: &[&Value]) {
    assert_eq!(method["type"], "shipping");
    assert!(is_text(&method["id"]));
    let ids: Vec<&Value> = array(&method["line_item_ids"]).iter().collect();
    assert_eq!(ids, lines);
    for destination in array(&method["destinations"]) {
        assert!(is_text(&destination["id"]));
        let members = destination.as_object().unwrap();
        assert!(
            members
                .iter()
                .all(|(name, value)| name == "id" || (ADDRESS.contains(&&**name) && is_text(value)))
        );
    }
    for group in array(&method["groups"]) {
        assert!(is_text(&group["id"]));
        assert_eq!(group["line_item_ids"], method["line_item_ids"]);
        for option in array(&group["options"]) {
            assert!(is_text(&option["id"]) && is_text(&option["title"]));
            assert_totals(&option["totals"]);
        }
    }
}

pub fn assert_checkout(checkout: &Value) {
    let ucp = &checkout["ucp"];
    assert_eq!(ucp["version"], "2026-04-08");
    let handlers = ucp["payment_handlers"].as_object().unwrap();
    assert!(handlers.values().flat_map(array).all(|it| is_text(&it["id"]) && it["version"] == "2026-04-08"));
    let capabilities = ucp["capabilities"].as_object().unwrap();
    assert!(capabilities.values().flat_map(array).all(|it| it["version"] == "2026-04-08"));
    assert!(is_text(&checkout["id"]));
    assert!(["id", "name", "website"].iter().all(|name| is_text(&checkout["merchant"][name])));
    let states = [
        "incomplete",
        "requires_escalation",
        "ready_for_complete",
        "complete_in_progress",
        "completed",
        "canceled",
    ];
    let status = checkout["status"].as_str().unwrap();
    assert!(states.contains(&status), "{status}");
    assert_eq!(checkout["currency"].as_str().unwrap().len(), 3);
    let lines = array(&checkout["line_items"]);
    let mut subtotal = 0;
    for line in lines {
        assert!(is_text(&line["id"]) && is_text(&line["item"]["id"]) && is_text(&line["item"]["title"]));
        let price = line["item"]["price"].as_u64().unwrap();
        let quantity = line["quantity"].as_u64().filter(|it| *it > 0).unwrap();
        assert_totals(&line["totals"]);
        assert_eq!(line["totals"][0]["amount"], price * quantity);
        subtotal += price * quantity;
    }
    assert_totals(&checkout["totals"]);
    assert_eq!(checkout["totals"][0]["amount"], subtotal);
    array(&checkout["messages"]).iter().for_each(assert_message);
    assert!(array(&checkout["links"]).iter().all(|it| is_text(&it["type"]) && is_url(&it["url"])));
    assert!(checkout["expires_at"].as_str().unwrap().ends_with('Z'));
    let has_ended = ["completed", "canceled"].contains(&status);
    assert!(has_ended || status == "complete_in_progress" || is_url(&checkout["continue_url"]));
    assert!(!has_ended || checkout.get("continue_url").is_none());
    assert_eq!(checkout.get("order").is_some(), status == "completed");
    if status == "completed" {
        assert!(is_text(&checkout["order"]["id"]) && is_url(&checkout["order"]["permalink_url"]));
    }
    let ids: Vec<&Value> = lines.iter().map(|line| &line["id"]).collect();
    if let Some(fulfillment) = checkout.get("fulfillment") {
        array(&fulfillment["methods"]).iter().for_each(|it| assert_method(it, &ids));
    }
    if let Some(authorization) = checkout["ap2"].get("merchant_authorization") {
        let is_base64 = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let (header, signature) = authorization.as_str().unwrap().split_once("..").unwrap();
        assert!(!header.is_empty() && !signature.is_empty() && is_base64(header) && is_base64(signature));
    }
    assert_eq!(checkout["ap2"]["nonce"].as_str().unwrap().len(), 22);
}
