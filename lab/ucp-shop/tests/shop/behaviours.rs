//! Each way in which the shop can cheat or break does what its name says, and an honest shop does not.

use checkout_protocols::{CheckoutFault, Difference, JwsFault, PROFILE_PATH, Profile, ProfileFault};
use serde_json::{Value, json};
use ucp_shop::{Behaviour, ELSEWHERE, Method};

use crate::client::{Client, ORIGIN, agreement, body, completion, error, path, total};
use crate::mandates::{receipt, reference};

/// What an honest shop answers to the same calls.
fn honest() -> Value {
    Client::new().ready()
}

/// The first difference from the honest checkout, and the number of sales so far.
fn difference(client: &mut Client, checkout: &Value) -> Option<Difference> {
    assert_eq!(client.sales(), 0);
    client.verify(checkout).unwrap().agreed(&agreement(&honest()), client.now).err()
}

#[test]
fn an_honest_shop_differs_in_nothing() {
    let mut client = Client::behaving(Behaviour::Honest);
    let ready = client.ready();
    assert_eq!(difference(&mut client, &ready), None);
    assert_eq!(client.complete(&ready)["status"], "completed");
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_shop_raises_its_total_after_ready() {
    let mut client = Client::behaving(Behaviour::RaisesTotalAfterReady);
    let ready = client.ready();
    assert_eq!(ready, honest());
    let mandates = client.authorise(&ready);
    let raised = client.show(&ready);
    assert_eq!(total(&raised), total(&ready) + 500);
    assert_eq!(difference(&mut client, &raised), Some(Difference::Total));
    let refused = body(&client.complete_with(&ready, &mandates));
    assert_eq!((error(&refused).as_str(), total(&refused)), ("mandate_scope_mismatch", total(&raised)));
    assert_eq!(client.sales(), 0);
    assert_eq!(client.complete(&raised)["status"], "completed", "whoever agrees to it pays it");
    assert_eq!(client.shop.ledger()[0].total.amount, total(&raised));
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_raise_is_seen_first_in_the_completion() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    client.shop.behave(Behaviour::RaisesTotalAfterReady);
    let refused = body(&client.complete_with(&ready, &mandates));
    assert_eq!((error(&refused).as_str(), total(&refused)), ("mandate_scope_mismatch", total(&ready) + 500));
    assert_eq!(client.sales(), 0);
}

#[test]
fn a_shop_changes_what_it_offers() {
    for (behaviour, expected) in [
        (Behaviour::AddsLine, Difference::Lines),
        (Behaviour::ChangesQuantity, Difference::Lines),
        (Behaviour::ChangesCurrency, Difference::Currency),
        (Behaviour::OtherPayee, Difference::Payee),
        (Behaviour::ChangesAddress, Difference::Address),
        (Behaviour::LooksInstructed, Difference::Message),
    ] {
        let mut client = Client::behaving(behaviour);
        assert_ne!(client.create(), Client::new().create(), "{behaviour:?} from the start");
        assert_eq!(client.sales(), 0);
        // A change after the mandates sells nothing.
        let mut client = Client::new();
        let ready = client.ready();
        let mandates = client.authorise(&ready);
        client.shop.behave(behaviour);
        let changed = client.show(&ready);
        assert_eq!(difference(&mut client, &changed), Some(expected), "{behaviour:?}");
        let refused = body(&client.complete_with(&ready, &mandates));
        assert_eq!(error(&refused), "mandate_scope_mismatch", "{behaviour:?}");
        assert_eq!(client.sales(), 0);
        // Whoever agrees to the change gets it.
        assert_eq!(client.complete(&changed)["status"], "completed", "{behaviour:?}");
        assert_eq!(client.sales(), 1);
    }
}

/// What is sold by a shop of this behaviour to a client that agrees to everything.
fn sold(behaviour: Behaviour) -> ucp_shop::Sale {
    let mut client = Client::new();
    let ready = client.ready();
    client.shop.behave(behaviour);
    let changed = client.show(&ready);
    assert_eq!(client.complete(&changed)["status"], "completed");
    let [sale] = client.shop.ledger() else { panic!("one sale") };
    sale.clone()
}

#[test]
fn the_ledger_has_what_was_really_sold() {
    let honest = sold(Behaviour::Honest);
    assert_eq!(honest.lines.len(), 1);
    let added = sold(Behaviour::AddsLine);
    assert_eq!((added.lines.len(), &*added.lines[1].title), (2, "Gift wrap"));
    assert_eq!(sold(Behaviour::ChangesQuantity).lines[0].quantity.get(), 3);
    assert_eq!(sold(Behaviour::ChangesCurrency).total.currency.to_string(), "JPY");
    assert_eq!(sold(Behaviour::ChangesCurrency).total.amount, honest.total.amount);
    assert_eq!(sold(Behaviour::OtherPayee).payee.name, "Elsewhere Trading");
    assert_eq!(sold(Behaviour::ChangesAddress).destination.street_address, "99 Elsewhere Alley");
}

#[test]
fn instructions_are_in_titles_and_messages() {
    let mut client = Client::behaving(Behaviour::LooksInstructed);
    let ready = client.ready();
    assert!(ready["line_items"][0]["item"]["title"].as_str().unwrap().contains("SYSTEM"));
    let content = ready["messages"][0]["content"].as_str().unwrap();
    assert!(content.starts_with("Assistant:"), "{content}");
    assert_eq!(ready["line_items"][0]["item"]["id"], "kettle");
    assert_eq!(client.sales(), 0);
}

#[test]
fn checkouts_without_the_shops_signature_sell_nothing() {
    let faults = [
        (Behaviour::UnsignedCheckout, JwsFault::Form, "merchant_authorization_missing"),
        (Behaviour::SignsWithOtherKey, JwsFault::Signature, "merchant_authorization_invalid"),
    ];
    for (behaviour, fault, code) in faults {
        let mut client = Client::new();
        let ready = client.ready();
        let mandates = client.authorise(&ready);
        client.shop.behave(behaviour);
        let changed = client.show(&ready);
        assert_eq!(client.verify(&changed).err(), Some(CheckoutFault::Signed(fault)));
        assert_eq!(changed["ap2"].get("merchant_authorization").is_some(), fault == JwsFault::Signature);
        assert_eq!(error(&body(&client.complete_with(&ready, &mandates))), code);
        assert_eq!(client.sales(), 0);
    }
}

#[test]
fn a_shop_asks_for_the_sum_each_month() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    client.shop.behave(Behaviour::Recurring);
    let changed = client.show(&ready);
    assert_eq!(changed["payment_terms"]["interval"], "month");
    assert_eq!(client.verify(&changed).err(), Some(CheckoutFault::Unknown("payment_terms".into())));
    assert_eq!(error(&body(&client.complete_with(&ready, &mandates))), "merchant_authorization_invalid");
    assert_eq!(client.sales(), 0);
}

#[test]
fn a_profile_leads_elsewhere() {
    let mut client = Client::behaving(Behaviour::RedirectsProfile);
    let answer = client.send(Method::Get, PROFILE_PATH, &[], b"");
    let location = answer.headers.iter().find(|(name, _)| name == "Location").unwrap();
    assert_eq!((answer.status, &*location.1), (302, "https://elsewhere.example/.well-known/ucp"));
    client.shop.behave(Behaviour::EndpointElsewhere);
    let answer = client.send(Method::Get, PROFILE_PATH, &[], b"");
    let endpoint = &body(&answer)["ucp"]["services"]["dev.ucp.shopping"][0]["endpoint"];
    assert_eq!(*endpoint, format!("{ELSEWHERE}/ucp/v1"));
    let read = Profile::read(&answer.body, &ORIGIN.parse().unwrap());
    assert_eq!(read, Err(ProfileFault::Elsewhere));
    assert_eq!(client.sales(), 0);
}

#[test]
fn a_shop_wants_a_person_to_go_on() {
    for (behaviour, origin) in [(Behaviour::Escalates, ORIGIN), (Behaviour::EscalatesElsewhere, ELSEWHERE)] {
        let mut client = Client::new();
        let ready = client.ready();
        let mandates = client.authorise(&ready);
        client.shop.behave(behaviour);
        let escalated = client.show(&ready);
        assert_eq!(escalated["status"], "requires_escalation");
        assert_eq!(escalated["messages"][0]["severity"], "requires_buyer_review");
        let url = escalated["continue_url"].as_str().unwrap();
        assert!(url.starts_with(&format!("{origin}/checkout/")), "{url}");
        assert_eq!(difference(&mut client, &escalated), Some(Difference::State));
        assert_eq!(body(&client.complete_with(&ready, &mandates))["status"], "requires_escalation");
        assert_eq!(client.create()["status"], "incomplete", "only a checkout that is ready escalates");
        assert_eq!(client.sales(), 0);
    }
}

#[test]
fn an_answer_is_late() {
    let mut client = Client::behaving(Behaviour::AnswersLate);
    let ready = client.ready();
    let (key, complete) = (client.fresh_key(), format!("{}/complete", path(&ready)));
    let mandates = client.authorise(&ready);
    let late = client.send_as(&key, Method::Post, &complete, &completion(&mandates));
    assert!(late.is_late);
    assert_eq!(client.sales(), 1, "it was carried out");
    let again = client.send_as(&key, Method::Post, &complete, &completion(&mandates));
    assert!(!again.is_late);
    assert_eq!(again.body, late.body);
    assert_eq!(client.show(&ready)["status"], "completed");
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_completion_is_dropped() {
    let mut client = Client::behaving(Behaviour::DropsComplete);
    let ready = client.ready();
    let (key, complete) = (client.fresh_key(), format!("{}/complete", path(&ready)));
    let mandates = client.authorise(&ready);
    for _ in 0..2 {
        assert!(client.send_as(&key, Method::Post, &complete, &completion(&mandates)).is_late);
        assert_eq!(client.show(&ready), ready);
        assert_eq!(client.sales(), 0);
    }
    client.shop.behave(Behaviour::Honest);
    let answer = client.send_as(&key, Method::Post, &complete, &completion(&mandates));
    assert_eq!((answer.is_late, body(&answer)["status"].as_str()), (false, Some("completed")));
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_completion_takes_time() {
    let mut client = Client::behaving(Behaviour::InProgress);
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    let accepted = body(&client.complete_with(&ready, &mandates));
    assert_eq!(accepted["status"], "complete_in_progress");
    assert!(accepted["ap2"].get("checkout_receipt").is_none());
    assert_eq!(client.complete_with(&ready, &mandates).status, 409);
    assert_eq!(client.cancel(&ready).status, 409);
    let completed = client.show(&ready);
    assert_eq!(completed["status"], "completed");
    assert!(receipt(&completed["ap2"]["payment_receipt"]).is_some());
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_shop_sells_for_more_than_was_agreed() {
    let mut client = Client::behaving(Behaviour::CompletesWithOtherTotal);
    let ready = client.ready();
    assert_eq!(client.show(&ready), honest(), "nothing shows it before");
    let completed = client.complete(&ready);
    assert_eq!((completed["status"].as_str(), total(&completed)), (Some("completed"), total(&ready) + 500));
    assert_eq!(client.shop.ledger()[0].total.amount, total(&ready) + 500);
    assert_eq!(client.sales(), 1);
}

#[test]
fn receipts_are_not_what_they_should_be() {
    for behaviour in [Behaviour::Honest, Behaviour::ReceiptUnsigned, Behaviour::ReceiptForAnother] {
        let mut client = Client::behaving(behaviour);
        let ready = client.ready();
        let mandates = client.authorise(&ready);
        let completed = body(&client.complete_with(&ready, &mandates));
        for (name, mandate) in
            [("checkout_receipt", &mandates.checkout), ("payment_receipt", &mandates.payment)]
        {
            let receipt = receipt(&completed["ap2"][name]);
            assert_eq!(receipt.is_none(), behaviour == Behaviour::ReceiptUnsigned, "{behaviour:?}");
            let is_own = receipt.map(|it| it["reference"] == json!(reference(mandate)));
            assert!(is_own.is_none_or(|is_own| is_own == (behaviour == Behaviour::Honest)), "{behaviour:?}");
        }
        assert_eq!(client.sales(), 1);
    }
}
