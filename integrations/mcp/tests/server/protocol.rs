//! The protocol: versions, progress, cancelled calls, consent through the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Client, guard_for, with_gateway};
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::consent::ThroughClient;
use mcp_guard::{Gateway, GatewayError, GatewaySettings, Snapshots};
use portcullis::audit::MemoryLog;
use portcullis::consent::page::{ConsentPage, PageSettings};
use portcullis::consent::{Answer, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::signals::playwright::BrowserSettings;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn old_and_new_versions_are_served() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let guard = guard_for(&stage, &scenario, &MemoryLog::default());
        with_gateway(guard, &stage, GatewaySettings::default(), async |client: &mut Client| {
            let began = client.begin(version).await;
            assert_eq!(began["result"]["protocolVersion"], version, "{began}");
            assert!(client.tools().await.len() > 10);
        })
        .await;
    }
    // The newest version has no initialisation: each request states its version.
    let guard = guard_for(&stage, &scenario, &MemoryLog::default());
    with_gateway(guard, &stage, GatewaySettings::default(), async |client: &mut Client| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let found = client.ask("server/discover", json!({ "_meta": meta })).await;
        let versions = found["result"]["supportedVersions"].to_string();
        assert!(versions.contains("2026-07-28") && found.to_string().contains("portcullis"), "{found}");
        let listed = client.ask("tools/list", json!({ "_meta": meta })).await;
        assert!(listed["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{listed}");
        // A client subscribes to changes of the list of tools.
        let wanted = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
        let listen =
            json!({ "jsonrpc": "2.0", "id": 77, "method": "subscriptions/listen", "params": wanted });
        client.send(&listen).await;
        // Requests are answered concurrently, so another one may be done first.
        client.ask("tools/list", json!({ "_meta": meta })).await;
        client.receives("subscriptions/acknowledged").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_message_is_an_error_and_the_server_continues() {
    let stage = Stage::set_up().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    let guard = guard_for(&stage, &scenario, &MemoryLog::default());
    with_gateway(guard, &stage, GatewaySettings::default(), async |client: &mut Client| {
        client.begin("2025-06-18").await;
        for (tool, arguments) in [
            ("browser_click", json!({ "target": 7 })),
            ("browser_click", json!({})),
            ("browser_navigate", json!({ "url": "not an address" })),
            ("browser_navigate", json!({ "url": "file:///etc/passwd" })),
            ("portcullis_plan", json!({ "origins": ["nowhere"], "plan": "PLAN.address\nPLAN.end" })),
            ("portcullis_plan", json!({ "origins": [hosts::SHOP_ORIGIN], "plan": "PLAN.everything" })),
            ("nothing_of_the_kind", json!({})),
        ] {
            let said = client.call(tool, arguments.clone()).await;
            assert!(said.is_error, "{tool} {arguments}: {said:?}");
        }
        let no_method = client.ask("resources/read", json!({ "uri": "file:///etc/passwd" })).await;
        assert!(no_method.get("error").is_some(), "{no_method}");
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        assert!(!client.call("browser_navigate", json!({ "url": url })).await.is_error);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_call_reports_progress_and_can_be_cancelled() {
    let stage = Stage::set_up().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    let guard = guard_for(&stage, &scenario, &MemoryLog::default());
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_gateway(guard, &stage, settings, async |client: &mut Client| {
        client.begin("2025-06-18").await;
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        client.call("browser_navigate", json!({ "url": url })).await;
        let wait = json!({ "name": "browser_wait_for", "arguments": { "time": 6 }, "_meta": { "progressToken": "p" } });
        client.ask("tools/call", wait.clone()).await;
        assert!(client.received.contains("notifications/progress"), "{}", client.received);
        // The call is cancelled at once; the next call is answered when the first is over.
        client.send(&json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": wait })).await;
        let cancel = json!({ "requestId": 900, "reason": "enough" });
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel })).await;
        let said = client.call("portcullis_status", json!({})).await;
        assert!(!said.is_error, "{said:?}");
    })
    .await;
}

/// playwright-mcp takes the client's first root for its workspace: files there can be uploaded, and are written under
/// names that the agent chooses. The guard asks for no roots and passes none on.
#[tokio::test(flavor = "multi_thread")]
async fn a_clients_folders_are_not_asked_for_read_or_written() {
    let stage = Stage::set_up().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("notes.txt"), "the user's own").unwrap();
    let settings = GatewaySettings::default();
    let guard = guard_for(&stage, &scenario, &MemoryLog::default());
    with_gateway(guard, &stage, settings, async |client: &mut Client| {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": { "roots": { "listChanged": true } },
            "clientInfo": { "name": "test", "version": "1" },
        });
        client.ask("initialize", params).await;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
        client.send(&changed).await;
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        assert!(!client.call("browser_navigate", json!({ "url": url })).await.is_error);
        assert!(!client.call("browser_console_messages", json!({ "level": "info" })).await.is_error);
        client.send(&changed).await;
        let notes = workspace.path().join("notes.txt");
        let named = workspace.path().join("page.png");
        for (tool, arguments) in [
            ("browser_file_upload", json!({ "paths": [notes] })),
            ("browser_take_screenshot", json!({ "filename": named })),
            ("browser_console_messages", json!({ "level": "info", "filename": named })),
            ("browser_snapshot", json!({ "filename": named })),
        ] {
            let said = client.call(tool, arguments).await;
            assert!(said.is_error, "{tool}: {said:?}");
        }
        assert!(!client.received.contains("roots/list"), "{}", client.received);
    })
    .await;
    let left: Vec<_> =
        std::fs::read_dir(workspace.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
}

/// The client receives the address of the consent page, opens it for its user, and the user answers there.
#[tokio::test(flavor = "multi_thread")]
async fn the_user_is_asked_through_a_client_that_shows_addresses() {
    let stage = Stage::set_up().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    stage.world.begin(&scenario);
    for accepts in [true, false] {
        let log = MemoryLog::default();
        let (opener, slot) = ThroughClient::new(None);
        let page = PageSettings { opener: Box::new(opener), phrase: None, entropy: [7; 32] };
        let page = ConsentPage::open(page).await.unwrap();
        let guard =
            Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(page), Box::new(SystemEntropy))
                .unwrap();
        let (mut client, read, write) = Client::pair();
        let gateway =
            Gateway::new(guard, stage.settings(), GatewaySettings::default()).with_client_slot(slot);
        let shown = Arc::new(AtomicBool::new(false));
        let seen = shown.clone();
        let use_it = async move {
            let capabilities = json!({ "elicitation": { "url": {} } });
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            });
            client.ask("initialize", params).await;
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            let plan = json!({ "origins": [hosts::SHOP_ORIGIN], "plan": "PLAN.address\nPLAN.end" });
            let call = json!({ "name": "portcullis_plan", "arguments": plan });
            client.send(&json!({ "jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": call })).await;
            let asked = client.request("elicitation/create").await;
            assert_eq!(asked["params"]["mode"], "url", "{asked}");
            let address = asked["params"]["url"].as_str().unwrap().to_owned();
            assert!(address.starts_with("http://127.0.0.1:"), "{address}");
            seen.store(true, Ordering::Relaxed);
            let action = if accepts { "accept" } else { "decline" };
            client
                .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": action } }))
                .await;
            if accepts {
                crate::support::answer_page(&address, "session").await;
            }
            let answer: Value = client.answer(50).await;
            let text = answer["result"]["content"].to_string();
            let wanted = if accepts { "container: T2" } else { "container: T0" };
            assert!(text.contains(wanted), "{answer}");
            assert!(!text.contains("127.0.0.1"), "the model learns the page's address: {answer}");
        };
        let both = async { tokio::join!(gateway.serve(read, write), use_it).0.unwrap() };
        tokio::time::timeout(Duration::from_secs(180), both).await.unwrap();
        assert!(shown.load(Ordering::Relaxed));
    }
}

fn guard() -> Guard {
    let (log, nobody) = (Box::new(MemoryLog::default()), Box::new(ScriptedAnswerer(|_: &_| Answer::No)));
    Guard::new(DEFAULT_POLICY, log, nobody, Box::new(SystemEntropy)).unwrap()
}

/// A program in the browser's place that reads its commands and never answers.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_answered_while_the_browser_starts_and_may_leave_before() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("chromium");
    // Another process writes it: a file that this one had open may still be open in a child that another test starts, and such a file
    // cannot be executed.
    const WRITE: &str = "printf '#!/bin/sh\nexec cat <&3\n' > \"$0\" && chmod 700 \"$0\"";
    let written = std::process::Command::new("sh").args(["-c", WRITE]).arg(&program).status().unwrap();
    assert!(written.success());
    let (mut client, read, write) = Client::pair();
    let gateway = Gateway::new(guard(), BrowserSettings::new(program), GatewaySettings::default());
    let (served, ()) = tokio::join!(gateway.serve(read, write), async move {
        let client_info = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info });
        let told = client.ask("initialize", params).await;
        assert!(told["result"]["serverInfo"].is_object(), "{told}");
        assert!(client.ask("tools/list", json!({})).await["result"]["tools"].is_array());
    });
    served.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_does_not_start_ends_the_server() {
    let (client, read, write) = Client::pair();
    let gateway =
        Gateway::new(guard(), BrowserSettings::new("/nowhere/chromium"), GatewaySettings::default());
    let served = gateway.serve(read, write).await;
    assert!(matches!(served, Err(GatewayError::Browser(_))), "{:?}", served.err());
    drop(client);
}
