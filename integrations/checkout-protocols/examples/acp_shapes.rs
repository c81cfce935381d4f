//! Prints what the module `acp` writes, one JSON line a shape, for validation against the published schemas. With the argument `read` it reads
//! one answer a line from standard input instead, and prints whether it is read.

use std::error::Error;
use std::io::BufRead as _;

use checkout_protocols::acp::*;
use checkout_protocols::{
    Credential, Currency, Instrument, PaymentMeans, PaymentToken, PostalAddress, Reply, Wanted, Wish,
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

type Outcome<T> = Result<T, Box<dyn Error>>;

const HANDLER: &str = "dev.acp.tokenized.card";
const NOW: u64 = 1_800_000_000;

fn address(extended: &str) -> Outcome<PostalAddress> {
    Ok(serde_json::from_value(
        json!({"first_name": "Ada", "last_name": "King", "street_address": "17 Elm Road", "extended_address": extended,
        "address_locality": "Springfield", "address_region": "IL", "postal_code": "62701", "address_country": "US", "phone_number": "+12175550123"}),
    )?)
}

fn buyer() -> Value {
    json!({"first_name": "Ada", "last_name": "King", "email": "ada@mail.example", "phone_number": "+12175550123"})
}

fn wish(address: Option<PostalAddress>, with_buyer: bool) -> Outcome<Wish> {
    Ok(Wish {
        items: vec![Wanted { item: "kettle".into(), quantity: 1.try_into()? }],
        address,
        buyer: if with_buyer { Some(serde_json::from_value(buyer())?) } else { None },
        means: PaymentMeans {
            handler: HANDLER.into(),
            instrument: Instrument { id: "card".into(), kind: "card".into(), description: None },
            credential: Credential::Token,
        },
        currency: Some(Currency::try_from("USD".to_owned())?),
    })
}

/// An answer of a shop that offers what was wanted.
fn answer(is_sent: bool, has_buyer: bool) -> Value {
    let total = |kind: &str, amount: u64| json!({"type": kind, "display_text": kind, "amount": amount});
    let mut answer = json!({
        "id": "cs_1", "status": "ready_for_payment", "currency": "usd", "messages": [], "links": [],
        "capabilities": {"payment": {"handlers": [{"id": "h1", "name": HANDLER, "version": "2026-01-22", "spec": "https://kettles.example/handler",
            "requires_delegate_payment": true, "requires_pci_compliance": false, "psp": "psp", "config_schema": "https://kettles.example/config",
            "instrument_schemas": ["https://kettles.example/instrument"], "config": {}}]}},
        "line_items": [{"id": "l1", "item": {"id": "kettle"}, "quantity": 1, "name": "Kettle", "unit_amount": 1900,
            "totals": [total("subtotal", 1900), total("total", 1900)]}],
        "fulfillment_options": [{"type": "shipping", "id": "slow", "title": "Slow", "totals": [total("total", 0)]}],
        "totals": [total("subtotal", 1900), total("total", 1900)],
    });
    let mut add = |member: &str, value: Value| {
        if let Some(answer) = answer.as_object_mut() {
            answer.insert(member.to_owned(), value);
        }
    };
    if is_sent {
        let chosen = json!([{"type": "shipping", "option_id": "slow", "item_ids": ["l1"]}]);
        add("selected_fulfillment_options", chosen);
        let address = json!({"name": "Ada King", "line_one": "17 Elm Road", "line_two": "Flat 3", "city": "Springfield", "state": "IL",
            "country": "US", "postal_code": "62701"});
        let details = json!({"name": "Ada King", "phone_number": "+12175550123", "address": address});
        add("fulfillment_details", details);
    }
    if has_buyer {
        add("buyer", buyer());
    }
    answer
}

fn print(schema: &str, value: Value) {
    println!("{}", json!({"schema": schema, "value": value}));
}

fn written(call: &AcpCall) -> Outcome<Value> {
    Ok(serde_json::from_slice(call.body())?)
}

fn main() -> Outcome<()> {
    let shop = Endpoint::new("https://kettles.example/api".parse()?)?;
    if std::env::args().nth(1).as_deref() == Some("read") {
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            match Session::read(Reply::Answer { status: 200, body: line.as_bytes() }, &shop, None) {
                Ok(it) => {
                    println!("read, ready {}, total {:?}, error {:?}", it.is_ready(), it.total(), it.error())
                }
                Err(fault) => println!("refused: {fault}"),
            }
        }
        return Ok(());
    }
    let mut count = 0;
    let mut random = || {
        count += 1;
        [count; 16]
    };
    for (is_sent, has_buyer) in [(true, true), (true, false), (false, true), (false, false)] {
        let wanted = || wish(if is_sent { Some(address("Flat 3")?) } else { None }, has_buyer);
        let answer = answer(is_sent, has_buyer);
        let session = Session::read(
            Reply::Answer { status: 200, body: answer.to_string().as_bytes() },
            &shop,
            Some("cs_1"),
        )?;
        print("CheckoutSession", answer);
        print("CheckoutSessionCreateRequest", written(&shop.create(&wanted()?, &mut random)?)?);
        let choice = session.choice().filter(|_| is_sent);
        print(
            "CheckoutSessionUpdateRequest",
            written(&shop.update(&session, &wanted()?, choice, &mut random)?)?,
        );
        let agreement = session.offer(wanted()?)?;
        let agreed = session.agreed(&agreement, HANDLER, NOW)?;
        let allowance = Allowance::once(&agreed, "acct_1", NOW, NOW + 600)?;
        print("Allowance", allowance.written());
        let text = |text: &str| Zeroizing::new(text.to_owned());
        let code = has_buyer.then(|| text("123"));
        let card = Card::new(text("4242424242424242"), 3, 2030, code, text("Ada King"), Funding::Credit)?;
        let signals = [RiskSignal { score: 5, action: RiskAction::Authorized }];
        let provider = "https://psp.example/".parse()?;
        let billing = agreement.address.as_ref();
        let delegate = delegate_payment(&provider, &card, &allowance, billing, &signals, &mut random)?;
        print("DelegatePaymentRequest", written(&delegate)?);
        let token = PaymentToken::new("spt_1".to_owned(), None);
        print("CheckoutSessionCompleteRequest", written(&shop.complete(agreed, token, &mut random)?)?);
    }
    print("CancelSessionRequest", written(&shop.cancel("cs_1", &mut random)?)?);
    Ok(())
}
