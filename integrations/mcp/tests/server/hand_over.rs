//! The user continues in the agent's window, and the agent sees nothing of it.

use crate::support::{Client, upstream, with_gateway};
use evaluation::guarded::truthful_user;
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::{Allowed, GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::consent::{
    AnswerFuture, Answerer, ConsentPrompt, HandOver, HandOverFuture, HandedOver, ScriptedAnswerer,
};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;

/// Answers by a rule, in front of a visible browser window.
struct AtTheWindow<A> {
    answerer: A,
    finishes: bool,
}

impl<A: Answerer> Answerer for AtTheWindow<A> {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        self.answerer.answer(prompt)
    }

    fn offers_hand_over(&self) -> bool {
        true
    }

    fn hand_over<'a>(&'a mut self, _: &'a HandOver) -> HandOverFuture<'a> {
        let ended = if self.finishes { HandedOver::Finished } else { HandedOver::GoOn };
        Box::pin(std::future::ready(ended))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_typed_by_the_user_are_not_shown() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    for finishes in [true, false] {
        let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 4);
        stage.world.begin(&scenario);
        let log = MemoryLog::default();
        let user = AtTheWindow { answerer: ScriptedAnswerer(truthful_user(&scenario)), finishes };
        let guard =
            Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy));
        let settings = GatewaySettings {
            upstream: Some(upstream()),
            allowed: Allowed { scripts: true, network: true },
            snapshots: Snapshots::OnRequest,
            ..GatewaySettings::default()
        };
        with_gateway(guard.unwrap(), &stage, settings, async |client: &mut Client| {
            client.begin("2025-11-25").await;
            let plan = json!({ "origins": [hosts::SHOP_ORIGIN], "plan": "PLAN.address\nPLAN.end" });
            let said = client.call("portcullis_plan", plan.clone()).await;
            assert!(said.text.contains("container: T2"), "{said:?}");
            // The vault is empty, so the user has to type the address.
            let url = scenario.product_url(hosts::SHOP_ORIGIN);
            assert_eq!(client.call("browser_navigate", json!({ "url": url })).await.text, "ok");
            let bought = json!({ "target": "role=button[name=\"Add to cart\"]" });
            assert_eq!(client.call("browser_click", bought).await.text, "ok");
            let page = client.call("browser_snapshot", json!({})).await.text;
            assert!(page.contains("Street and number"), "{page}");
            let block = json!({ "block": "REQ.address fields=[\"street\",\"city\"]\nREQ.end" });
            let observation = client.call("portcullis_request", block).await.text;
            let reason = if finishes { "taken_over" } else { "no_value" };
            assert!(observation.contains(reason), "{observation}");
            for (tool, arguments) in [
                ("browser_take_screenshot", json!({})),
                ("browser_console_messages", json!({ "level": "info" })),
                ("browser_evaluate", json!({ "function": "() => document.forms[0].elements[0].value" })),
                ("browser_network_requests", json!({ "static": true })),
                ("browser_click", json!({ "target": "input:valid" })),
            ] {
                let said = client.call(tool, arguments).await;
                assert!(said.is_error && said.pictures == 0, "{finishes} {tool}: {said:?}");
                assert!(said.text.contains("values of the user are in this container"), "{said:?}");
            }
            assert!(!client.tools().await.iter().any(|name| name == "browser_take_screenshot"));
            let status = client.call("portcullis_status", json!({})).await.text;
            assert_eq!(status.contains("handed over to the user"), finishes, "{status}");
            for tool in ["browser_snapshot", "browser_navigate_back"] {
                let said = client.call(tool, json!({})).await;
                assert_eq!(said.text.contains("taken_over"), finishes, "{tool}: {said:?}");
            }
            // After the hand-over a new task starts in another container, which has no typed values.
            let said = client.call("portcullis_plan", plan).await;
            assert!(said.text.contains("container: T2") && !said.text.contains("handed over"), "{said:?}");
            let url = scenario.product_url(hosts::SHOP_ORIGIN);
            assert_eq!(client.call("browser_navigate", json!({ "url": url })).await.text, "ok");
            assert_eq!(client.call("browser_take_screenshot", json!({})).await.pictures, 1);
        })
        .await;
        verify_text(&log.text()).unwrap();
    }
}
