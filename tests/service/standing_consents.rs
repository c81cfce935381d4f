//! Changes of standing consents during an open task.

use std::sync::atomic::Ordering;
use std::time::Duration;

use portcullis::DEFAULT_POLICY;
use portcullis::consent::{Change, ChangeKind};
use portcullis::guard::VaultKeeper;
use portcullis::service::protocol::{ClientRequest, Role};
use portcullis::service::{Client, ExtensionConsent};
use portcullis::signals::Origin;
use portcullis::sirl::Kind;
use serde_json::{Value, json};

use super::{Stage, hear, say};

/// The time limit of a short step on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Plays an extension for one request, and makes a change just before the look of this number is answered. Gives the
/// reply, and how many fills the extension was asked for.
async fn request(stage: &Stage, change: Option<(usize, &str)>) -> (String, usize) {
    let mut stream = stage.extension().await;
    let frames = json!([stage.frame(&json!({}))]);
    let plays = async {
        let (mut looks, mut fills) = (0, 0);
        loop {
            let asked = hear(&mut stream).await.unwrap();
            if asked.get("told").is_some() {
                continue;
            }
            let answer = if asked["ask"] == "fill" {
                fills += 1;
                json!("done")
            } else {
                looks += 1;
                if let Some((_, word)) = change.filter(|(at, _)| *at == looks) {
                    let change = json!({ "ask": word, "id": 9, "kind": "address", "site": stage.shop });
                    say(&mut stream, &change).await;
                    // The answer to a later question shows that the change is queued.
                    say(&mut stream, &json!({ "ask": "status", "id": 10 })).await;
                    assert_eq!(hear(&mut stream).await.unwrap()["told"], 10);
                }
                json!({ "tab": 7, "frames": frames })
            };
            say(&mut stream, &json!({ "id": asked["id"], "answer": answer })).await;
            if fills > 0 {
                return fills;
            }
        }
    };
    let asks = stage.request();
    tokio::pin!(plays, asks);
    tokio::select! {
        reply = &mut asks => (reply, 0),
        fills = &mut plays => (asks.await, fills),
    }
}

async fn change(stage: &Stage, role: Role, how: ChangeKind) -> Value {
    let to = Origin::parse(&stage.shop).unwrap();
    let request = ClientRequest::Change(Change { kind: Kind::Address, to, how });
    if role == Role::User {
        return Client::connect(&stage.service_folder, role).await.unwrap().ask(&request).await.unwrap();
    }
    let mut extension = stage.extension().await;
    let mut message = request.message();
    message["id"] = json!(3);
    say(&mut extension, &message).await;
    let told = hear(&mut extension).await.unwrap();
    assert_eq!(told["told"], 3);
    told["answer"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_yes_and_a_never_hold_in_the_open_task_at_once() {
    let stage = Stage::new(51).await;
    stage.begin().await;
    let asked = || stage.asked.load(Ordering::SeqCst);
    let granted = "GRANT.address {\"delivered\":\"filled\",\"fields\":[\"street\"]}";
    assert_eq!(request(&stage, None).await, (granted.to_owned(), 1));
    assert_eq!(asked(), 1, "the plan");

    // This test's vault has no keeper, so that nothing outlives the task.
    assert_eq!(
        change(&stage, Role::Extension, ChangeKind::Withdraw).await["changed"],
        "nothing",
        "no yes stands"
    );
    assert_eq!(request(&stage, None).await, (granted.to_owned(), 1));
    assert_eq!(asked(), 2, "but the yes for the task is gone, and it is asked about again");

    let refused = change(&stage, Role::Extension, ChangeKind::TakeBack).await;
    assert_eq!(refused["error"]["code"], "not_for_role");
    assert_eq!(change(&stage, Role::Extension, ChangeKind::Never).await["changed"], "for_this_task");
    let denied = "DENY.address {\"reason\":\"consent_denied\"}".to_owned();
    assert_eq!(request(&stage, None).await, (denied, 0));
    assert_eq!(asked(), 2, "a kind that is never granted causes no prompt");
    let record = stage.record();
    assert!(record.contains("\"event\":\"consent_never\""), "{record}");

    let mut user = Client::connect(&stage.service_folder, Role::User).await.unwrap();
    assert_eq!(change(&stage, Role::User, ChangeKind::TakeBack).await["changed"], "for_this_task");
    assert_eq!(user.ask(&ClientRequest::Standing).await.unwrap()["standing"], json!([]));
    assert_eq!(request(&stage, None).await, (granted.to_owned(), 1));
    assert_eq!(asked(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decided_release_that_is_not_delivered_is_refused_after_a_change() {
    let stage = Stage::new(52).await;
    let denied = "DENY.address {\"reason\":\"consent_denied\"}".to_owned();
    // The looks of one request are the survey, the decision, and the fresh look of the release.
    for (look, word) in [(2, "never"), (3, "never"), (3, "withdraw")] {
        stage.begin().await;
        assert_eq!(
            request(&stage, Some((look, word))).await,
            (denied.clone(), 0),
            "{word} before look {look}"
        );
        change(&stage, Role::User, ChangeKind::TakeBack).await;
        let mut user = Client::connect(&stage.service_folder, Role::User).await.unwrap();
        user.ask(&ClientRequest::End).await.unwrap();
    }
    let record = stage.record();
    assert!(!record.contains("\"failed\":null"), "{record}");
}

/// A keeper that discards the vault's bytes.
struct Kept;

impl VaultKeeper for Kept {
    fn save(&mut self, _bytes: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_never_during_an_open_prompt_outlasts_a_later_yes() {
    let policy = DEFAULT_POLICY.replacen("consent once per session", "consent once per site", 1);
    let stage = Stage::under(53, &policy, Some(ExtensionConsent::default()), Some(Box::new(Kept))).await;
    let mut extension = stage.extension().await;
    let frames = json!([stage.frame(&json!({}))]);
    let shop = stage.shop.clone();
    // The user says yes for good to each prompt, and says never on the settings page before the second yes.
    let person = async {
        let mut questions = 0;
        loop {
            let heard = hear(&mut extension).await.unwrap();
            let done = match heard["ask"].as_str() {
                None => {
                    if heard["told"] == 9 {
                        return heard["answer"]["changed"].clone();
                    }
                    continue;
                }
                Some("consent") => json!("opened"),
                Some("narrow" | "fill") => json!("done"),
                Some(_) => json!({ "tab": 7, "frames": frames }),
            };
            say(&mut extension, &json!({ "id": heard["id"], "answer": done })).await;
            let Some(nonce) = heard["nonce"].as_str() else { continue };
            questions += 1;
            let show = format!(r#"{{"show":"{nonce}"}}"#);
            say(&mut extension, &json!({ "ask": "consent", "id": 70, "says": show })).await;
            let shown = hear(&mut extension).await.unwrap();
            let subject = shown["answer"]["body"]["subject"].as_str().unwrap();
            if questions == 2 {
                let never = json!({ "ask": "never", "id": 9, "kind": "address", "site": shop });
                say(&mut extension, &never).await;
            }
            tokio::time::sleep(Duration::from_millis(750)).await;
            let yes = format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"site"}}"#);
            say(&mut extension, &json!({ "ask": "consent", "id": 71, "says": yes })).await;
        }
    };
    let asks = async {
        stage.begin().await;
        // A yes to the plan is stored once it is bound to a form.
        assert_eq!(change(&stage, Role::User, ChangeKind::Withdraw).await["changed"], "nothing");
        stage.request().await
    };
    let (changed, reply) = tokio::join!(person, asks);
    assert_eq!(changed, "kept");
    assert_eq!(reply, "DENY.address {\"reason\":\"consent_denied\"}");
    let mut user = Client::connect(&stage.service_folder, Role::User).await.unwrap();
    let standing = user.ask(&ClientRequest::Standing).await.unwrap()["standing"].clone();
    let said: Vec<_> = standing.as_array().unwrap().iter().map(|one| one["given"].clone()).collect();
    assert_eq!(said, [json!(false)], "the never that the status reported as stored: {standing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_a_locked_vault_did_not_store_is_not_recorded() {
    let stage = Stage::under(54, DEFAULT_POLICY, None, Some(Box::new(Kept))).await;
    stage.lock.lock();
    assert_eq!(change(&stage, Role::Extension, ChangeKind::Never).await["changed"], "locked");
    let record = stage.record();
    assert!(!record.contains("consent_never"), "{record}");

    // The same holds in an open task: the vault's consents are unchanged.
    let stage = Stage::under(55, DEFAULT_POLICY, None, Some(Box::new(Kept))).await;
    stage.begin().await;
    stage.lock.lock();
    assert_eq!(change(&stage, Role::Extension, ChangeKind::Never).await["changed"], "locked");
    let record = stage.record();
    assert!(!record.contains("consent_never") && !record.contains("consent_revoked"), "{record}");
}

/// The standing consents of the settings page, each as given and site.
async fn listed(extension: &mut tokio::net::UnixStream) -> Vec<(Value, Value)> {
    say(extension, &json!({ "ask": "status", "id": 40 })).await;
    // Answers to earlier questions may come first.
    let told = loop {
        let told = hear(extension).await.unwrap();
        if told["told"] == 40 {
            break told;
        }
    };
    let standing = told["answer"]["standing"].as_array().unwrap().clone();
    standing.iter().map(|one| (one["given"].clone(), one["site"].clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn standing_consents_are_shown_during_an_action() {
    let policy = DEFAULT_POLICY.replacen("consent once per session", "consent once per site", 1);
    let stage = Stage::under(56, &policy, Some(ExtensionConsent::default()), Some(Box::new(Kept))).await;
    let mut extension = stage.extension().await;
    let frames = json!([stage.frame(&json!({}))]);
    let shop = stage.shop.clone();
    // The user says yes for good to the plan and, after a withdrawal, to the prompt within the action.
    let person = async {
        let mut questions = 0;
        let mut seen = Vec::new();
        loop {
            let heard = hear(&mut extension).await.unwrap();
            if heard.get("told").is_some() {
                continue;
            }
            if questions == 2 {
                // The action is not over, and the agent still waits.
                seen.push(listed(&mut extension).await);
            }
            let done = match heard["ask"].as_str() {
                Some("consent") => json!("opened"),
                Some("narrow" | "fill" | "widen") => json!("done"),
                _ => json!({ "tab": 7, "frames": frames }),
            };
            say(&mut extension, &json!({ "id": heard["id"], "answer": done })).await;
            if heard["ask"] == "fill" {
                return seen;
            }
            let Some(nonce) = heard["nonce"].as_str() else { continue };
            questions += 1;
            let show = format!(r#"{{"show":"{nonce}"}}"#);
            say(&mut extension, &json!({ "ask": "consent", "id": 70, "says": show })).await;
            let shown = hear(&mut extension).await.unwrap();
            let subject = shown["answer"]["body"]["subject"].as_str().unwrap();
            tokio::time::sleep(Duration::from_millis(750)).await;
            let yes = format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"site"}}"#);
            say(&mut extension, &json!({ "ask": "consent", "id": 71, "says": yes })).await;
        }
    };
    let asks = async {
        stage.begin().await;
        // A yes to the plan is stored once it is bound to a form.
        assert_eq!(change(&stage, Role::User, ChangeKind::Withdraw).await["changed"], "nothing");
        stage.request().await
    };
    let both = async { tokio::join!(person, asks) };
    let (seen, reply) = tokio::time::timeout(PATIENCE, both).await.expect("the action never ends");
    assert!(reply.starts_with("GRANT"), "{reply}");
    assert!(!seen.is_empty());
    for standing in seen {
        assert_eq!(standing, [(json!(true), json!(shop))], "the yes is stored as soon as it is given");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn standing_consents_are_shown_while_a_prompt_is_open() {
    let stage =
        Stage::under(57, DEFAULT_POLICY, Some(ExtensionConsent::default()), Some(Box::new(Kept))).await;
    let to = Origin::parse(&stage.shop).unwrap();
    let never = ClientRequest::Change(Change { kind: Kind::Login, to, how: ChangeKind::Never });
    let mut user = Client::connect(&stage.service_folder, Role::User).await.unwrap();
    assert_eq!(user.ask(&never).await.unwrap()["changed"], "kept");
    let mut extension = stage.extension().await;
    let person = async {
        let asked = hear(&mut extension).await.unwrap();
        say(&mut extension, &json!({ "id": asked["id"], "answer": "opened" })).await;
        let standing = user.ask(&ClientRequest::Standing).await.unwrap()["standing"].clone();
        let closed = json!({ "ask": "closed", "id": 6, "nonce": asked["nonce"] });
        say(&mut extension, &closed).await;
        standing
    };
    let both = async { tokio::join!(stage.container(), person) };
    let (container, standing) = tokio::time::timeout(PATIENCE, both).await.expect("the prompt never ends");
    assert_eq!((container.as_str(), standing[0]["given"].clone()), ("T0", json!(false)));
}
