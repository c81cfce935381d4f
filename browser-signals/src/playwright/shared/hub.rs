//! Messages of the bridge and of the second program over one pipe.
//!
//! The browser's own session (messages without a session) is the bridge's. The second program has a session of its own on
//! the browser, and those that were attached for it; every other session belongs to the bridge.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::process::Open;
use super::relay::{Relay, Relayed};
use crate::playwright::BridgeError;
use crate::playwright::session::{Link, Order, Reply, text};

/// Who waits for an answer.
pub(super) enum Waiting {
    /// The bridge.
    Bridge { method: String, reply: Option<Reply> },
    /// The second program: its own number, and its own session.
    Relay { number: Value, session: Option<String> },
    /// The relay itself, for its session on the browser.
    RelayAttached,
    /// Nobody.
    Nobody,
}

/// Sends commands and keeps who waits for their answers.
pub(super) struct Outbox {
    pub(super) send: std::sync::mpsc::Sender<String>,
    pub(super) next: u64,
    pub(super) waiting: HashMap<u64, Waiting>,
}

impl Outbox {
    pub(super) fn command(&mut self, session: Option<&str>, method: &str, params: &Value, waiting: Waiting) {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if let (Some(session), Some(message)) = (session, message.as_object_mut()) {
            message.insert("sessionId".to_owned(), session.into());
        }
        self.waiting.insert(self.next, waiting);
        // Where the browser is gone, the reader notices and everybody is told.
        let _gone = self.send.send(message.to_string());
    }
}

/// Runs until the browser is closed or lost.
pub(super) struct Hub {
    link: Arc<Link>,
}

impl Hub {
    pub(super) fn new(link: Arc<Link>) -> Hub {
        Hub { link }
    }

    pub(super) async fn run(
        self,
        open: Open,
        mut orders: mpsc::UnboundedReceiver<Order>,
        mut relayed: mpsc::UnboundedReceiver<Relayed>,
    ) {
        let Open { mut reader, send, mut child } = open;
        let mut outbox = Outbox { send, next: 0, waiting: HashMap::new() };
        let mut relay = Relay::default();
        let mut closed: Option<oneshot::Sender<()>> = None;
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Send { method, params, reply }) => {
                        let waiting = Waiting::Bridge { method: method.clone(), reply };
                        outbox.command(None, &method, &params, waiting);
                    }
                    Some(Order::Close { done }) => {
                        closed = Some(done);
                        outbox.command(None, "Browser.close", &json!({}), Waiting::Nobody);
                        child.ended().await;
                        break;
                    }
                    None => break,
                },
                Some(order) = relayed.recv() => relay.take(order, &mut outbox),
                message = reader.next() => match message.as_deref().map(serde_json::from_str::<Value>) {
                    Some(Ok(message)) => self.route(message, &mut outbox, &mut relay),
                    // What is no JSON is nobody's.
                    Some(Err(_)) => {}
                    None => break,
                },
            }
        }
        self.link.lost();
        relay.end();
        drop(child);
        if let Some(done) = closed {
            let _nobody_waits = done.send(());
        }
    }

    fn route(&self, mut message: Value, outbox: &mut Outbox, relay: &mut Relay) {
        if let Some(number) = message.get("id").and_then(Value::as_u64) {
            match outbox.waiting.remove(&number) {
                Some(Waiting::Bridge { method, reply: Some(reply) }) => {
                    let answer = match message.get_mut("result") {
                        Some(result) => Ok(result.take()),
                        None => Err(BridgeError::Protocol(method)),
                    };
                    let _nobody_waits = reply.send(answer);
                }
                Some(Waiting::Relay { number, session }) => relay.answered(number, session, message),
                Some(Waiting::RelayAttached) => {
                    let session = message.pointer("/result/sessionId").and_then(Value::as_str);
                    relay.attached(session, outbox);
                }
                Some(Waiting::Bridge { reply: None, .. } | Waiting::Nobody) | None => {}
            }
            return;
        }
        let Some(method) = text(&message, "method").map(str::to_owned) else { return };
        match text(&message, "sessionId") {
            Some(session) if relay.owns(session) => relay.event(message, outbox),
            // Sessions that hold a target back; the bridge's own are wrapped in messages of the browser's session.
            Some(_) => {}
            None => {
                let params = message.get("params").unwrap_or(&Value::Null);
                // The relay's own session on the browser is announced to the bridge too.
                let is_browser =
                    params.pointer("/targetInfo/type").and_then(Value::as_str) == Some("browser");
                if !(method == "Target.attachedToTarget" && is_browser) {
                    self.link.on_root_event(&method, params);
                }
            }
        }
    }
}
