//! Extensions that come and go while a task ends.

use portcullis::service::Client;
use portcullis::service::protocol::{ClientRequest, Hello, Role};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Stage, hear, say};

/// Connects an extension, and returns the origins that the welcome leaves open to pages with values.
async fn welcomed(stage: &Stage) -> (UnixStream, Value) {
    let mut stream = UnixStream::connect(stage.service_folder.socket()).await.unwrap();
    let token = stage.service_folder.auth_token(Role::Extension).unwrap();
    say(&mut stream, &Hello { role: Role::Extension, token: &token }.message()).await;
    let welcome = hear(&mut stream).await.unwrap();
    // After its first message it is the service's current extension.
    say(&mut stream, &json!({ "ask": "status", "id": 1 })).await;
    assert_eq!(hear(&mut stream).await.unwrap()["told"], 1);
    (stream, welcome["welcome"]["narrow"].clone())
}

/// A stopped worker may still seem connected while its successor asks for the rules.
#[tokio::test(flavor = "multi_thread")]
async fn an_extension_that_connects_during_the_end_of_a_task_gets_no_rules() {
    let stage = Stage::new(61).await;
    stage.begin().await;
    assert_eq!(welcomed(&stage).await.1, json!([]), "nothing was released yet");
    let frames = json!([stage.frame(&json!({}))]);
    let reply = stage.request_with(frames, "done").await;
    assert!(reply.starts_with("GRANT"), "{reply}");
    let (mut dead, narrow) = welcomed(&stage).await;
    assert_eq!(narrow, json!([stage.shop]));
    let ends = async {
        let mut user = Client::connect(&stage.service_folder, Role::User).await.unwrap();
        user.ask(&ClientRequest::End).await.unwrap()
    };
    let comes = async {
        let asked = hear(&mut dead).await.unwrap();
        assert_eq!(asked["ask"], "widen");
        let (_stream, narrow) = welcomed(&stage).await;
        assert_eq!(narrow, json!([]), "its pages would stay narrow, and nobody would tell it");
        say(&mut dead, &json!({ "id": asked["id"], "answer": "done" })).await;
    };
    let (ended, ()) = tokio::join!(ends, comes);
    assert_eq!(ended["ended"], true);
}

/// The earlier task may have ended without a connected extension. Its rules do not apply to the next task.
#[tokio::test(flavor = "multi_thread")]
async fn an_extension_that_connects_in_a_later_task_gets_no_rules_of_the_first() {
    let stage = Stage::new(62).await;
    stage.begin().await;
    let frames = json!([stage.frame(&json!({}))]);
    assert!(stage.request_with(frames.clone(), "done").await.starts_with("GRANT"));
    stage.begin().await;
    assert_eq!(welcomed(&stage).await.1, json!([]));
    // A failed delivery restricts nothing, and a possible delivery does.
    assert!(stage.request_with(frames.clone(), "hidden").await.starts_with("DENY"));
    assert_eq!(welcomed(&stage).await.1, json!([]));
    assert!(stage.request_with(frames, "unconfirmed").await.contains("unconfirmed"));
    assert_eq!(welcomed(&stage).await.1, json!([stage.shop]));
}
