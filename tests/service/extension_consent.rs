//! Prompts on the extension's own consent page, which the test plays.

use std::time::{Duration, Instant};

use portcullis::service::ExtensionConsent;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Stage, hear, say};

/// The time that a prompt must be visible before it accepts a yes.
const LOOK_FIRST: Duration = Duration::from_millis(700);

async fn stage(seed: u64) -> (Stage, UnixStream) {
    let stage = Stage::asked(seed, Some(ExtensionConsent::default())).await;
    let extension = stage.extension().await;
    (stage, extension)
}

/// Waits until the service has the extension open a prompt, confirms it, and returns the prompt's nonce.
async fn opened(extension: &mut UnixStream) -> String {
    let asked = asked(extension).await;
    assert_eq!(asked["ask"], "consent", "{asked}");
    say(extension, &json!({ "id": asked["id"], "answer": "opened" })).await;
    asked["nonce"].as_str().unwrap().to_owned()
}

/// The next request to the extension, without the message that an earlier task is over.
async fn asked(extension: &mut UnixStream) -> Value {
    loop {
        let asked = hear(extension).await.unwrap();
        if asked["ask"] != "widen" && asked["ask"] != "seal" {
            return asked;
        }
        say(extension, &json!({ "id": asked["id"], "answer": "done" })).await;
    }
}

/// Sends a message of the page, and returns the service's answer.
async fn page(extension: &mut UnixStream, says: &str) -> Value {
    say(extension, &json!({ "ask": "consent", "id": 77, "says": says })).await;
    loop {
        let told = hear(extension).await.unwrap();
        // The task's sites are sealed as soon as the user agrees.
        if told["ask"] == "seal" {
            say(extension, &json!({ "id": told["id"], "answer": "done" })).await;
            continue;
        }
        assert_eq!(told["told"], 77, "{told}");
        return told["answer"].clone();
    }
}

fn show(nonce: &str) -> String {
    format!(r#"{{"show":"{nonce}"}}"#)
}

fn answer(nonce: &str, subject: &str, word: &str) -> String {
    format!(r#"{{"nonce":"{nonce}","subject":"{subject}","answer":"{word}"}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_counts_for_its_own_prompt_once_and_after_a_delay() {
    let (stage, mut extension) = stage(41).await;
    let mut before = String::new();
    for round in 0..2 {
        let person = async {
            let nonce = opened(&mut extension).await;
            let zeros = "0".repeat(64);
            assert_eq!(page(&mut extension, &answer(&nonce, &zeros, "session")).await["status"], 404);
            if round > 0 {
                assert_eq!(page(&mut extension, &show(&before)).await["status"], 404, "an earlier number");
            }
            let asked = Instant::now();
            let shown = page(&mut extension, &show(&nonce)).await;
            let words = &shown["body"];
            assert_eq!(shown["status"], 200);
            assert!(words.to_string().contains("address:home"), "{words}");
            assert_eq!((&words["choices"][0]["word"], &words["code"]), (&json!("no"), &Value::Null));
            let subject = words["subject"].as_str().unwrap().to_owned();
            let early = page(&mut extension, &answer(&nonce, &subject, "session")).await;
            if early["status"] != 425 {
                let took = asked.elapsed();
                assert!(took >= LOOK_FIRST, "{early} after {took:?}");
                // The machine was so slow that the answer was not early.
                return nonce;
            }
            assert_eq!(page(&mut extension, &show(&nonce)).await["status"], 404, "given out once");
            for (status, says) in [
                (404, answer(&before.clone(), &subject, "session")),
                (404, answer(&nonce, &zeros, "session")),
                (404, format!(r#"{{"nonce":"{nonce}","subject":"{subject}","code":"123"}}"#)),
                (400, answer(&nonce, &subject, "yes")),
                (400, "{}".to_owned()),
            ] {
                // Without an earlier prompt there is no earlier nonce.
                let status = if says.contains(r#""nonce":"""#) { 400 } else { status };
                assert_eq!(page(&mut extension, &says).await["status"], status, "{says}");
            }
            tokio::time::sleep(LOOK_FIRST).await;
            let yes = page(&mut extension, &answer(&nonce, &subject, "session")).await;
            assert_eq!(yes["status"], 200, "{yes}");
            let again = page(&mut extension, &answer(&nonce, &subject, "no")).await;
            assert_eq!(again["status"], 404, "the first answer stands");
            nonce
        };
        let (container, nonce) = tokio::join!(stage.container(), person);
        assert_eq!(container, "T2");
        assert_ne!(nonce, before);
        before = nonce;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_window_a_lost_extension_and_a_missing_one_count_as_no() {
    let (stage, mut extension) = stage(42).await;
    let closes = async {
        let nonce = opened(&mut extension).await;
        let other = json!({ "ask": "closed", "id": 5, "nonce": "0".repeat(32) });
        say(&mut extension, &other).await;
        assert_eq!(hear(&mut extension).await.unwrap()["told"], 5);
        assert_eq!(
            page(&mut extension, &show(&nonce)).await["status"],
            200,
            "another window is not this one"
        );
        say(&mut extension, &json!({ "ask": "closed", "id": 6, "nonce": nonce })).await;
        assert_eq!(hear(&mut extension).await.unwrap()["told"], 6);
    };
    assert_eq!(at_once(async { tokio::join!(stage.container(), closes).0 }).await, "T0");

    // The connection with the prompt is lost, and another one cannot answer the prompt.
    let dies = async {
        let nonce = opened(&mut extension).await;
        let shown = page(&mut extension, &show(&nonce)).await;
        drop(extension);
        tokio::time::sleep(LOOK_FIRST).await;
        (nonce, shown["body"]["subject"].as_str().unwrap().to_owned())
    };
    let (container, (nonce, subject)) = at_once(async { tokio::join!(stage.container(), dies) }).await;
    assert_eq!(container, "T0");
    let mut extension = stage.extension().await;
    assert_eq!(page(&mut extension, &answer(&nonce, &subject, "session")).await["status"], 404);

    let refuses = async {
        let asked = asked(&mut extension).await;
        say(&mut extension, &json!({ "id": asked["id"], "failed": "stale" })).await;
    };
    assert_eq!(at_once(async { tokio::join!(stage.container(), refuses).0 }).await, "T0");
    drop(extension);
    assert_eq!(at_once(stage.container()).await, "T0", "nobody is there");
}

/// Runs a step that must not wait until a prompt expires, which takes a minute.
async fn at_once<T>(does: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(45), does).await.expect("it waited for an answer")
}
