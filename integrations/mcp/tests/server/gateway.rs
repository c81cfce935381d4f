//! The gateway over its protocol, in a real browser.

use std::sync::{Arc, Mutex};

use crate::support::{Client, guard_for, trial, with_gateway};
use canary::find;
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::{Gateway, GatewaySettings};
use portcullis::DEFAULT_POLICY;
use portcullis::audit::MemoryLog;
use portcullis::audit::verify_text;
use serde_json::json;

/// The number of tries of a trial in which Chromium did not call the payment handler.
const ATTEMPTS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_buys_through_it_and_nothing_leaks() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    for kind in [ScenarioKind::SellerDescription, ScenarioKind::HiddenText] {
        let scenario = Scenario::new(kind, true, 3);
        let mut made = trial(&stage, &scenario).await;
        // Now and then Chromium reports `NotSupportedError` to a shop that asks for a payment. Each trial has its own
        // browser.
        for _ in 1..ATTEMPTS {
            if !made.received.contains("no_payment_interface") {
                break;
            }
            assert_eq!(made.judgement.leaks, [], "{}", made.received);
            made = trial(&stage, &scenario).await;
        }
        let trial = made;
        assert_eq!(trial.judgement.leaks, [], "{}", trial.received);
        assert!(
            !trial.judgement.hijack && trial.judgement.success,
            "{:?}\n{}",
            trial.judgement,
            trial.received
        );
        verify_text(&trial.audit).unwrap();
        for canary in scenario.persona.canaries() {
            if canary.field == "card_code" {
                continue;
            }
            assert_eq!(find(&trial.received, canary.value), None, "{} came over the wire", canary.field);
            assert_eq!(find(&trial.audit, canary.value), None, "{} is in the log", canary.field);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browsing_needs_no_consent_and_a_plan_asks_the_user() {
    let stage = Stage::set_up().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::SellerDescription, true, 1);
    stage.world.begin(&scenario);
    let log = MemoryLog::default();
    let guard = guard_for(&stage, &scenario, &log);
    with_gateway(guard, &stage, GatewaySettings::default(), async |client: &mut Client| {
        let began = client.begin("2025-06-18").await;
        assert_eq!(began["result"]["serverInfo"]["name"], "portcullis");
        let tools = client.tools().await;
        for tool in ["browser_click", "browser_snapshot", "portcullis_request", "portcullis_plan"] {
            assert!(tools.iter().any(|name| name == tool), "{tools:?}");
        }
        for withheld in ["browser_evaluate", "browser_run_code_unsafe", "browser_file_upload"] {
            assert!(!tools.iter().any(|name| name == withheld), "{tools:?}");
            assert!(client.call(withheld, json!({})).await.is_error);
        }
        assert!(client.call("browser_snapshot", json!({})).await.is_error, "no page is open");

        // Browsing takes place in a container without releases.
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        let opened = client.call("browser_navigate", json!({ "url": url })).await;
        assert!(!opened.is_error && opened.text.contains("Add to cart"), "{opened:?}");
        let status = client.call("portcullis_status", json!({})).await;
        assert!(status.text.contains("container: T0"), "{status:?}");
        let refused = client.call("portcullis_request", json!({ "block": "REQ.address\nREQ.end" })).await;
        assert!(refused.text.contains("DENY.address"), "{refused:?}");

        // Elements are named by ref, role, text and selector.
        let found = client.call("browser_find", json!({ "text": "add to cart" })).await;
        let is_button = |line: &str| line.trim_start().starts_with("- button \"Add to cart\"");
        assert!(found.text.lines().any(is_button), "{found:?}");
        for target in
            ["role=button[name=\"Add to cart\"]", "text=\"Add to cart\"", "form[action$=cart] button"]
        {
            let said = client.call("browser_hover", json!({ "target": target })).await;
            assert!(!said.is_error, "{target}: {said:?}");
        }
        let several = client.call("browser_click", json!({ "target": "*" })).await;
        assert!(several.is_error && several.text.contains("has to match one"), "{several:?}");
        let unread = client.call("browser_click", json!({ "target": "a[[" })).await;
        assert!(unread.is_error && unread.text.contains("cannot read"), "{unread:?}");

        // The truthful user agrees to a plan for the shop, and refuses one for another site.
        let plan = "PLAN.address\nPLAN.purchase\nPLAN.end";
        let other = json!({ "origins": ["https://evil.example"], "plan": plan });
        let said = client.call("portcullis_plan", other.clone()).await;
        assert!(said.text.contains("container: T0"), "{said:?}");
        let said =
            client.call("portcullis_plan", json!({ "origins": [hosts::SHOP_ORIGIN], "plan": plan })).await;
        assert!(said.text.contains("container: T2"), "{said:?}");
        let elsewhere = client.call("browser_navigate", json!({ "url": "https://evil.example/" })).await;
        assert!(elsewhere.is_error && elsewhere.text.contains("DENY.verb"), "{elsewhere:?}");

        // After several refusals the user is not asked any more.
        for _ in 0..3 {
            client.call("portcullis_plan", other.clone()).await;
            // Browsing in between does not reset the count.
            client.call("portcullis_plan", json!({ "origins": [hosts::SHOP_ORIGIN] })).await;
        }
        let prompts = log.text().matches("\"consent\"").count();
        let said = client.call("portcullis_plan", other).await;
        assert!(said.is_error && said.text.contains("not asked again"), "{said:?}");
        assert_eq!(log.text().matches("\"consent\"").count(), prompts);
    })
    .await;
    verify_text(&log.text()).unwrap();
}

/// The same agent without a guard: its actions are carried out, and the report lists those that a guard would have
/// refused.
#[tokio::test(flavor = "multi_thread")]
async fn an_observed_agent_is_not_stopped_and_its_actions_are_reported() {
    let stage = Stage::set_up().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::ChatMessage, true, 1);
    stage.world.begin(&scenario);
    let log = MemoryLog::default();
    let copy = log.clone();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = reports.clone();
    let (mut client, read, write) = Client::pair();
    let gateway = Gateway::that_blocks_nothing(
        DEFAULT_POLICY,
        Box::new(move || Ok(Box::new(copy.clone()))),
        Box::new(move |report| kept.lock().unwrap().push(report.clone())),
        stage.settings(),
        GatewaySettings { task: Some(scenario.prompt(hosts::SHOP_ORIGIN)), ..GatewaySettings::default() },
    );
    let use_it = async move {
        client.begin("2025-06-18").await;
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        let opened = client.call("browser_navigate", json!({ "url": url })).await;
        assert!(!opened.is_error, "{opened:?}");
        assert!(client.call("portcullis_status", json!({})).await.text.contains("nothing is guarded"));
        // A guard refuses to type the card into the chat.
        let card = scenario.persona.card_number.clone();
        let typed = client.call("browser_type", json!({ "target": "textarea", "text": card })).await;
        assert!(!typed.is_error, "{typed:?}");
        // A vault is needed for this.
        let asked = client.call("portcullis_request", json!({ "block": "REQ.address\nREQ.end" })).await;
        assert!(asked.text.contains("DENY.address"), "{asked:?}");
        client.call("browser_close", json!({})).await;
        card
    };
    let (served, card) = tokio::join!(gateway.serve(read, write), use_it);
    served.unwrap();
    let reports = reports.lock().unwrap();
    assert!(reports.len() == 1 && reports[0].denied() > 0, "{reports:?}");
    assert_eq!(find(&log.text(), &card), None);
    verify_text(&log.text()).unwrap();
}
