//! Questions by a client's own form: which client gets them, which questions, and what counts as a yes.

use std::sync::{Arc, Mutex};

use evaluation::stage::Stage;
use mcp_guard::consent::form::ClientForm;
use mcp_guard::consent::{ClientSlot, ThroughClient};
use mcp_guard::{Gateway, GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::consent::page::{ConsentPage, PageSettings};
use portcullis::consent::{Answer, Answerer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::{Value, json};

use crate::support::Client;
use crate::support::site::Site;

const SHOP: &str = "https://shop.hostile.test/";
const EMAIL: &str = "ada@lane.example";
/// Tasks of the user's own words: the first needs data of T1 alone, the others are of T2.
const NEWS: &str = "Subscribe to the news of https://shop.hostile.test with ada@lane.example";
const DELIVERY: &str =
    "Set my delivery address at https://shop.hostile.test: Ada Lane, 17 Canary Quarry Road, 94704 Berkeley.";
const PURCHASE: &str = "Buy a kettle at https://shop.hostile.test for at most 60 USD.";

const PAGE: &str = "<title>News</title><form method=post action=/subscribe aria-label=Newsletter><h1>Newsletter</h1>\
    <label>E-mail <input type=email name=email autocomplete=email></label><button>Subscribe to the newsletter</button></form>";

/// The client that the user named.
const NAMED: &str = "desk-client";

/// A setting: who connects, with which task, and what the user answers where no form asks.
struct Desk {
    task: Option<&'static str>,
    client: &'static str,
    elicitation: Value,
    /// The answer in the guard's own window.
    window: Answer,
}

impl Default for Desk {
    fn default() -> Self {
        Desk { task: Some(NEWS), client: NAMED, elicitation: json!({ "form": {} }), window: Answer::No }
    }
}

/// Uses the shop as that client. Returns the questions of the guard's own window.
async fn at_the_desk(stage: &Stage, desk: Desk, use_it: impl AsyncFnOnce(&mut Client)) -> Vec<String> {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let (seen, window) = (asked.clone(), desk.window);
    let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        seen.lock().unwrap().push(prompt.to_string());
        window
    });
    serve(stage, desk, Box::new(user), ClientSlot::default(), use_it).await;
    asked.lock().unwrap().clone()
}

async fn serve(
    stage: &Stage,
    desk: Desk,
    otherwise: Box<dyn Answerer>,
    slot: ClientSlot,
    use_it: impl AsyncFnOnce(&mut Client),
) {
    let site = Site::start(stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", PAGE);
    let log = MemoryLog::default();
    let user = ClientForm::new(slot.clone(), vec!["another".to_owned(), NAMED.to_owned()], otherwise);
    let guard =
        Guard::new(DEFAULT_POLICY, Box::new(log.clone()), Box::new(user), Box::new(SystemEntropy)).unwrap();
    let settings = GatewaySettings {
        task: desk.task.map(str::to_owned),
        snapshots: Snapshots::OnRequest,
        ..GatewaySettings::default()
    };
    let (mut client, read, write) = Client::pair();
    let gateway = Gateway::new(guard, site.browser(stage), settings).with_client_slot(slot);
    let used = async move {
        let capabilities = json!({ "elicitation": desk.elicitation });
        client.begin_as(desk.client, "2025-11-25", capabilities).await;
        use_it(&mut client).await;
    };
    let (served, ()) = tokio::join!(gateway.serve(read, write), used);
    served.unwrap();
    verify_text(&log.text()).unwrap();
}

fn accepts(answer: &str) -> Value {
    json!({ "result": { "action": "accept", "content": { "answer": answer } } })
}

/// Opens the shop, which begins the user's task. Returns the forms that were asked, and the tier of the container.
async fn open(client: &mut Client, reply: &Value) -> (Vec<Value>, String) {
    let (said, forms) = client.call_replying("browser_navigate", json!({ "url": SHOP }), reply).await;
    assert!(!said.is_error, "{said:?}");
    (forms, tier(client).await)
}

async fn tier(client: &mut Client) -> String {
    let status = client.call("portcullis_status", json!({})).await.text;
    let tier = status.split_once("container: ").unwrap().1;
    tier.chars().take(2).collect()
}

async fn request(client: &mut Client, reply: &Value) -> (String, Vec<Value>) {
    let block = json!({ "block": "REQ.contact fields=[\"email\"]\nREQ.end" });
    let (said, forms) = client.call_replying("portcullis_request", block, reply).await;
    (said.text, forms)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_client_asks_simple_questions_by_its_form() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let (yes, no) = (accepts("yes"), accepts("no"));
    for (released, last) in [(true, &yes), (false, &no)] {
        let asked = at_the_desk(&stage, Desk::default(), async |client: &mut Client| {
            let (forms, tier) = open(client, &yes).await;
            assert_eq!((forms.len(), tier.as_str()), (1, "T1"));
            assert_eq!(forms[0]["mode"], "form");
            let message = forms[0]["message"].as_str().unwrap();
            assert!(message.starts_with("Portcullis asks. The agent needs your consent to:"), "{message}");
            assert!(
                message.contains("shop.hostile.test") && message.contains("contact (email)"),
                "{message}"
            );
            assert!(!message.contains(EMAIL), "{message}");
            let words = json!({ "type": "string", "title": "Your answer", "enum": ["no", "yes"] });
            let schema =
                json!({ "type": "object", "properties": { "answer": words }, "required": ["answer"] });
            assert_eq!(forms[0]["requestedSchema"], schema);
            // The yes to the task covers no newsletter, so a second question comes.
            let (said, forms) = request(client, last).await;
            assert_eq!(forms.len(), 1, "{said}");
            let message = forms[0]["message"].as_str().unwrap();
            assert!(message.contains("a form that subscribes to news on /, sent to /subscribe"), "{message}");
            let wanted = if released { "GRANT.contact" } else { "consent_denied" };
            assert!(said.contains(wanted) && !said.contains(EMAIL), "{said}");
        })
        .await;
        assert_eq!(asked, [""; 0], "the window asked as well");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_but_the_forms_yes_is_a_no() {
    let stage = Stage::set_up().await.unwrap();
    let result = |result: Value| json!({ "result": result });
    for reply in [
        accepts("no"),
        accepts("site"),
        result(json!({ "action": "accept", "content": { "answer": "yes", "scope": "site" } })),
        result(json!({ "action": "accept", "content": ["yes"] })),
        result(json!({ "action": "accept" })),
        result(json!({ "action": "decline", "content": { "answer": "yes" } })),
        result(json!({ "action": "cancel" })),
        result(json!({ "action": "agree", "content": { "answer": "yes" } })),
        result(json!({})),
        json!({ "error": { "code": -32601, "message": "yes" } }),
    ] {
        let asked = at_the_desk(
            &stage,
            Desk { window: Answer::Once, ..Desk::default() },
            async |client: &mut Client| {
                let (forms, tier) = open(client, &reply).await;
                assert_eq!((forms.len(), tier.as_str()), (1, "T0"), "{reply}");
                let (said, forms) = request(client, &accepts("yes")).await;
                // A client that fails to ask leaves nobody who was asked.
                let reason = if reply.get("error").is_some() { "nobody_to_ask" } else { "consent_denied" };
                assert!(forms.is_empty() && said.contains(reason), "{reply}: {said}");
            },
        )
        .await;
        assert_eq!(asked, [""; 0], "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_before_anybody_read_the_form_is_a_no() {
    let stage = Stage::set_up().await.unwrap();
    at_the_desk(&stage, Desk::default(), async |client: &mut Client| {
        let number = client.post("browser_navigate", json!({ "url": SHOP })).await;
        let form = client.request("elicitation/create").await;
        let mut quick = accepts("yes");
        (quick["jsonrpc"], quick["id"]) = (json!("2.0"), form["id"].clone());
        client.send(&quick).await;
        assert!(!client.said(number).await.is_error);
        assert_eq!(tier(client).await, "T0");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_says_nothing_has_said_no_and_its_form_is_withdrawn() {
    let stage = Stage::set_up().await.unwrap();
    let asked = at_the_desk(&stage, Desk::default(), async |client: &mut Client| {
        let number = client.post("browser_navigate", json!({ "url": SHOP })).await;
        let form = client.request("elicitation/create").await;
        client.receives("notifications/cancelled").await;
        assert!(client.received.contains(&format!("\"requestId\":{}", form["id"])), "{}", client.received);
        assert!(!client.said(number).await.is_error);
        // The answer that comes too late is for no question.
        let mut late = accepts("yes");
        (late["jsonrpc"], late["id"]) = (json!("2.0"), form["id"].clone());
        client.send(&late).await;
        assert_eq!(tier(client).await, "T0");
        let (said, _) = request(client, &accepts("yes")).await;
        assert!(said.contains("consent_denied"), "{said}");
    })
    .await;
    assert_eq!(asked, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_client_gets_a_form() {
    let stage = Stage::set_up().await.unwrap();
    for (client, elicitation) in [
        ("unnamed", json!({ "form": {} })),
        ("Desk-client", json!({ "form": {} })),
        ("desk-client ", json!({ "form": {} })),
        ("", json!({})),
        (NAMED, json!({ "url": {} })),
        (NAMED, Value::Null),
    ] {
        let case = format!("{client:?} {elicitation}");
        let desk = Desk { client, elicitation, window: Answer::Once, ..Desk::default() };
        let asked = at_the_desk(&stage, desk, async |client: &mut Client| {
            let (forms, tier) = open(client, &accepts("no")).await;
            assert_eq!((forms.len(), tier.as_str()), (0, "T1"), "{case}");
        })
        .await;
        assert_eq!(asked.len(), 1, "{case}");
    }
    // Before the modes had names, `{}` declared forms.
    let desk = Desk { elicitation: json!({}), ..Desk::default() };
    let asked = at_the_desk(&stage, desk, async |client: &mut Client| {
        assert_eq!(open(client, &accepts("yes")).await.1, "T1");
    })
    .await;
    assert_eq!(asked, [""; 0]);
}

/// A client that says yes to everything by itself gets what a form may ask, and no more.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_answers_by_itself_gains_no_t2_no_payment_and_no_plan_of_its_own() {
    let stage = Stage::set_up().await.unwrap();
    let yes = accepts("yes");
    for (task, expected, questions) in [(NEWS, "T1", 0), (DELIVERY, "T0", 1), (PURCHASE, "T0", 1)] {
        let desk = Desk { task: Some(task), ..Desk::default() };
        let asked = at_the_desk(&stage, desk, async |client: &mut Client| {
            let (forms, tier) = open(client, &yes).await;
            assert_eq!((forms.len(), tier.as_str()), (1 - questions, expected), "{task}");
        })
        .await;
        assert_eq!(asked.len(), questions, "{task}: {asked:?}");
    }
    // A plan that the agent chose, and a release in it after the user agreed to it in the window.
    for (window, expected) in [(Answer::No, "T0"), (Answer::Once, "T1")] {
        let asked = at_the_desk(
            &stage,
            Desk { task: None, window, ..Desk::default() },
            async |client: &mut Client| {
                let plan = json!({ "origins": ["https://shop.hostile.test"], "kinds": ["contact"] });
                let (_, forms) = client.call_replying("portcullis_plan", plan, &yes).await;
                assert_eq!((forms.len(), tier(client).await.as_str()), (0, expected));
                client.call("browser_navigate", json!({ "url": SHOP })).await;
                let (said, forms) = request(client, &yes).await;
                assert!(forms.is_empty(), "{said}");
            },
        )
        .await;
        assert!(asked[0].contains("the agent chose these sites"), "{asked:?}");
    }
}

/// What the form may not ask goes on to the consent page, by its address.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_both_ways_shows_the_address_of_what_no_form_asks() {
    let stage = Stage::set_up().await.unwrap();
    for (task, mode) in [(NEWS, "form"), (DELIVERY, "url")] {
        let (opener, slot) = ThroughClient::new(None);
        let page = PageSettings { opener: Box::new(opener), phrase: None, entropy: [7; 32] };
        let page = ConsentPage::open(page).await.unwrap();
        let desk =
            Desk { task: Some(task), elicitation: json!({ "form": {}, "url": {} }), ..Desk::default() };
        serve(&stage, desk, Box::new(page), slot, async |client: &mut Client| {
            let declines = json!({ "result": { "action": "decline" } });
            let (forms, tier) = open(client, &declines).await;
            assert_eq!((forms.len(), tier.as_str()), (1, "T0"));
            assert_eq!(forms[0]["mode"], mode);
        })
        .await;
    }
}
