//! Extensions that come and go while a task ends.

use portcullis::service::Client;
use portcullis::service::protocol::{ClientRequest, Hello, Role};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Stage, hear, say};

/// What the service says to an extension that comes: what is to be open to pages that hold values, and nothing else.
async fn welcomed(stage: &Stage) -> (UnixStream, Value) {
    let mut stream = UnixStream::connect(stage.service_folder.socket()).await.unwrap();
    let token = stage.service_folder.auth_token(Role::Extension).unwrap();
    say(&mut stream, &Hello { role: Role::Extension, token: &token }.message()).await;
    let welcome = hear(&mut stream).await.unwrap();
    // Once it is told something, it is the one that is asked.
    say(&mut stream, &json!({ "ask": "status", "id": 1 })).await;
    assert_eq!(hear(&mut stream).await.unwrap()["told"], 1);
    (stream, welcome["welcome"]["narrow"].clone())
}

/// A worker that was stopped may seem to be there still, while the one that came back asks whether pages are to stay narrow.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_while_another_is_told_of_the_end_hears_of_no_task() {
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

/// A task of before may have ended while no extension was there: the next one's pages are its own.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_in_another_task_does_not_hear_of_what_the_first_released() {
    let stage = Stage::new(62).await;
    stage.begin().await;
    let frames = json!([stage.frame(&json!({}))]);
    assert!(stage.request_with(frames.clone(), "done").await.starts_with("GRANT"));
    stage.begin().await;
    assert_eq!(welcomed(&stage).await.1, json!([]));
    // What did not go leaves nothing narrow, and what may have gone does.
    assert!(stage.request_with(frames.clone(), "hidden").await.starts_with("DENY"));
    assert_eq!(welcomed(&stage).await.1, json!([]));
    assert!(stage.request_with(frames, "unconfirmed").await.contains("unconfirmed"));
    assert_eq!(welcomed(&stage).await.1, json!([stage.shop]));
}
