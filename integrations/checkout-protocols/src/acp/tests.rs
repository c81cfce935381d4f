use std::fmt::{Debug, Display};
use std::num::NonZeroU32;

use serde::Serialize;
use serde_json::{Value, json};
use static_assertions::assert_not_impl_any;
use zeroize::Zeroizing;

use super::*;
use crate::checkout::CheckoutFault;
use crate::{Agreement, Buyer, Credential, Currency, Instrument, PaymentMeans, Reply, Wanted};

assert_not_impl_any!(AcpCall: Clone, Debug, Display, Serialize);
assert_not_impl_any!(Card: Clone, Debug, Display, Serialize);
assert_not_impl_any!(Session: Clone, Debug, Display, Serialize);
assert_not_impl_any!(AgreedSession<'static>: Clone, Debug, Display, Serialize);
assert_not_impl_any!(PaymentToken: Clone, Debug, Display, Serialize);

const NOW: u64 = 1_800_000_000;

fn shop() -> Endpoint {
    Endpoint::new("https://kettles.example/api".parse().unwrap()).unwrap()
}

fn wish(quantity: u32) -> Wish {
    let address = json!({"first_name": "Ada", "last_name": "King", "street_address": "17 Elm Road",
        "address_locality": "Springfield", "address_region": "IL", "postal_code": "62701", "address_country": "US",
        "phone_number": "+12175550123"});
    Wish {
        items: vec![Wanted { item: "kettle".into(), quantity: NonZeroU32::new(quantity).unwrap() }],
        address: Some(serde_json::from_value(address).unwrap()),
        buyer: Some(serde_json::from_value(json!({"email": "ada@mail.example"})).unwrap()),
        means: PaymentMeans {
            handler: "dev.acp.tokenized.card".into(),
            instrument: Instrument { id: "card".into(), kind: "card".into(), description: None },
            credential: Credential::Token,
        },
        currency: Some(Currency::try_from("USD".to_owned()).unwrap()),
    }
}

fn total(kind: &str, amount: i64) -> Value {
    json!({"type": kind, "display_text": kind, "amount": amount})
}

fn answer() -> Value {
    json!({
        "id": "cs_1",
        "protocol": {"version": "2026-04-17"},
        "capabilities": {"payment": {"handlers": [{"id": "h1", "name": "dev.acp.tokenized.card"}]}},
        "status": "ready_for_payment",
        "currency": "usd",
        "buyer": {"email": "ada@mail.example"},
        "line_items": [{"id": "l1", "item": {"id": "kettle"}, "quantity": 1, "name": "Kettle", "unit_amount": 1900,
            "totals": [total("items_base_amount", 1900), total("discount", 0), total("subtotal", 1900), total("tax", 190), total("total", 2090)]}],
        "fulfillment_details": {"name": "Ada King", "phone_number": "+12175550123", "email": "ada@mail.example",
            "address": {"name": "Ada King", "line_one": "17 Elm Road", "line_two": "", "city": "Springfield", "state": "IL", "country": "US", "postal_code": "62701"}},
        "fulfillment_options": [
            {"type": "shipping", "id": "fast", "title": "Fast", "totals": [total("total", 900)]},
            {"type": "shipping", "id": "slow", "title": "Slow", "totals": [total("total", 500)]},
        ],
        "selected_fulfillment_options": [{"type": "shipping", "option_id": "slow", "item_ids": ["l1"]}],
        "totals": [total("items_base_amount", 1900), total("subtotal", 1900), total("tax", 190), total("fulfillment", 500), total("total", 2590)],
        "messages": [], "links": [],
    })
}

fn read(answer: &Value) -> Result<Session, AcpFault> {
    read_text(&answer.to_string())
}

fn read_text(answer: &str) -> Result<Session, AcpFault> {
    Session::read(Reply::Answer { status: 200, body: answer.as_bytes() }, &shop(), Some("cs_1"))
}

fn changed(pointer: &str, value: Value) -> Value {
    let mut answer = answer();
    *answer.pointer_mut(pointer).unwrap() = value;
    answer
}

fn body(call: &AcpCall) -> Value {
    serde_json::from_slice(call.body()).unwrap()
}

fn offer() -> Agreement {
    read(&answer()).unwrap().offer(wish(1)).unwrap()
}

#[test]
fn a_session_is_created_changed_paid_and_cancelled() {
    let (shop, mut random) = (shop(), || [7; 16]);
    let create = shop.create(&wish(1), &mut random).unwrap();
    assert_eq!(create.url().as_str(), "https://kettles.example/api/checkout_sessions");
    let wanted = json!({
        "line_items": [{"id": "kettle"}],
        "buyer": {"email": "ada@mail.example"},
        "fulfillment_details": {"name": "Ada King", "phone_number": "+12175550123", "address": {
            "name": "Ada King", "line_one": "17 Elm Road", "city": "Springfield", "state": "IL", "country": "US", "postal_code": "62701"}},
    });
    let mut expected = wanted.clone();
    expected["currency"] = "usd".into();
    expected["capabilities"] = json!({});
    assert_eq!(body(&create), expected);
    let id = "07070707-0707-4707-8707-070707070707";
    let headers = [
        ("Accept", "application/json"),
        ("API-Version", "2026-04-17"),
        ("Request-Id", id),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", id),
    ];
    assert_eq!(create.headers(), headers);

    let session = read(&answer()).unwrap();
    let update = shop.update(&session, &wish(1), session.choice(), &mut random).unwrap();
    let mut expected = wanted;
    expected["selected_fulfillment_options"] =
        json!([{"type": "shipping", "option_id": "slow", "item_ids": ["l1"]}]);
    assert_eq!(body(&update), expected);
    assert_eq!(update.url().path(), "/api/checkout_sessions/cs_1");

    let agreement = offer();
    let agreed = session.agreed(&agreement, "dev.acp.tokenized.card", NOW).unwrap();
    let complete = shop.complete(agreed, PaymentToken::new("spt_1".into(), None), &mut random).unwrap();
    let expected = json!({"buyer": {"email": "ada@mail.example"}, "payment_data": {"handler_id": "h1",
        "instrument": {"type": "card", "credential": {"type": "spt", "token": "spt_1"}}}});
    assert_eq!(body(&complete), expected);
    assert_eq!(complete.url().path(), "/api/checkout_sessions/cs_1/complete");

    let cancel = shop.cancel("cs_1", &mut random).unwrap();
    assert_eq!((body(&cancel), cancel.url().path()), (json!({}), "/api/checkout_sessions/cs_1/cancel"));
    let look = shop.look("cs_1", &mut random).unwrap();
    assert_eq!((look.method(), look.body().len(), look.headers().len()), (Method::Get, 0, 3));
    for id in ["", "..", "a/b", "a?b"] {
        assert_eq!(shop.cancel(id, &mut random).err(), Some(AcpFault::Id), "{id}");
    }
}

#[test]
fn what_the_published_form_cannot_say_is_not_written() {
    let create = |wish: &Wish| shop().create(wish, &mut || [7; 16]).err();
    assert_eq!(create(&wish(2)), Some(AcpFault::Quantity));
    assert_eq!(create(&Wish { currency: None, ..wish(1) }), Some(AcpFault::Currency));
    assert_eq!(create(&Wish { items: vec![], ..wish(1) }), Some(AcpFault::Items));
    assert_eq!(create(&Wish { buyer: Some(Buyer::default()), ..wish(1) }), Some(AcpFault::Email));
    for url in ["http://kettles.example/", "https://u@kettles.example/", "https://kettles.example/?a"] {
        assert_eq!(Endpoint::new(url.parse().unwrap()), Err(AcpFault::Endpoint), "{url}");
    }
}

#[test]
fn a_token_is_allowed_the_agreed_total_once() {
    let (session, agreement) = (read(&answer()).unwrap(), offer());
    let agreed = session.agreed(&agreement, "dev.acp.tokenized.card", NOW).unwrap();
    let allowance = Allowance::once(&agreed, "acct_1", NOW, NOW + 600).unwrap();
    let expected = json!({"reason": "one_time", "max_amount": 2590, "currency": "usd", "checkout_session_id": "cs_1",
        "merchant_id": "acct_1", "expires_at": "2027-01-15T08:10:00Z"});
    assert_eq!(allowance.written(), expected);
    for (payee, ends) in [("acct_1", NOW), ("acct_1", NOW + 86_401), ("acct_1", 0), ("", NOW + 1)] {
        assert_eq!(Allowance::once(&agreed, payee, NOW, ends), Err(AcpFault::Allowance));
    }

    let text = |text: &str| Zeroizing::new(text.to_owned());
    let card = |number: &str, month, code: &str| {
        Card::new(text(number), month, 2030, Some(text(code)), text("Ada King"), Funding::Debit)
    };
    for (number, month, code) in [
        ("4242", 1, "123"),
        ("424242424242424x", 1, "123"),
        ("4242424242424242", 13, "123"),
        ("4242424242424242", 1, "12"),
    ] {
        assert_eq!(card(number, month, code).err(), Some(AcpFault::Card));
    }
    let card = card("4242424242424242", 3, "123").unwrap();
    let provider = "https://psp.example/".parse().unwrap();
    let signals = [RiskSignal { score: 5, action: RiskAction::Authorized }];
    let delegate = |signals: &[RiskSignal], billing: Option<&PostalAddress>| {
        delegate_payment(&provider, &card, &allowance, billing, signals, &mut || [7; 16])
    };
    let call = delegate(&signals, agreement.address.as_ref()).unwrap();
    assert_eq!(call.url().as_str(), "https://psp.example/agentic_commerce/delegate_payment");
    let expected = json!({
        "payment_method": {"type": "card", "card_number_type": "fpan", "number": "4242424242424242", "exp_month": "03", "exp_year": "2030",
            "cvc": "123", "name": "Ada King", "display_card_funding_type": "debit", "metadata": {}},
        "allowance": expected,
        "billing_address": {"name": "Ada King", "line_one": "17 Elm Road", "city": "Springfield", "state": "IL", "country": "US", "postal_code": "62701"},
        "risk_signals": [{"type": "card_testing", "score": 5, "action": "authorized"}],
        "metadata": {},
    });
    assert_eq!(body(&call), expected);
    assert_eq!(delegate(&[], None).err(), Some(AcpFault::Risk));
    assert_eq!(delegate(&signals, Some(&PostalAddress::default())).err(), Some(AcpFault::Billing));
}

#[test]
fn an_answer_that_cannot_be_compared_is_not_read() {
    let form = || Some(AcpFault::Answer(CheckoutFault::Form.into()));
    assert!(read(&answer()).is_ok());
    let mut unknown = answer();
    unknown["line_items"][0]["instalments"] = 3.into();
    let fault = AcpFault::Answer(CheckoutFault::Unknown("line_items.0.instalments".into()).into());
    assert_eq!(read(&unknown).err(), Some(fault));
    let mut converted = answer();
    converted["totals"][0]["presentment_amount"] = 1.into();
    assert!(matches!(read(&converted).err(), Some(AcpFault::Answer(_))));
    for amount in [-100, 100] {
        for kind in ["discount", "items_discount", "store_credit", "amount_refunded"] {
            let answer = changed("/totals/2", total(kind, amount));
            assert_eq!(read(&answer).err(), Some(AcpFault::Discount), "{kind} {amount}");
        }
    }
    let mut discounts = answer();
    discounts["discounts"] = json!({"codes": [], "applied": [{}]});
    assert_eq!(read(&discounts).err(), Some(AcpFault::Discount));
    for (pointer, value) in [
        ("/status", json!("sold")),
        ("/totals/2/type", json!("present")),
        ("/totals/0/amount", json!(1800)),
        ("/currency", json!("us dollars")),
        ("/line_items/0/quantity", json!(0)),
        ("/line_items/0/item/unit_amount", json!(1)),
        ("/selected_fulfillment_options/0/option_id", json!("other")),
        ("/selected_fulfillment_options/0/type", json!("pickup")),
        ("/selected_fulfillment_options/0/item_ids/0", json!("other")),
        ("/fulfillment_details/name", json!("Eve")),
        ("/fulfillment_details/email", json!("eve@mail.example")),
    ] {
        let mut answer = answer();
        answer["line_items"][0]["item"]["unit_amount"] = 1900.into();
        *answer.pointer_mut(pointer).unwrap() = value;
        assert_eq!(read(&answer).err(), form(), "{pointer}");
    }
    let text = answer().to_string();
    for (from, to) in
        [("\"amount\":2590", "\"amount\":2590.0"), ("\"id\":\"cs_1\"", "\"id\":\"cs_1\",\"id\":\"cs_1\"")]
    {
        assert!(text.contains(from));
        let fault = read_text(&text.replace(from, to)).err();
        assert!(matches!(fault, Some(AcpFault::Answer(AnswerFault::Json(_)))), "{to}");
    }
    assert_eq!(read(&changed("/protocol/version", json!("2026-01-16"))).err(), Some(AcpFault::Version));
    assert_eq!(read(&changed("/id", json!("cs_2"))).err(), Some(AnswerFault::OtherCheckout.into()));
}

#[test]
fn a_session_that_is_not_the_agreed_one_is_not_paid() {
    let agreement = offer();
    let agreed =
        |answer: &Value| read(answer).unwrap().agreed(&agreement, "dev.acp.tokenized.card", NOW).map(|_| ());
    assert_eq!(agreed(&answer()), Ok(()));
    let mut named_by_item = answer();
    named_by_item["selected_fulfillment_options"][0]["item_ids"] = json!(["kettle"]);
    assert_eq!(agreed(&named_by_item), Ok(()));
    let note = json!([{"type": "info", "content_type": "plain", "content": "You agree to a subscription."}]);
    for (pointer, value, difference) in [
        ("/status", json!("not_ready_for_payment"), Difference::State),
        ("/status", json!("in_progress"), Difference::State),
        ("/messages", note, Difference::Message),
        ("/line_items/0/name", json!("Another kettle"), Difference::Lines),
        ("/line_items/0/quantity", json!(2), Difference::Lines),
        ("/currency", json!("eur"), Difference::Currency),
        ("/totals/4/amount", json!(2591), Difference::Sum),
        ("/totals/4/type", json!("fee"), Difference::Sum),
        ("/totals/3", total("total", 2590), Difference::Sum),
        ("/totals/2/amount", json!(-190), Difference::Sum),
        ("/fulfillment_details/address/line_one", json!("18 Elm Road"), Difference::Address),
        ("/fulfillment_details/phone_number", json!("+12175550199"), Difference::Address),
        ("/selected_fulfillment_options/0/option_id", json!("fast"), Difference::Delivery),
        ("/buyer/email", json!("ada@mail.example x"), Difference::Buyer),
    ] {
        let mut answer = changed(pointer, value);
        if pointer == "/buyer/email" {
            answer["fulfillment_details"]["email"] = answer["buyer"]["email"].clone();
        }
        assert_eq!(agreed(&answer), Err(difference.into()), "{pointer}");
    }
    let mut dearer = answer();
    (dearer["totals"][2]["amount"], dearer["totals"][4]["amount"]) = (191.into(), 2591.into());
    assert_eq!(agreed(&dearer), Err(Difference::Total.into()));
    let mut sold_by_another = answer();
    sold_by_another["line_items"][0]["marketplace_seller_details"] = json!({"name": "Others"});
    assert_eq!(agreed(&sold_by_another), Err(Difference::Message.into()));
    let shown = read(&sold_by_another).unwrap().offer(wish(1)).unwrap().shown;
    assert_eq!(shown, ["seller: Others"]);
    let mut by_wire = answer();
    by_wire["fulfillment_options"][1]["type"] = "digital".into();
    by_wire["selected_fulfillment_options"][0]["type"] = "digital".into();
    assert_eq!(agreed(&by_wire), Err(Difference::Address.into()));
    assert!(read(&by_wire).unwrap().offer(Wish { address: None, ..wish(1) }).is_ok());
    let session = read(&answer()).unwrap();
    assert_eq!(session.agreed(&agreement, "com.example.pay", NOW).err(), Some(AcpFault::NotOffered));
}

#[test]
fn a_completed_session_names_its_order() {
    let mut sold = changed("/status", json!("completed"));
    sold["order"] = json!({"id": "o1", "checkout_session_id": "cs_1", "permalink_url": "https://kettles.example/o1", "order_number": "#1"});
    // A session that has ended need not repeat its delivery and its contact; an open one has to.
    for (pointer, value) in
        [("/fulfillment_options", json!([])), ("/fulfillment_details/email", json!("desk@mail.example"))]
    {
        assert!(read(&changed(pointer, value.clone())).is_err(), "{pointer}");
        *sold.pointer_mut(pointer).unwrap() = value;
    }
    let session = read(&sold).unwrap();
    assert_eq!((session.order(), session.differs(&offer()), session.is_ready()), (Some("o1"), None, false));
    sold["order"]["checkout_session_id"] = "cs_2".into();
    assert!(read(&sold).is_err());
    let declined =
        json!([{"type": "error", "code": "payment_declined", "content_type": "plain", "content": "No."}]);
    let session = read(&changed("/messages", declined)).unwrap();
    assert_eq!(session.error().map(crate::ShopCode::as_str), Some("payment_declined"));
    assert!(session.order().is_none());
}
