//! The messages to and from the second program.
//!
//! To this program the browser seems to have one page and no other client. Most commands to the browser are answered here;
//! commands to the page are passed on if they are among the [`allowed`] ones. It never sees another page, the bridge's
//! sessions, or the browser's contexts.

use std::collections::HashSet;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::allowed::{self, Handling};
use super::outbox::{Outbox, Recipient};
use crate::json::text;
use crate::playwright::tab::frames::WORLD;

/// An event for the relay.
pub(super) enum RelayEvent {
    /// The second program has connected; messages to it go here.
    Connected(mpsc::UnboundedSender<String>),
    /// It sent a message.
    Received(String),
    /// It has disconnected.
    Gone,
    /// Show it this page.
    Follow { target: String },
    /// Show it none.
    Leave,
}

/// The second program's part of the pipe.
#[derive(Default)]
pub(super) struct Relay {
    client: Option<mpsc::UnboundedSender<String>>,
    /// Its session on the browser, once it has one.
    browser: Option<String>,
    /// Its sessions on the page, its frames and its workers.
    sessions: HashSet<String>,
    /// The page that it is to see.
    target: Option<String>,
    /// The session on it.
    page: Option<String>,
    /// The guard's own worlds, by session: it does not see them and may not name them.
    hidden: HashSet<(String, String)>,
    /// The messages that it sent before it had a session on the browser.
    early: Vec<String>,
    /// Whether it has subscribed to pages.
    listens: bool,
    /// Its number of the command after which it expects to know the page, while it does not.
    unanswered: Option<Value>,
}

/// How many messages are stored before there is a session on the browser.
const MOST_EARLY: usize = 100;

impl Relay {
    pub(super) fn take(&mut self, event: RelayEvent, outbox: &mut Outbox) {
        match event {
            RelayEvent::Connected(client) => {
                self.client = Some(client);
                outbox.command(None, "Target.attachToBrowserTarget", &json!({}), Recipient::RelayAttached);
            }
            RelayEvent::Gone => {
                self.client = None;
                if let Some(browser) = self.browser.take() {
                    let params = json!({ "sessionId": browser });
                    outbox.command(None, "Target.detachFromTarget", &params, Recipient::Nobody);
                }
                *self = Relay { target: self.target.take(), ..Relay::default() };
            }
            RelayEvent::Received(message) if self.browser.is_none() => {
                if self.early.len() < MOST_EARLY {
                    self.early.push(message);
                }
            }
            RelayEvent::Received(message) => self.on_message(&message, outbox),
            RelayEvent::Follow { target } => {
                self.target = Some(target);
                self.attach_page(outbox);
            }
            RelayEvent::Leave => {
                self.target = None;
                if let (Some(browser), Some(page)) = (&self.browser, self.page.take()) {
                    let params = json!({ "sessionId": page });
                    outbox.command(Some(browser), "Target.detachFromTarget", &params, Recipient::Nobody);
                }
            }
        }
    }

    /// The relay has a session on the browser, or was refused one.
    pub(super) fn attached(&mut self, session: Option<&str>, outbox: &mut Outbox) {
        self.browser = session.map(str::to_owned);
        for message in std::mem::take(&mut self.early) {
            self.on_message(&message, outbox);
        }
    }

    fn attach_page(&mut self, outbox: &mut Outbox) {
        if let (true, Some(browser), Some(target), None) =
            (self.listens, &self.browser, &self.target, &self.page)
        {
            let params = json!({ "targetId": target, "flatten": true });
            outbox.command(Some(browser), "Target.attachToTarget", &params, Recipient::Nobody);
        }
    }

    pub(super) fn owns(&self, session: &str) -> bool {
        self.browser.as_deref() == Some(session) || self.sessions.contains(session)
    }

    pub(super) fn end(&mut self) {
        self.client = None;
    }

    fn send(&self, message: &Value) {
        if let Some(client) = &self.client {
            let _gone = client.send(message.to_string());
        }
    }

    /// Handles a message of the second program's.
    fn on_message(&mut self, message: &str, outbox: &mut Outbox) {
        let Ok(message) = serde_json::from_str::<Value>(message) else { return };
        let (Some(number), Some(method)) = (message.get("id").cloned(), text(&message, "method")) else {
            return;
        };
        let session = text(&message, "sessionId").map(str::to_owned);
        let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
        let handling = match &session {
            None => allowed::of_the_browser(method),
            Some(session) if self.sessions.contains(session) && !self.is_of_the_guard(session, &params) => {
                allowed::of_the_page(method)
            }
            Some(_) => Handling::Refused,
        };
        let on = session.clone().or_else(|| self.browser.clone());
        match (handling, on) {
            (Handling::Passed, Some(on)) => {
                outbox.command(Some(&on), method, &params, Recipient::Relay { number, session });
            }
            (Handling::Answered(_), _) if method == "Target.setAutoAttach" && session.is_none() => {
                self.listens = true;
                // The browser reports the existing pages before it answers.
                self.unanswered = Some(number);
                match &self.target {
                    Some(_) => self.attach_page(outbox),
                    None => self.answer_unanswered(),
                }
            }
            (Handling::Answered(result), _) => {
                self.send(&with_session(json!({ "id": number, "result": result }), session.as_deref()));
            }
            (Handling::Refused | Handling::Passed, _) => {
                let error = json!({ "code": -32000, "message": format!("{method} is not allowed here") });
                self.send(&with_session(json!({ "id": number, "error": error }), session.as_deref()));
            }
        }
    }

    /// Whether a command is about one of the guard's worlds.
    fn is_of_the_guard(&self, session: &str, params: &Value) -> bool {
        let hides = |name: &str| {
            let id = params.get(name).filter(|id| !id.is_null()).map(ToString::to_string);
            id.is_some_and(|id| self.hidden.contains(&(session.to_owned(), id)))
        };
        let by_id = ["contextId", "executionContextId", "uniqueContextId"].into_iter().any(hides);
        let by_name =
            ["worldName", "executionContextName"].iter().any(|name| text(params, name) == Some(WORLD));
        by_id || by_name
    }

    fn answer_unanswered(&mut self) {
        if let Some(number) = self.unanswered.take() {
            self.send(&json!({ "id": number, "result": {} }));
        }
    }

    /// The browser answered a command of the second program.
    pub(super) fn answered(&self, number: Value, session: Option<String>, mut message: Value) {
        if let Some(message) = message.as_object_mut() {
            message.insert("id".to_owned(), number);
            message.remove("sessionId");
        }
        self.send(&with_session(message, session.as_deref()));
    }

    /// An event of one of the second program's sessions.
    pub(super) fn event(&mut self, mut message: Value, outbox: &mut Outbox) {
        let method = text(&message, "method").unwrap_or_default().to_owned();
        let session = text(&message, "sessionId").unwrap_or_default().to_owned();
        let of_browser = self.browser.as_deref() == Some(session.as_str());
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        let child = text(&params, "sessionId").unwrap_or_default().to_owned();
        match method.as_str() {
            "Target.attachedToTarget" => {
                let target = params.pointer("/targetInfo/targetId").and_then(Value::as_str);
                let is_page = of_browser && target.is_some() && target == self.target.as_deref();
                let kind = params.pointer("/targetInfo/type").and_then(Value::as_str).unwrap_or_default();
                if (of_browser && !is_page) || (!of_browser && kind == "page") {
                    let detach = json!({ "sessionId": child });
                    outbox.command(Some(&session), "Target.detachFromTarget", &detach, Recipient::Nobody);
                    return;
                }
                self.sessions.insert(child.clone());
                if is_page {
                    self.page = Some(child);
                }
            }
            "Target.detachedFromTarget" => {
                self.sessions.remove(&child);
                if self.page.as_deref() == Some(child.as_str()) {
                    self.page = None;
                }
            }
            "Runtime.executionContextCreated"
                if params.pointer("/context/name").and_then(Value::as_str) == Some(WORLD) =>
            {
                let ids = ["/context/id", "/context/uniqueId"].iter().filter_map(|id| params.pointer(id));
                self.hidden.extend(ids.map(|id| (session.clone(), id.to_string())));
                return;
            }
            // No other event of its session on the browser is passed on.
            _ if of_browser => return,
            _ => {}
        }
        if let Some(info) = message.pointer_mut("/params/targetInfo").and_then(Value::as_object_mut) {
            // The program requires an id, and does not need the real one.
            info.insert("browserContextId".to_owned(), "container".into());
        }
        if of_browser && let Some(message) = message.as_object_mut() {
            message.remove("sessionId");
        }
        self.send(&message);
        if self.page.is_some() {
            self.answer_unanswered();
        }
    }
}

fn with_session(mut message: Value, session: Option<&str>) -> Value {
    if let (Some(session), Some(message)) = (session, message.as_object_mut()) {
        message.insert("sessionId".to_owned(), session.into());
    }
    message
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
