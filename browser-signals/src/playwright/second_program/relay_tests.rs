//! The relay against a scripted browser and client.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use super::*;

/// A relay, the messages that it sends to the browser, and those that it sends to the client.
struct Scene {
    relay: Relay,
    outbox: Outbox,
    to_browser: std::sync::mpsc::Receiver<String>,
    to_client: mpsc::UnboundedReceiver<String>,
}

impl Scene {
    /// A client that has connected and listens, and a page that it sees in the session `P`.
    fn new() -> Scene {
        let (send, to_browser) = std::sync::mpsc::channel();
        let (client, to_client) = mpsc::unbounded_channel();
        let outbox = Outbox::new(send);
        let mut scene = Scene { relay: Relay::default(), outbox, to_browser, to_client };
        scene.relay.take(RelayEvent::Follow { target: "page".to_owned() }, &mut scene.outbox);
        scene.relay.take(RelayEvent::Connected(client), &mut scene.outbox);
        scene.relay.attached(Some("B"), &mut scene.outbox);
        scene.say(json!({ "id": 1, "method": "Target.setAutoAttach", "params": {} }));
        let info = json!({ "targetId": "page", "type": "page", "browserContextId": "container-7" });
        scene.event("B", "Target.attachedToTarget", json!({ "sessionId": "P", "targetInfo": info }));
        scene
    }

    fn say(&mut self, message: Value) {
        self.relay.take(RelayEvent::Received(message.to_string()), &mut self.outbox);
    }

    fn event(&mut self, session: &str, method: &str, params: Value) {
        let message = json!({ "sessionId": session, "method": method, "params": params });
        self.relay.event(message, &mut self.outbox);
    }

    fn received(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.to_client.try_recv().ok())
            .map(|text| serde_json::from_str(&text).unwrap())
            .collect()
    }

    /// Drops the messages so far.
    fn forget(&mut self) {
        self.received();
        self.sent();
    }

    fn sent(&mut self) -> Vec<Value> {
        self.to_browser.try_iter().map(|text| serde_json::from_str(&text).unwrap()).collect()
    }
}

#[test]
fn the_page_is_reported_before_the_answer_and_without_its_context() {
    let mut scene = Scene::new();
    let received = scene.received();
    assert_eq!(received[0]["method"], "Target.attachedToTarget");
    assert_eq!(received[0]["params"]["targetInfo"]["browserContextId"], "container");
    assert!(received[0].get("sessionId").is_none());
    assert_eq!(received[1], json!({ "id": 1, "result": {} }));
}

#[test]
fn listed_commands_are_passed_on_and_others_refused() {
    let mut scene = Scene::new();
    scene.forget();
    scene.say(json!({ "id": 2, "sessionId": "P", "method": "Page.getLayoutMetrics", "params": {} }));
    assert_eq!(scene.sent()[0]["sessionId"], "P");
    for (session, method) in [
        ("P", "Page.navigate"),
        ("P", "Network.getCookies"),
        ("other", "Page.getLayoutMetrics"),
        ("B", "Target.createTarget"),
    ] {
        scene.say(json!({ "id": 3, "sessionId": session, "method": method, "params": {} }));
        assert_eq!(scene.sent(), Vec::<Value>::new(), "{session} {method}");
        assert!(scene.received()[0]["error"]["message"].as_str().unwrap().contains("not allowed"));
    }
    scene.say(json!({ "id": 4, "method": "Target.getTargets", "params": {} }));
    assert!(scene.received()[0].get("error").is_some());
}

#[test]
fn other_pages_are_detached_and_not_reported() {
    let mut scene = Scene::new();
    scene.forget();
    let info = json!({ "targetId": "other", "type": "page", "browserContextId": "container-8" });
    scene.event("B", "Target.attachedToTarget", json!({ "sessionId": "O", "targetInfo": info }));
    let popup = json!({ "targetId": "popup", "type": "page" });
    scene.event("P", "Target.attachedToTarget", json!({ "sessionId": "Q", "targetInfo": popup }));
    assert_eq!(scene.received(), Vec::<Value>::new());
    let sent = scene.sent();
    assert!(sent.len() == 2 && sent.iter().all(|it| it["method"] == "Target.detachFromTarget"), "{sent:?}");
    assert!(!scene.relay.owns("O") && !scene.relay.owns("Q") && scene.relay.owns("P"));
}

#[test]
fn the_guards_worlds_are_not_reported_and_cannot_be_named() {
    let mut scene = Scene::new();
    scene.forget();
    let context =
        |id: u32, name: &str| json!({ "context": { "id": id, "uniqueId": format!("u{id}"), "name": name } });
    scene.event("P", "Runtime.executionContextCreated", context(5, WORLD));
    scene.event("P", "Runtime.executionContextCreated", context(6, "utility"));
    assert_eq!(scene.received().len(), 1);
    for params in [
        json!({ "contextId": 5 }),
        json!({ "executionContextId": 5 }),
        json!({ "uniqueContextId": "u5" }),
        json!({ "worldName": WORLD }),
        json!({ "executionContextName": WORLD }),
    ] {
        scene.say(json!({ "id": 9, "sessionId": "P", "method": "Runtime.evaluate", "params": params }));
        assert_eq!(scene.sent(), Vec::<Value>::new(), "{params}");
    }
    scene.say(
        json!({ "id": 9, "sessionId": "P", "method": "Runtime.evaluate", "params": { "contextId": 6 } }),
    );
    assert_eq!(scene.sent().len(), 1);
}

#[test]
fn a_page_that_is_left_is_detached_and_the_next_one_is_reported() {
    let mut scene = Scene::new();
    scene.forget();
    scene.relay.take(RelayEvent::Leave, &mut scene.outbox);
    assert_eq!(scene.sent()[0]["params"]["sessionId"], "P");
    scene.event("B", "Target.detachedFromTarget", json!({ "sessionId": "P", "targetId": "page" }));
    assert_eq!(scene.received()[0]["method"], "Target.detachedFromTarget");
    assert!(!scene.relay.owns("P"));
    scene.relay.take(RelayEvent::Follow { target: "next".to_owned() }, &mut scene.outbox);
    assert_eq!(scene.sent()[0]["params"]["targetId"], "next");
}
