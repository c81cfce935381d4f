//! Commands and messages over the pipe.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::process::Open;
use crate::json::text;
use crate::playwright::cdp::session::{BrowserCommand, Reply};
use crate::playwright::error::BridgeError;
use crate::playwright::tab::state::Link;

/// The commands that were sent, and who waits for their results.
struct Sent {
    pipe: std::sync::mpsc::Sender<String>,
    next: u64,
    waiting: HashMap<u64, (String, Reply)>,
}

impl Sent {
    fn send(&mut self, method: String, params: &Value, reply: Option<Reply>) {
        self.next += 1;
        let message = json!({ "id": self.next, "method": method, "params": params });
        if let Some(reply) = reply {
            self.waiting.insert(self.next, (method, reply));
        }
        // An error means that the browser is gone, which the reader notices too and reports.
        let _gone = self.pipe.send(message.to_string());
    }

    fn answered(&mut self, number: u64, message: &mut Value) {
        let Some((method, reply)) = self.waiting.remove(&number) else { return };
        let answer = match message.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(BridgeError::Protocol(method)),
        };
        let _nobody_waits = reply.send(answer);
    }
}

/// Runs until the browser is closed or lost.
pub(super) async fn run(link: &Arc<Link>, open: Open, mut commands: mpsc::UnboundedReceiver<BrowserCommand>) {
    let Open { mut reader, send, mut child } = open;
    let mut sent = Sent { pipe: send, next: 0, waiting: HashMap::new() };
    let mut closed: Option<oneshot::Sender<()>> = None;
    loop {
        tokio::select! {
            command = commands.recv() => match command {
                Some(BrowserCommand::Send { method, params, reply }) => sent.send(method, &params, reply),
                Some(BrowserCommand::Close { done }) => {
                    closed = Some(done);
                    sent.send("Browser.close".to_owned(), &json!({}), None);
                    child.ended().await;
                    break;
                }
                None => break,
            },
            message = reader.next() => match message.as_deref().map(serde_json::from_str::<Value>) {
                Some(Ok(message)) => take(link, message, &mut sent),
                // A message that is not JSON is dropped.
                Some(Err(_)) => {}
                None => break,
            },
        }
    }
    link.lost();
    drop(child);
    if let Some(done) = closed {
        let _nobody_waits = done.send(());
    }
}

fn take(link: &Arc<Link>, mut message: Value, sent: &mut Sent) {
    if let Some(number) = message.get("id").and_then(Value::as_u64) {
        return sent.answered(number, &mut message);
    }
    // Events with a session are of the flat sessions that pause a target; those of the others are wrapped in events of the browser's.
    if let (Some(method), None) = (text(&message, "method"), text(&message, "sessionId")) {
        link.on_root_event(method, message.get("params").unwrap_or(&Value::Null));
    }
}
