//! CDP sessions within the one session that Playwright opens on the browser.
//!
//! Playwright's server drops messages of flat sessions that it did not open, so every target is attached
//! with `flatten: false` and spoken to in wrapped messages. All messages then come through one event in
//! the order in which the browser sent them, which keeps documents and the facts about them together.
//! The browser's own session attaches to new targets only flat: such a session serves to hold the target
//! back until a wrapped one is ready, and is then let go.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::BridgeError;
use super::settings::Tap;
use super::tab::TabState;

/// How long one command may take.
const PATIENCE: Duration = Duration::from_secs(15);

pub(super) type Reply = oneshot::Sender<Result<Value, BridgeError>>;

/// A command for the thread that owns Playwright's connection.
pub(super) enum Order {
    /// A command of the browser's own session.
    Send { method: String, params: Value, reply: Option<Reply> },
    /// Close the browser.
    Close { done: oneshot::Sender<()> },
}

/// The browser's own session, the wrapped ones within it, and the tabs they belong to.
pub(super) struct Link {
    orders: mpsc::UnboundedSender<Order>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    tabs: Mutex<HashMap<String, Weak<TabState>>>,
    /// Targets that a flat session holds back, with that session.
    held: Mutex<HashMap<String, String>>,
    /// Popups.
    refused: Mutex<HashSet<String>>,
    alive: AtomicBool,
    observations: AtomicU64,
    tap: Option<Tap>,
}

/// Locks a mutex; a panic elsewhere leaves nothing half-written that matters here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    pub(super) fn new(orders: mpsc::UnboundedSender<Order>, tap: Option<Tap>) -> Arc<Link> {
        Arc::new(Link {
            orders,
            sessions: Mutex::default(),
            tabs: Mutex::default(),
            held: Mutex::default(),
            refused: Mutex::default(),
            alive: AtomicBool::new(true),
            observations: AtomicU64::new(0),
            tap,
        })
    }

    /// Sends a command of the browser's own session and waits for its result.
    pub(super) async fn call(&self, method: &str, params: Value) -> Result<Value, BridgeError> {
        let (reply, answer) = oneshot::channel();
        self.order(Order::Send { method: method.to_owned(), params, reply: Some(reply) })?;
        await_reply(answer).await
    }

    /// Sends a command of the browser's own session and forgets it.
    pub(super) fn post(&self, method: &str, params: Value) {
        let _gone = self.order(Order::Send { method: method.to_owned(), params, reply: None });
    }

    pub(super) fn order(&self, order: Order) -> Result<(), BridgeError> {
        if !self.is_alive() {
            return Err(BridgeError::Lost);
        }
        self.orders.send(order).map_err(|_| BridgeError::Lost)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// The browser is gone: everything that waits is told so.
    pub(super) fn lost(&self) {
        self.alive.store(false, Ordering::Release);
        for session in std::mem::take(&mut *lock(&self.sessions)).into_values() {
            session.end();
        }
        for tab in lock(&self.tabs).values().filter_map(Weak::upgrade) {
            tab.lost();
        }
    }

    pub(super) fn next_observation(&self) -> u64 {
        self.observations.fetch_add(1, Ordering::AcqRel) + 1
    }

    pub(super) fn add_tab(&self, context: &str, tab: &Arc<TabState>) {
        lock(&self.tabs).insert(context.to_owned(), Arc::downgrade(tab));
    }

    pub(super) fn remove_tab(&self, context: &str) {
        lock(&self.tabs).remove(context);
    }

    /// The tab of a browser context.
    pub(super) fn tab(&self, context: &str) -> Option<Arc<TabState>> {
        lock(&self.tabs).get(context).and_then(Weak::upgrade)
    }

    /// Every open tab.
    pub(super) fn all_tabs(&self) -> Vec<Arc<TabState>> {
        lock(&self.tabs).values().filter_map(Weak::upgrade).collect()
    }

    /// Notes that a flat session holds a target back. False where one does already.
    pub(super) fn hold(&self, target: &str, session: &str) -> bool {
        let mut held = lock(&self.held);
        let is_new = !held.contains_key(target);
        if is_new {
            held.insert(target.to_owned(), session.to_owned());
        }
        is_new
    }

    /// Notes a popup.
    pub(super) fn refuse(&self, target: &str) {
        lock(&self.refused).insert(target.to_owned());
    }

    /// Whether this is a popup.
    pub(super) fn is_refused(&self, target: &str) -> bool {
        lock(&self.refused).contains(target)
    }

    /// Lets a target go that was held back.
    pub(super) fn release(&self, target: &str) {
        if let Some(session) = lock(&self.held).remove(target) {
            self.post("Target.detachFromTarget", json!({ "sessionId": session }));
        }
    }

    pub(super) fn add_session(&self, session: &Arc<Session>) {
        lock(&self.sessions).insert(session.id.clone(), Arc::clone(session));
    }

    /// The session of a worker, by its target.
    pub(super) fn worker(&self, target: &str) -> Option<Arc<Session>> {
        let sessions = lock(&self.sessions);
        sessions
            .values()
            .find(|session| session.target == target && session.kind.ends_with("worker"))
            .cloned()
    }

    pub(super) fn remove_session(&self, id: &str) -> Option<Arc<Session>> {
        let session = lock(&self.sessions).remove(id)?;
        session.end();
        Some(session)
    }

    /// Takes an event of the browser's own session.
    pub(super) fn on_root_event(self: &Arc<Link>, method: &str, params: &Value) {
        if method == "Target.receivedMessageFromTarget" {
            self.unwrap(params);
            return;
        }
        if let Some(tap) = &self.tap {
            tap(&params.to_string());
        }
        self.on_browser_event(method, params);
    }

    /// Takes a wrapped message out and gives it to its session.
    pub(super) fn unwrap(self: &Arc<Link>, params: &Value) {
        let (Some(id), Some(message)) = (text(params, "sessionId"), text(params, "message")) else {
            return;
        };
        let Some(session) = lock(&self.sessions).get(id).cloned() else {
            return;
        };
        let Ok(message) = serde_json::from_str::<Value>(message) else {
            return;
        };
        let method = text(&message, "method");
        if method != Some("Target.receivedMessageFromTarget")
            && let (Some(tap), Some(raw)) = (&self.tap, text(params, "message"))
        {
            tap(raw);
        }
        match (message.get("id").and_then(Value::as_u64), method) {
            (Some(number), _) => session.answer(number, &message),
            (None, Some("Target.receivedMessageFromTarget")) => {
                if let Some(params) = message.get("params") {
                    self.unwrap(params);
                }
            }
            (None, Some(method)) => {
                if let Some(tab) = session.tab() {
                    tab.on_event(&session, method, message.get("params").unwrap_or(&Value::Null));
                }
            }
            (None, None) => {}
        }
    }
}

/// A string member.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

async fn await_reply(answer: oneshot::Receiver<Result<Value, BridgeError>>) -> Result<Value, BridgeError> {
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(BridgeError::Lost),
        Err(_) => Err(BridgeError::Timeout),
    }
}

/// One attached target.
pub(super) struct Session {
    pub(super) id: String,
    /// The target; for pages and out-of-process frames it is also the id of their root frame.
    pub(super) target: String,
    /// `page`, `iframe`, `worker`, `service_worker`, ...
    pub(super) kind: String,
    parent: Option<Arc<Session>>,
    link: Arc<Link>,
    tab: Weak<TabState>,
    next: AtomicU64,
    pending: Mutex<HashMap<u64, (String, Reply)>>,
    ended: AtomicBool,
}

impl Session {
    pub(super) fn new(
        link: &Arc<Link>,
        parent: Option<&Arc<Session>>,
        tab: &Arc<TabState>,
        id: &str,
        target: &str,
        kind: &str,
    ) -> Arc<Session> {
        let session = Arc::new(Session {
            id: id.to_owned(),
            target: target.to_owned(),
            kind: kind.to_owned(),
            parent: parent.cloned(),
            link: Arc::clone(link),
            tab: Arc::downgrade(tab),
            next: AtomicU64::new(0),
            pending: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        link.add_session(&session);
        session
    }

    /// Sends a command and waits for its result.
    pub(super) async fn call(&self, method: &str, params: Value) -> Result<Value, BridgeError> {
        let (reply, answer) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.pending).insert(number, (method.to_owned(), reply));
        if self.has_ended() {
            lock(&self.pending).remove(&number);
            return Err(self.end_error());
        }
        self.post_numbered(number, method, params);
        let result = await_reply(answer).await;
        if result.is_err() {
            lock(&self.pending).remove(&number);
        }
        result
    }

    /// Sends a command and forgets it.
    pub(super) fn post(&self, method: &str, params: Value) {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.post_numbered(number, method, params);
    }

    fn post_numbered(&self, number: u64, method: &str, params: Value) {
        let message = json!({ "id": number, "method": method, "params": params }).to_string();
        let wrapped = json!({ "sessionId": self.id, "message": message });
        match &self.parent {
            Some(parent) => parent.post("Target.sendMessageToTarget", wrapped),
            None => self.link.post("Target.sendMessageToTarget", wrapped),
        }
    }

    fn answer(&self, number: u64, message: &Value) {
        let Some((method, reply)) = lock(&self.pending).remove(&number) else {
            return;
        };
        let result = match message.get("error") {
            None => Ok(message.get("result").cloned().unwrap_or(Value::Null)),
            Some(error) => Err(refusal(&method, text(error, "message").unwrap_or_default())),
        };
        let _nobody_waits = reply.send(result);
    }

    pub(super) fn tab(&self) -> Option<Arc<TabState>> {
        self.tab.upgrade()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    fn end_error(&self) -> BridgeError {
        if self.link.is_alive() && self.kind != "page" { BridgeError::Stale } else { BridgeError::Lost }
    }

    /// The target is gone: whoever waits is told so.
    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        for (_, reply) in std::mem::take(&mut *lock(&self.pending)).into_values() {
            let _nobody_waits = reply.send(Err(self.end_error()));
        }
    }
}

/// The browser's refusals that mean "another document by now" are told apart from the rest. The browser's
/// message itself may quote the page, so it is not kept.
fn refusal(method: &str, message: &str) -> BridgeError {
    let gone = [
        "context",
        "No node",
        "node",
        "No frame",
        "Frame",
        "frame",
        "not find object",
        "navigated",
        "closed",
    ];
    if gone.iter().any(|word| message.contains(word)) {
        BridgeError::Stale
    } else {
        BridgeError::Protocol(method.to_owned())
    }
}
