//! Honest orders, and what the shop says of itself.

use checkout_protocols::{Difference, PROFILE_PATH, Version};
use serde_json::{Value, json};
use ucp_shop::{Method, SoldLine};

use crate::client::{
    Client, NOW, ORIGIN, SESSIONS, address, agreement, body, chosen, error, order, path, total,
};
use crate::mandates::receipt;
use crate::schema::assert_message;

#[test]
fn an_honest_order_is_sold_once() {
    let mut client = Client::new();
    let created = client.create();
    assert_eq!((created["status"].as_str(), &*error(&created)), (Some("incomplete"), "option_required"));
    let method = &created["fulfillment"]["methods"][0];
    assert_eq!(method["selected_destination_id"], "dest_1");
    assert_eq!(method["destinations"][0]["street_address"], address()["street_address"]);
    let options = method["groups"][0]["options"].as_array().unwrap();
    let titles: Vec<&Value> = options.iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["Standard", "Express"]);
    assert_ne!(options[0]["totals"], options[1]["totals"]);
    assert_eq!(total(&created), 3800 + 304);
    assert_eq!(created["expires_at"], "2026-11-29T06:18:13Z");

    let ready = client.choose(&created, "express");
    assert_eq!((ready["status"].as_str(), &*error(&ready)), (Some("ready_for_complete"), ""));
    assert_eq!(total(&ready), 3800 + 304 + 1500);
    assert_eq!(ready["ap2"]["nonce"], created["ap2"]["nonce"]);
    assert_eq!(client.show(&ready), ready, "asking again changes nothing");
    assert_eq!(client.sales(), 0);

    let mandates = client.authorise(&ready);
    let answer = client.complete_with(&ready, &mandates);
    let completed = body(&answer);
    assert!(!answer.is_late);
    assert_eq!((completed["status"].as_str(), &*error(&completed)), (Some("completed"), ""));
    assert_eq!(total(&completed), total(&ready));
    // It is signed too, and no mandate is signed for it, since it is completed.
    let signed = client.verify(&completed).unwrap();
    assert_eq!(signed.agreed(&agreement(&completed), client.now).err(), Some(Difference::State));
    assert_eq!(client.show(&completed), completed);

    let [sale] = client.shop.ledger() else { panic!("one sale") };
    assert_eq!(sale.order, completed["order"]["id"].as_str().unwrap());
    assert_eq!(sale.session, ready["id"].as_str().unwrap());
    assert_eq!(&sale.payee, client.shop.merchant());
    let line = SoldLine {
        item: "kettle".into(),
        title: "Kettle".into(),
        quantity: 2.try_into().unwrap(),
        price: 1900,
    };
    assert_eq!(sale.lines, [line]);
    assert_eq!((sale.total.amount, sale.total.currency.to_string()), (total(&ready), "USD".into()));
    assert_eq!(serde_json::to_value(&sale.destination).unwrap(), address());
    assert_eq!(sale.at, NOW);

    let order = sale.order.clone();
    let bought = receipt(&completed["ap2"]["checkout_receipt"]).unwrap();
    let paid = receipt(&completed["ap2"]["payment_receipt"]).unwrap();
    for receipt in [&bought, &paid] {
        assert_eq!(
            (&receipt["status"], &receipt["iss"], &receipt["iat"]),
            (&json!("Success"), &json!(ORIGIN), &json!(NOW))
        );
    }
    assert_eq!(bought["order_id"], *order);
    assert_eq!(bought["reference"], crate::mandates::reference(&mandates.checkout));
    assert_eq!(paid["reference"], crate::mandates::reference(&mandates.payment));
    for name in ["payment_id", "psp_confirmation_id", "network_confirmation_id"] {
        assert!(paid[name].is_string(), "{name}");
    }
}

#[test]
fn the_profile_says_what_the_shop_is() {
    let mut client = Client::new();
    let profile = client.profile();
    assert_eq!((profile.version(), profile.takes_mandates()), (Version::April8, true));
    assert_eq!(profile.endpoint().as_str(), "https://kettles.example/ucp/v1");
    let text = body(&client.send(Method::Get, PROFILE_PATH, &[], b""));
    let mandates = &text["ucp"]["capabilities"]["dev.ucp.shopping.ap2_mandate"][0];
    assert_eq!(mandates["config"]["vp_formats_supported"], json!({"dc+sd-jwt": {}}));
    let handlers = &text["ucp"]["payment_handlers"]["dev.portcullis.test_money"];
    assert_eq!(
        *handlers,
        json!([{"id": "test_money", "version": "2026-04-08", "name": "test money, no real payment"}])
    );
    assert!(text["signing_keys"][0]["kid"].is_string());
    assert_eq!(client.sales(), 0);
}

#[test]
fn with_a_single_delivery_the_checkout_is_ready_at_once() {
    let mut client = Client::new();
    client.shop = client.shop.with_single_delivery();
    let ready = client.create();
    assert_eq!((ready["status"].as_str(), total(&ready)), (Some("ready_for_complete"), 3800 + 304 + 500));
    assert_eq!(client.complete(&ready)["status"], "completed");
    assert_eq!(client.sales(), 1);
}

#[test]
fn an_order_says_what_it_lacks() {
    let mut client = Client::new();
    let ready = client.ready();
    let lacking = |change: fn(&mut Value)| {
        let mut order = chosen(&ready, "standard");
        change(&mut order);
        order
    };
    let method = "/fulfillment/methods/0";
    for (order, code) in [
        (lacking(|it| drop(it.as_object_mut().unwrap().remove("fulfillment"))), "fulfillment_required"),
        (lacking(|it| it["fulfillment"]["methods"] = json!([])), "fulfillment_required"),
        (lacking(|it| it["fulfillment"]["methods"][0]["destinations"] = json!([])), "fulfillment_required"),
        (
            lacking(|it| {
                it["fulfillment"]["methods"][0]["destinations"] = json!([address(), address()]);
                it["fulfillment"]["methods"][0]["selected_destination_id"] = json!("dest_3");
            }),
            "destination_required",
        ),
        (
            lacking(|it| it["fulfillment"]["methods"][0]["destinations"][0]["street_address"] = json!(" ")),
            "address_undeliverable",
        ),
        (lacking(|it| it["fulfillment"]["methods"][0]["groups"] = json!([])), "option_required"),
        (
            lacking(|it| it["fulfillment"]["methods"][0]["groups"][0]["selected_option_id"] = json!("owl")),
            "option_required",
        ),
    ] {
        let answer = body(&client.put(&path(&ready), &order));
        assert_eq!((answer["status"].as_str(), &*error(&answer)), (Some("incomplete"), code));
        assert!(client.verify(&answer).is_ok(), "it is signed too");
    }
    let mut several = chosen(&ready, "standard");
    let there = several.pointer_mut(method).unwrap();
    there["destinations"] = json!([address(), {"street_address": "1 Second Street", "address_locality": "Bath", "address_country": "GB"}]);
    there["selected_destination_id"] = json!("dest_2");
    let answer = body(&client.put(&path(&ready), &several));
    assert_eq!(answer["status"], "ready_for_complete");
    assert_eq!(answer["fulfillment"]["methods"][0]["selected_destination_id"], "dest_2");
    let restored = client.choose(&ready, "standard");
    assert_eq!(restored, ready, "an update replaces everything");
    assert_eq!(client.complete(&restored)["status"], "completed");
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_buyer_is_repeated() {
    let mut client = Client::new();
    let mut order = order();
    order["buyer"] = json!({"first_name": "Ada", "email": "ada@canary.example"});
    let answer = body(&client.post(SESSIONS, &order));
    assert_eq!(answer["buyer"], order["buyer"]);
    assert!(client.verify(&answer).is_ok());
    assert_eq!(client.sales(), 0);
}

#[test]
fn what_is_not_there_makes_no_checkout() {
    let mut client = Client::new();
    let wanted = |id: &str, quantity: u64| json!({"item": {"id": id}, "quantity": quantity});
    for (lines, code) in [
        (json!([wanted("spoon", 1)]), "item_unavailable"),
        (json!([wanted("kettle", 1), wanted("spoon", 1)]), "item_unavailable"),
        (json!([wanted("kettle", 11)]), "out_of_stock"),
        (json!([wanted("kettle", u64::from(u32::MAX))]), "out_of_stock"),
        (json!([wanted("teapot", 1), wanted("teapot", 1)]), "out_of_stock"),
    ] {
        let answer = client.post(SESSIONS, &json!({"line_items": lines}));
        assert_eq!(answer.status, 200);
        let answer = body(&answer);
        let mut members: Vec<&String> = answer.as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(members, ["messages", "ucp"], "the schema allows no other member");
        assert_eq!(answer["ucp"]["status"], "error");
        assert_message(&answer["messages"][0]);
        assert_eq!(
            (&*error(&answer), answer["messages"][0]["severity"].as_str()),
            (code, Some("unrecoverable"))
        );
    }
    assert_eq!(client.sales(), 0);
}

#[test]
fn the_last_piece_is_sold_once() {
    let mut client = Client::new();
    let mut order = order();
    order["line_items"] = json!([{"item": {"id": "teapot"}, "quantity": 1}]);
    let sessions = [(); 2].map(|()| {
        let checkout = body(&client.post(SESSIONS, &order));
        client.choose(&checkout, "standard")
    });
    assert_eq!(client.complete(&sessions[0])["status"], "completed");
    let second = client.complete(&sessions[1]);
    assert_eq!((second["status"].as_str(), &*error(&second)), (Some("ready_for_complete"), "out_of_stock"));
    assert_eq!(error(&body(&client.post(SESSIONS, &order))), "out_of_stock");
    assert_eq!(client.sales(), 1);
}
