//! Under a policy with a safety threshold the guard judges the page itself, even if the client has not read it.

use crate::support::{Client, with_gateway};
use evaluation::guarded::truthful_user;
use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use mcp_guard::{GatewaySettings, Snapshots};
use portcullis::audit::MemoryLog;
use portcullis::consent::ScriptedAnswerer;
use portcullis::guard::SystemEntropy;
use portcullis::{APPROACH_A_POLICY, Guard};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_was_not_read_is_judged_before_a_request() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 4);
    stage.world.begin(&scenario);
    let user = ScriptedAnswerer(truthful_user(&scenario));
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(APPROACH_A_POLICY, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_gateway(guard, &stage, settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let plan = json!({ "origins": [hosts::SHOP_ORIGIN], "plan": "PLAN.address\nPLAN.end" });
        let said = client.call("portcullis_plan", plan).await;
        assert!(said.text.contains("container: T2"), "{said:?}");
        let url = scenario.product_url(hosts::SHOP_ORIGIN);
        assert_eq!(client.call("browser_navigate", json!({ "url": url })).await.text, "ok");
        let bought = json!({ "target": "role=button[name=\"Add to cart\"]" });
        assert_eq!(client.call("browser_click", bought).await.text, "ok");
        let block = json!({ "block": "REQ.address fields=[\"street\",\"city\"]\nREQ.end" });
        let said = client.call("portcullis_request", block).await.text;
        // The vault is empty, so a request on a page that was judged safe gets this far.
        assert!(said.contains("no_value"), "{said}");
    })
    .await;
}
