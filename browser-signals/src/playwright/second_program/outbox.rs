//! The commands that were sent to the browser, and the recipients of their results.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::playwright::cdp::session::Reply;

/// The recipient of a command's result.
pub(super) enum Recipient {
    /// The bridge.
    Bridge { method: String, reply: Option<Reply> },
    /// The second program: its own number, and its own session.
    Relay { number: Value, session: Option<String> },
    /// The relay itself, for its session on the browser.
    RelayAttached,
    /// None: the result is dropped.
    Nobody,
}

/// Sends commands, and stores the recipients of their results.
pub(super) struct Outbox {
    send: std::sync::mpsc::Sender<String>,
    next: u64,
    waiting: HashMap<u64, Recipient>,
}

impl Outbox {
    pub(super) fn new(send: std::sync::mpsc::Sender<String>) -> Outbox {
        Outbox { send, next: 0, waiting: HashMap::new() }
    }

    /// The recipient of the result with this number.
    pub(super) fn take_recipient(&mut self, number: u64) -> Option<Recipient> {
        self.waiting.remove(&number)
    }

    pub(super) fn command(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        recipient: Recipient,
    ) {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if let (Some(session), Some(message)) = (session, message.as_object_mut()) {
            message.insert("sessionId".to_owned(), session.into());
        }
        self.waiting.insert(self.next, recipient);
        // An error means that the browser is gone, which the reader notices too and reports.
        let _gone = self.send.send(message.to_string());
    }
}
