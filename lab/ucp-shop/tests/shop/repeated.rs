//! Repeated calls, and calls of the wrong form.

use serde_json::json;
use ucp_shop::Method;

use crate::client::{Client, SESSIONS, body, chosen, completion, order, path};

const AGENT: (&str, &str) = ("UCP-Agent", "profile=\"https://guard.example/profile\"");
const JSON: (&str, &str) = ("Content-Type", "application/json");
const KEY: (&str, &str) = ("Idempotency-Key", "0123456789abcdefghijkl");

#[test]
fn the_same_call_has_the_same_answer() {
    let mut client = Client::new();
    let created = client.send_as("key-of-22-characters-1", Method::Post, SESSIONS, &order());
    assert_eq!(client.send_as("key-of-22-characters-1", Method::Post, SESSIONS, &order()), created);
    let checkout = body(&created);
    let chosen = chosen(&checkout, "standard");
    let ready = client.send_as("key-of-22-characters-2", Method::Put, &path(&checkout), &chosen);
    assert_eq!(client.send_as("key-of-22-characters-2", Method::Put, &path(&checkout), &chosen), ready);
    let ready = body(&ready);
    let (complete, mandates) = (format!("{}/complete", path(&ready)), client.authorise(&ready));
    let sold = client.send_as("key-of-22-characters-3", Method::Post, &complete, &completion(&mandates));
    assert_eq!(body(&sold)["status"], "completed");
    assert_eq!(client.sales(), 1);
    for _ in 0..3 {
        client.now += 3600;
        let again = client.send_as("key-of-22-characters-3", Method::Post, &complete, &completion(&mandates));
        assert_eq!(again, sold);
    }
    assert_eq!(
        client.send_as("key-of-22-characters-1", Method::Post, SESSIONS, &order()),
        created,
        "as it was then"
    );
    assert_eq!(client.sales(), 1);
}

#[test]
fn a_key_on_another_call_is_refused() {
    let mut client = Client::new();
    let key = "key-of-22-characters-1";
    let created = client.send_as(key, Method::Post, SESSIONS, &order());
    let checkout = body(&created);
    let mut other = order();
    other["line_items"][0]["quantity"] = json!(3);
    let spaced = format!(" {}", order());
    let conflicts = [
        client.send_as(key, Method::Post, SESSIONS, &other),
        client.send_as(key, Method::Put, &path(&checkout), &order()),
        client.send_as(key, Method::Post, &format!("{}/complete", path(&checkout)), &order()),
        client.send(Method::Post, SESSIONS, &[AGENT, JSON, ("Idempotency-Key", key)], spaced.as_bytes()),
    ];
    for answer in conflicts {
        assert_eq!((answer.status, body(&answer)["code"].as_str()), (409, Some("idempotency_conflict")));
        assert!(body(&answer)["content"].is_string());
    }
    let other_agent = ("UCP-Agent", "profile=\"https://other.example/profile\"");
    let headers = [other_agent, JSON, ("Idempotency-Key", key)];
    let answer = client.send(Method::Post, SESSIONS, &headers, order().to_string().as_bytes());
    assert_ne!(body(&answer)["id"], checkout["id"], "another client's key is another key");
    assert_eq!(client.sales(), 0);
}

#[test]
fn a_call_without_its_headers_is_refused() {
    let mut client = Client::new();
    let text = order().to_string();
    let good = client.send(Method::Post, SESSIONS, &[AGENT, JSON, KEY], text.as_bytes());
    assert_eq!(good.status, 201);
    let path = path(&body(&good));
    for headers in [
        vec![JSON, KEY],
        vec![AGENT, KEY],
        vec![AGENT, JSON],
        vec![AGENT, AGENT, JSON, KEY],
        vec![("UCP-Agent", "https://guard.example/profile"), JSON, KEY],
        vec![("UCP-Agent", "profile=\"guard\""), JSON, KEY],
        vec![AGENT, ("Content-Type", "text/plain"), KEY],
        vec![AGENT, JSON, ("Idempotency-Key", "0123456789abcdefghijk")],
    ] {
        for (method, path) in
            [(Method::Post, SESSIONS), (Method::Put, &*path), (Method::Post, &format!("{path}/cancel"))]
        {
            let answer = client.send(method, path, &headers, text.as_bytes());
            assert_eq!(answer.status, 422, "{headers:?}");
            assert!(body(&answer)["code"].is_string() && body(&answer)["content"].is_string());
        }
    }
    assert_eq!(client.send(Method::Get, &path, &[], b"").status, 422);
    assert_eq!(client.send(Method::Get, &path, &[AGENT], b"").status, 200, "the control");
    let with_charset = ("content-type", "application/json; charset=utf-8");
    let key = ("idempotency-key", "another-key-of-22-chars");
    assert_eq!(client.send(Method::Post, SESSIONS, &[AGENT, with_charset, key], text.as_bytes()).status, 201);
    assert_eq!(client.sales(), 0);
}

#[test]
fn a_body_of_another_form_is_refused() {
    let mut client = Client::new();
    let line = r#"{"item":{"id":"kettle"},"quantity":1}"#;
    for text in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"line_items":[]}"#,
        r#"{"line_items":[{"item":{"id":"kettle"},"quantity":0}]}"#,
        r#"{"line_items":[{"item":{"id":"kettle"},"quantity":-1}]}"#,
        r#"{"line_items":[{"item":{"id":"kettle"},"quantity":1.5}]}"#,
        r#"{"line_items":[{"item":{"id":"kettle"},"quantity":1,"quantity":9}]}"#,
        &format!(r#"{{"line_items":[{line}],"line_items":[{line}]}}"#),
        &format!(r#"{{"line_items":[{line}],"fulfillment":{{"methods":[{{"type":"pickup"}}]}}}}"#),
        &format!(
            r#"{{"line_items":[{line}],"fulfillment":{{"methods":[{{"type":"shipping"}},{{"type":"shipping"}}]}}}}"#
        ),
    ] {
        let key = client.fresh_key();
        let headers = [AGENT, JSON, ("Idempotency-Key", &*key)];
        let answer = client.send(Method::Post, SESSIONS, &headers, text.as_bytes());
        assert_eq!((answer.status, body(&answer)["code"].as_str()), (400, Some("invalid_request")), "{text}");
    }
    let ready = client.ready();
    assert_eq!(client.post(&format!("{}/complete", path(&ready)), &json!([])).status, 400);
    assert_eq!(client.post(&format!("{}/cancel", path(&ready)), &json!([])).status, 400);
    assert_eq!(client.show(&ready), ready);
    assert_eq!(client.sales(), 0);
}

#[test]
fn paths_that_are_not_there_are_refused() {
    let mut client = Client::new();
    let checkout = client.create();
    let path = path(&checkout);
    for (method, path, status) in [
        (Method::Get, "/".to_owned(), 404),
        (Method::Get, "/ucp/v1/carts".to_owned(), 404),
        (Method::Get, format!("{SESSIONS}/"), 404),
        (Method::Get, format!("{SESSIONS}/chk_none"), 404),
        (Method::Get, format!("{SESSIONS}x"), 404),
        (Method::Put, format!("{SESSIONS}/chk_none"), 404),
        (Method::Post, format!("{SESSIONS}/chk_none/complete"), 404),
        (Method::Post, format!("{SESSIONS}/chk_none/cancel"), 404),
        (Method::Post, format!("{path}/refund"), 404),
        (Method::Post, format!("{path}/complete/now"), 404),
        (Method::Get, SESSIONS.to_owned(), 405),
        (Method::Get, format!("{path}/complete"), 405),
        (Method::Post, path.clone(), 405),
        (Method::Post, "/.well-known/ucp".to_owned(), 405),
        (Method::Get, path.clone(), 200),
    ] {
        let key = client.fresh_key();
        let answer = client.send_as(&key, method, &path, &order());
        assert_eq!(answer.status, status, "{method:?} {path}");
    }
    assert_eq!(client.sales(), 0);
}
