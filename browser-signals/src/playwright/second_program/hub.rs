//! Messages of the bridge and of the second program over one pipe.
//!
//! The browser's own session (messages without a session) is the bridge's. The second program has a session of its own on
//! the browser, and those that were attached for it; every other session belongs to the bridge.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::outbox::{Outbox, Recipient};
use super::process::Open;
use super::relay::{Relay, RelayEvent};
use crate::json::text;
use crate::playwright::cdp::session::BrowserCommand;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::state::Link;

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
        mut commands: mpsc::UnboundedReceiver<BrowserCommand>,
        mut relayed: mpsc::UnboundedReceiver<RelayEvent>,
    ) {
        let Open { mut reader, send, mut child } = open;
        let mut outbox = Outbox::new(send);
        let mut relay = Relay::default();
        let mut closed: Option<oneshot::Sender<()>> = None;
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    Some(BrowserCommand::Send { method, params, reply }) => {
                        let recipient = Recipient::Bridge { method: method.clone(), reply };
                        outbox.command(None, &method, &params, recipient);
                    }
                    Some(BrowserCommand::Close { done }) => {
                        closed = Some(done);
                        outbox.command(None, "Browser.close", &json!({}), Recipient::Nobody);
                        child.ended().await;
                        break;
                    }
                    None => break,
                },
                Some(event) = relayed.recv() => relay.take(event, &mut outbox),
                message = reader.next() => match message.as_deref().map(serde_json::from_str::<Value>) {
                    Some(Ok(message)) => self.route(message, &mut outbox, &mut relay),
                    // A message that is not JSON is dropped.
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
            match outbox.take_recipient(number) {
                Some(Recipient::Bridge { method, reply: Some(reply) }) => {
                    let answer = match message.get_mut("result") {
                        Some(result) => Ok(result.take()),
                        None => Err(BridgeError::Protocol(method)),
                    };
                    let _nobody_waits = reply.send(answer);
                }
                Some(Recipient::Relay { number, session }) => relay.answered(number, session, message),
                Some(Recipient::RelayAttached) => {
                    let session = message.pointer("/result/sessionId").and_then(Value::as_str);
                    relay.attached(session, outbox);
                }
                Some(Recipient::Bridge { reply: None, .. } | Recipient::Nobody) | None => {}
            }
            return;
        }
        let Some(method) = text(&message, "method").map(str::to_owned) else { return };
        match text(&message, "sessionId") {
            Some(session) if relay.owns(session) => relay.event(message, outbox),
            // Flat sessions that pause a target; the bridge's other sessions are wrapped in messages of the browser's.
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
