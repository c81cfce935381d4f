//! The user continues in the agent's window, and the agent sees nothing of it.

use crate::concurrent_calls::handles;
use crate::support::site::Site;
use crate::support::{Client, with_browser, with_gateway};
use evaluation::guarded::truthful_user;
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::{Allowed, GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::consent::{
    Answer, AnswerFuture, Answerer, ConsentPrompt, HandOver, HandOverFuture, HandedOver, ScriptedAnswerer,
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
            allowed: Allowed { scripts: true, network: true, files: false },
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

const FORM: &str = "<title>Shop</title><input type=search aria-label=Search><form method=post action=/order>\
    <label>Street <input name=street autocomplete=street-address></label><label>City <input name=city \
    autocomplete=address-level2></label><button>Order</button></form>";

/// After an offer by hand a person may have typed over what the agent typed: whether they did is not told.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_typed_is_not_told_after_an_offer() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["rows.hostile.test"]).await;
    site.put("rows.hostile.test/", FORM);
    let user =
        AtTheWindow { answerer: ScriptedAnswerer(|_: &ConsentPrompt| Answer::Session), finishes: false };
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(DEFAULT_POLICY, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_browser(guard, site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let plan = json!({ "origins": ["https://rows.hostile.test"], "plan": "PLAN.address\nPLAN.end" });
        client.call("portcullis_plan", plan).await;
        client.call("browser_navigate", json!({ "url": "https://rows.hostile.test/" })).await;
        let page = client.call("browser_snapshot", json!({})).await.text;
        let search = handles(&page, "\"Search\"").remove(0);
        let typed = client.call("browser_type", json!({ "target": search, "text": "copper kettle" })).await;
        assert_eq!(typed.text, "ok", "{page}");
        let page = client.call("browser_snapshot", json!({})).await.text;
        assert!(page.contains("\"copper kettle\""), "{page}");
        assert!(page.contains(" /url \"/\""), "{page}");
        let block = json!({ "block": "REQ.address fields=[\"street\",\"city\"]\nREQ.end" });
        let denied = client.call("portcullis_request", block).await.text;
        assert!(denied.contains("no_value"), "{denied}");
        let page = client.call("browser_snapshot", json!({})).await.text;
        assert!(page.contains("\"Search\"") && !page.contains("copper kettle"), "{page}");
        // The page could write what the user types into its paths.
        assert!(!page.contains("/url"), "{page}");
    })
    .await;
}
