//! The states of a session.

use serde_json::{Value, json};
use ucp_shop::Answer;

use crate::client::{Client, NOW, body, chosen, completion, error, path};

/// A change of a body.
type Change = fn(&mut Value);

/// The session is closed for this call, in both of UCP's forms.
fn assert_closed(answer: &Answer) {
    let said = body(answer);
    assert_eq!((answer.status, said["code"].as_str()), (409, Some("invalid_state")));
    assert_eq!((said["ucp"]["status"].as_str(), &*error(&said)), (Some("error"), "invalid_state"));
}

/// No call changes this session.
fn assert_immutable(
    client: &mut Client,
    checkout: &Value,
    ready: &Value,
    mandates: &checkout_protocols::Mandates,
) {
    let update = client.put(&path(ready), &chosen(ready, "express"));
    assert_closed(&update);
    assert_closed(&client.complete_with(ready, mandates));
    assert_closed(&client.cancel(ready));
    assert_eq!(client.show(checkout), *checkout);
}

#[test]
fn a_completed_session_is_immutable() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    let completed = body(&client.complete_with(&ready, &mandates));
    assert_eq!(completed["status"], "completed");
    assert_immutable(&mut client, &completed, &ready, &mandates);
    client.now += 7 * 86_400;
    assert_eq!(client.show(&completed), completed, "what is sold does not expire");
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_canceled_session_is_immutable() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    let answer = client.cancel(&ready);
    let canceled = body(&answer);
    assert_eq!((answer.status, canceled["status"].as_str()), (200, Some("canceled")));
    assert_immutable(&mut client, &canceled, &ready, &mandates);
    assert_eq!(client.sales(), 0);
}

#[test]
fn an_incomplete_session_can_be_canceled_but_not_completed() {
    let mut client = Client::new();
    let other = client.ready();
    let mandates = client.authorise(&other);
    let created = client.create();
    let refused = body(&client.complete_with(&created, &mandates));
    assert_eq!(refused["status"], "incomplete");
    let codes: Vec<&Value> = refused["messages"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, ["option_required", "invalid_state"]);
    assert_eq!(client.show(&created), created, "it stays as it was");
    assert_eq!(body(&client.cancel(&created))["status"], "canceled");
    assert_eq!(client.sales(), 0);
}

#[test]
fn an_expired_session_is_not_completed() {
    let mut client = Client::new();
    let (in_time, late) = (client.ready(), client.ready());
    client.now = NOW + 30 * 60 - 61;
    let (good, spent) = (client.authorise(&in_time), client.authorise(&late));
    client.now = NOW + 30 * 60 - 1;
    assert_eq!(body(&client.complete_with(&in_time, &good))["status"], "completed");
    assert_eq!(client.sales(), 1);
    client.now = NOW + 30 * 60;
    assert_closed(&client.complete_with(&late, &spent));
    let expired = client.show(&late);
    assert_eq!((expired["status"].as_str(), &*error(&expired)), (Some("canceled"), "canceled"));
    assert_immutable(&mut client, &expired, &late, &spent);
    assert_eq!(client.sales(), 1);
}

#[test]
fn an_update_after_the_mandates_makes_them_void() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    let express = client.choose(&ready, "express");
    let refused = body(&client.complete_with(&ready, &mandates));
    assert_eq!(
        (refused["status"].as_str(), &*error(&refused)),
        (Some("ready_for_complete"), "mandate_scope_mismatch")
    );
    assert_eq!(client.sales(), 0);
    assert_eq!(client.complete(&express)["status"], "completed");
    assert_eq!(client.sales(), 1);
}

#[test]
fn sessions_have_names_and_nonces_of_their_own() {
    let mut client = Client::new();
    let (first, second) = (client.create(), client.create());
    assert_ne!(first["id"], second["id"]);
    assert_ne!(first["ap2"]["nonce"], second["ap2"]["nonce"]);
    assert_eq!(client.sales(), 0);
}

#[test]
fn a_completion_without_its_parts_leaves_the_session_open() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    let complete = format!("{}/complete", path(&ready));
    let changes: &[(Change, &str)] = &[
        (|it| *it = json!({}), "mandate_required"),
        (|it| drop(it.as_object_mut().unwrap().remove("ap2")), "mandate_required"),
        (|it| it["ap2"] = json!({}), "mandate_required"),
        (|it| it["payment"]["instruments"] = json!([]), "mandate_required"),
        (|it| it["payment"]["instruments"][0]["credential"]["type"] = json!("card"), "mandate_required"),
        (
            |it| drop(it["payment"]["instruments"][0].as_object_mut().unwrap().remove("credential")),
            "mandate_required",
        ),
        (|it| it["payment"]["instruments"][0]["id"] = json!("other"), "payment_failed"),
        (|it| it["payment"]["instruments"][0]["type"] = json!("card"), "payment_failed"),
        (|it| it["payment"]["instruments"][0]["handler_id"] = json!("card"), "payment_failed"),
        (
            |it| {
                let instrument = it["payment"]["instruments"][0].clone();
                it["payment"]["instruments"].as_array_mut().unwrap().push(instrument);
            },
            "mandate_required",
        ),
    ];
    for (change, code) in changes {
        let mut body_sent = completion(&mandates);
        change(&mut body_sent);
        let answer = client.post(&complete, &body_sent);
        let said = body(&answer);
        assert_eq!(
            (answer.status, said["status"].as_str(), &*error(&said)),
            (200, Some("ready_for_complete"), *code)
        );
        assert_eq!(client.sales(), 0);
    }
    assert_eq!(client.show(&ready), ready);
    assert_eq!(
        body(&client.complete_with(&ready, &mandates))["status"],
        "completed",
        "refusals spend no mandate"
    );
    assert_eq!(client.sales(), 1);
}
