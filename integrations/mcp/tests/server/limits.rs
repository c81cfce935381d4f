//! An agent or a page can use only a bounded amount of the guard's memory and time.

use std::time::{Duration, Instant};

use crate::support::{Client, guard_for, with_gateway};
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::{Allowed, GatewaySettings, Snapshots};
use portcullis::audit::MemoryLog;
use serde_json::json;

fn call(number: u64, tool: &str, arguments: serde_json::Value) -> serde_json::Value {
    json!({
        "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_is_bounded_and_ends_with_the_client() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    let guard = guard_for(&stage, &scenario, &MemoryLog::default());
    let left = with_gateway(guard, &stage, GatewaySettings::default(), async |client: &mut Client| {
        client.begin("2025-06-18").await;
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        assert!(!client.call("browser_navigate", json!({ "url": url })).await.is_error);
        // While this call is carried out, all following calls have to wait, much longer than reading them takes.
        client.send(&call(900, "browser_wait_for", json!({ "time": 8 }))).await;
        // A call that was cancelled in the queue is not started.
        client.send(&call(901, "browser_close", json!({}))).await;
        let cancel = json!({ "requestId": 901, "reason": "no" });
        client
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }))
            .await;
        for number in 0..150 {
            client.send(&call(1000 + number, "portcullis_status", json!({}))).await;
        }
        client.answer(900).await;
        let status = client.call("portcullis_status", json!({})).await;
        assert!(status.text.contains("container: T0"), "{status:?}");
        let refused = client.received.matches("too many calls are waiting").count();
        assert!((50..150).contains(&refused), "{refused} of 150 were refused");
        // A fill of a thousand controls would continue after its client has gone.
        let field = json!({ "target": "e1", "type": "textbox", "value": "x" });
        let fields = client.call("browser_fill_form", json!({ "fields": vec![field; 101] })).await;
        assert!(fields.is_error && fields.text.contains("a hundred"), "{fields:?}");
        for number in 0..60 {
            client.send(&call(2000 + number, "browser_wait_for", json!({ "time": 2 }))).await;
        }
        Instant::now()
    })
    .await;
    assert!(left.elapsed() < Duration::from_secs(60), "{:?} after its client", left.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_is_cut() {
    let stage = Stage::set_up().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    let guard = guard_for(&stage, &scenario, &MemoryLog::default());
    let settings = GatewaySettings {
        allowed: Allowed { scripts: true, network: false, files: false },
        snapshots: Snapshots::OnRequest,
        ..GatewaySettings::default()
    };
    with_gateway(guard, &stage, settings, async |client: &mut Client| {
        client.begin("2025-06-18").await;
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        client.call("browser_navigate", json!({ "url": url })).await;
        let long = json!({ "function": "() => Array(40000).fill('words of a page that go on and on')" });
        let said = client.call("browser_evaluate", long).await;
        assert!(!said.is_error && said.text.contains("go on and on"), "{said:?}");
        // Each line becomes one of the guard's, which is a little longer.
        assert!(said.text.len() < 3 << 19, "{} bytes", said.text.len());
        assert!(said.text.contains("(cut: the answer is too long)"), "{said:?}");
    })
    .await;
}
