//! Extensions that come and go while a task ends.

use portcullis::service::Client;
use portcullis::service::protocol::{Hello, Role, Wish};
use serde_json::json;
use tokio::net::UnixStream;

use super::{Stage, hear, say};

/// What the service says to an extension that comes: whether there is a task.
async fn welcomed(stage: &Stage) -> (UnixStream, bool) {
    let mut stream = UnixStream::connect(stage.place.socket()).await.unwrap();
    let word = stage.place.word(Role::Extension).unwrap();
    say(&mut stream, &Hello { role: Role::Extension, word: &word }.message()).await;
    let welcome = hear(&mut stream).await.unwrap();
    (stream, welcome["welcome"]["task"].as_bool().unwrap())
}

/// A worker that was stopped may seem to be there still, while the one that came back asks whether pages are to stay narrow.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_while_another_is_told_of_the_end_hears_of_no_task() {
    let stage = Stage::new(61).await;
    stage.begin().await;
    let (mut dead, task) = welcomed(&stage).await;
    assert!(task);
    // Once it is told something, it is the one that is asked.
    say(&mut dead, &json!({ "ask": "status", "id": 1 })).await;
    assert_eq!(hear(&mut dead).await.unwrap()["told"], 1);
    let ends = async {
        let mut user = Client::connect(&stage.place, Role::User).await.unwrap();
        user.ask(&Wish::End).await.unwrap()
    };
    let comes = async {
        let asked = hear(&mut dead).await.unwrap();
        assert_eq!(asked["ask"], "widen");
        let (_stream, task) = welcomed(&stage).await;
        assert!(!task, "its pages would stay narrow, and nobody would tell it");
        say(&mut dead, &json!({ "id": asked["id"], "answer": "done" })).await;
    };
    let (ended, ()) = tokio::join!(ends, comes);
    assert_eq!(ended["ended"], true);
}
