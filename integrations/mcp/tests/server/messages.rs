//! Messages that the server cannot carry out: each has an error, and the server goes on.

use crate::support::{Client, guard_for, with_gateway};
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::{GatewaySettings, Snapshots};
use portcullis::audit::MemoryLog;
use serde_json::{Value, json};

/// Runs a client that has opened the scenario's page.
async fn with_client(use_it: impl AsyncFnOnce(&mut Client)) {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    let guard = guard_for(&stage, &scenario, &MemoryLog::default());
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_gateway(guard, &stage, settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        assert!(!client.call("browser_navigate", json!({ "url": url })).await.is_error);
        use_it(client).await;
        let status = client.call("portcullis_status", json!({})).await;
        assert!(status.text.contains("container: T0"), "{status:?}");
    })
    .await;
}

fn tool(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_arguments_and_unknown_tools_are_invalid_parameters() {
    with_client(async |client| {
        for params in [
            tool("browser_click", json!({ "target": 4_111_111_111_111_111_u64 })),
            tool("browser_fill_form", json!({ "fields": "4111111111111111" })),
            tool("browser_click", json!({})),
            tool("browser_click", json!({ "target": "e1", "button": "4111111111111111" })),
            tool("browser_snapshot", json!({ "filename": "/4111111111111111" })),
            tool("browser_run_code_unsafe", json!({ "code": "4111111111111111" })),
            tool("4111111111111111", json!({})),
            tool("browser_click", json!("4111111111111111")),
            json!({ "name": 4_111_111_111_111_111_u64 }),
        ] {
            let answer = client.ask("tools/call", params.clone()).await;
            assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.starts_with(char::is_lowercase) && !message.contains("4111"), "{answer}");
        }
        let unknown = client.ask("4111111111111111", json!({})).await;
        assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
        assert!(!unknown["error"]["message"].to_string().contains("4111"), "{unknown}");
        // What the page or the guard refuses stays the tool's own answer, which the model reads.
        let refused = client.ask("tools/call", tool("browser_click", json!({ "target": "e99999" }))).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_message_have_an_error() {
    with_client(async |client| {
        for line in [&b"{\"jsonrpc\": \"2.0\", \"id\": 4111111111111111"[..], b"hello", b"\"\xff\xfe\""] {
            client.raw(line).await;
            let error = client.error_without_a_number().await;
            assert_eq!(error["error"]["code"], -32700, "{error}");
            assert!(!error.to_string().contains("4111"), "{error}");
        }
        client.raw(b"[]").await;
        assert_eq!(client.error_without_a_number().await["error"]["code"], -32600);
        client.send(&json!({ "jsonrpc": "2.0", "id": 700, "params": {} })).await;
        assert_eq!(client.answer(700).await["error"]["code"], -32600);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_oversized_message_has_an_error_before_its_end() {
    with_client(async |client| {
        client.part(&[b'['; 5_000]).await;
        let error = client.error_without_a_number().await;
        assert_eq!(error["error"]["code"], -32600, "{error}");
        assert!(error["error"]["message"].as_str().unwrap().contains("64 levels"), "{error}");
        client.raw(&[b']'; 5_000]).await;
        let begin = br#"{"jsonrpc":"2.0","id":701,"method":"tools/call","params":{"name":""#;
        client.part(&[&begin[..], &vec![b'a'; 16 << 20]].concat()).await;
        let error = client.error_without_a_number().await;
        assert!(error["error"]["message"].as_str().unwrap().contains("16 MiB"), "{error}");
        client.raw(br#""}}"#).await;
        // A message may be as long as that.
        let text = "a".repeat(15 << 20);
        let answer = client.call("browser_type", json!({ "target": "e99999", "text": text })).await;
        assert!(answer.is_error, "{answer:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_call_that_is_cancelled_is_not_carried_out() {
    with_client(async |client| {
        let first = client.post("browser_wait_for", json!({ "time": 3 })).await;
        let second = client.post("browser_close", json!({})).await;
        let cancel = json!({ "requestId": second, "reason": "not that" });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
        client.send(&cancelled).await;
        // One that has started is carried out to its end.
        let third = client.post("browser_wait_for", json!({ "time": 0 })).await;
        assert!(!client.said(first).await.is_error && !client.said(third).await.is_error);
        let status = client.call("portcullis_status", json!({})).await;
        assert!(status.text.contains("container: T0"), "the page was closed: {status:?}");
        assert!(!client.received.contains(&format!("\"id\":{second},")), "{}", client.received);
    })
    .await;
}
