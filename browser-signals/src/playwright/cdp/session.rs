//! CDP sessions within the one session that Playwright opens on the browser.
//!
//! Playwright's server drops messages of flat sessions that it did not open, so every target is attached
//! with `flatten: false` and all commands and events of it are wrapped. All messages then come through one
//! event in the order in which the browser sent them, which keeps documents and the facts about them together.
//! The browser's own session attaches to new targets only flat: such a session pauses the target until a
//! wrapped session is ready, and is then detached.
//!
//! Sessions know nothing of tabs: a [`Listener`] takes their events.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::refusal::is_gone;
use crate::json::text;
use crate::playwright::browser::settings::Tap;
use crate::playwright::error::BridgeError;

/// The longest time that one command may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// The sender of a command's result to the caller that waits for it.
pub(crate) type Reply = oneshot::Sender<Result<Value, BridgeError>>;

/// The receiver of the events of a tab's sessions.
pub(crate) trait Listener: Sized + Send + Sync + 'static {
    /// Takes an event of the browser's own session.
    fn on_browser_event(link: &Arc<Link<Self>>, method: &str, params: &Value);

    /// Takes an event of one of the tab's sessions. It runs on the bridge's thread, so it must not wait.
    fn on_event(self: &Arc<Self>, session: &Arc<Session<Self>>, method: &str, params: &Value);

    /// Learns that the browser is gone.
    fn on_lost(&self);
}

/// A command for the thread that owns the connection to the browser.
pub(crate) enum BrowserCommand {
    /// A command of the browser's own session.
    Send { method: String, params: Value, reply: Option<Reply> },
    /// Close the browser.
    Close { done: oneshot::Sender<()> },
}

/// The browser's own session, the wrapped ones within it, and the tabs they belong to.
pub(crate) struct Link<T> {
    commands: mpsc::UnboundedSender<BrowserCommand>,
    sessions: Mutex<HashMap<String, Arc<Session<T>>>>,
    /// With their browser contexts, in the order in which they were opened.
    tabs: Mutex<Vec<(String, Weak<T>)>>,
    /// Targets that a flat session pauses, with the id of that session.
    paused: Mutex<HashMap<String, String>>,
    /// The targets of popups.
    popups: Mutex<HashSet<String>>,
    /// True if the browser has no other client, which could let a paused target run.
    is_alone: bool,
    alive: AtomicBool,
    observations: AtomicU64,
    tap: Option<Tap>,
}

/// Locks a mutex, also after a panic: no state here is left half-written by one.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Listener> Link<T> {
    /// The link to a browser that Playwright's server is a client of too.
    #[cfg(feature = "playwright-server")]
    pub(crate) fn beside_playwright(
        commands: mpsc::UnboundedSender<BrowserCommand>,
        tap: Option<Tap>,
    ) -> Arc<Link<T>> {
        Link::new(commands, tap, false)
    }

    /// The link to a browser without another client.
    #[cfg(all(feature = "pipe", unix))]
    pub(crate) fn alone(commands: mpsc::UnboundedSender<BrowserCommand>, tap: Option<Tap>) -> Arc<Link<T>> {
        Link::new(commands, tap, true)
    }

    fn new(
        commands: mpsc::UnboundedSender<BrowserCommand>,
        tap: Option<Tap>,
        is_alone: bool,
    ) -> Arc<Link<T>> {
        Arc::new(Link {
            commands,
            is_alone,
            sessions: Mutex::default(),
            tabs: Mutex::default(),
            paused: Mutex::default(),
            popups: Mutex::default(),
            alive: AtomicBool::new(true),
            observations: AtomicU64::new(0),
            tap,
        })
    }

    /// Sends a command of the browser's own session and waits for its result.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, BridgeError> {
        self.call_within(method, params, PATIENCE).await
    }

    /// As [`Link::call`], and waits for the result for another time than usual.
    pub(crate) async fn call_within(
        &self,
        method: &str,
        params: Value,
        within: Duration,
    ) -> Result<Value, BridgeError> {
        let (reply, answer) = oneshot::channel();
        self.send(BrowserCommand::Send { method: method.to_owned(), params, reply: Some(reply) })?;
        await_reply(answer, within).await
    }

    /// Sends a command of the browser's own session without waiting for its result.
    pub(crate) fn post(&self, method: &str, params: Value) {
        let _gone = self.send(BrowserCommand::Send { method: method.to_owned(), params, reply: None });
    }

    pub(crate) fn send(&self, command: BrowserCommand) -> Result<(), BridgeError> {
        if !self.is_alive() {
            return Err(BridgeError::Lost);
        }
        self.commands.send(command).map_err(|_| BridgeError::Lost)
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Notes that the browser is gone: every waiting call ends with an error.
    pub(crate) fn lost(&self) {
        self.alive.store(false, Ordering::Release);
        for session in std::mem::take(&mut *lock(&self.sessions)).into_values() {
            session.end();
        }
        for tab in self.all_tabs() {
            tab.on_lost();
        }
    }

    pub(crate) fn next_observation(&self) -> u64 {
        self.observations.fetch_add(1, Ordering::AcqRel) + 1
    }

    pub(crate) fn add_tab(&self, context: &str, tab: &Arc<T>) {
        lock(&self.tabs).push((context.to_owned(), Arc::downgrade(tab)));
    }

    /// Forgets every tab of a browser context.
    pub(crate) fn remove_context(&self, context: &str) {
        lock(&self.tabs).retain(|(of, _)| of != context);
    }

    /// Forgets one tab of a browser context. Workers that it answered for, since they have no page, go to the next tab.
    pub(crate) fn remove_tab(&self, context: &str, gone: &Arc<T>) {
        lock(&self.tabs).retain(|(_, tab)| !std::ptr::eq(tab.as_ptr(), Arc::as_ptr(gone)));
        let Some(next) = self.tab(context) else { return };
        for session in lock(&self.sessions).values().filter(|session| session.kind.ends_with("_worker")) {
            session.move_from(gone, &next);
        }
    }

    /// The tab that answers for a browser context: the one that was opened first of those that are open.
    pub(crate) fn tab(&self, context: &str) -> Option<Arc<T>> {
        lock(&self.tabs).iter().filter(|(of, _)| of == context).find_map(|(_, tab)| tab.upgrade())
    }

    /// How many tabs of a browser context are open.
    pub(crate) fn count_tabs(&self, context: &str) -> usize {
        lock(&self.tabs).iter().filter(|(of, tab)| of == context && tab.strong_count() > 0).count()
    }

    /// Every open tab.
    pub(crate) fn all_tabs(&self) -> Vec<Arc<T>> {
        lock(&self.tabs).iter().filter_map(|(_, tab)| tab.upgrade()).collect()
    }

    /// Notes that a flat session pauses a target. False where one does already.
    pub(crate) fn pause(&self, target: &str, session: &str) -> bool {
        let mut paused = lock(&self.paused);
        let is_new = !paused.contains_key(target);
        if is_new {
            paused.insert(target.to_owned(), session.to_owned());
        }
        is_new
    }

    /// Notes that a target is a popup.
    pub(crate) fn add_popup(&self, target: &str) {
        lock(&self.popups).insert(target.to_owned());
    }

    pub(crate) fn is_popup(&self, target: &str) -> bool {
        lock(&self.popups).contains(target)
    }

    /// Lets a paused target run, by detaching the flat session.
    pub(crate) fn resume(&self, target: &str) {
        if let Some(session) = lock(&self.paused).remove(target) {
            self.post("Target.detachFromTarget", json!({ "sessionId": session }));
        }
    }

    pub(crate) fn add_session(&self, session: &Arc<Session<T>>) {
        lock(&self.sessions).insert(session.id.clone(), Arc::clone(session));
    }

    /// The session of a worker, by its target.
    pub(crate) fn worker(&self, target: &str) -> Option<Arc<Session<T>>> {
        let sessions = lock(&self.sessions);
        sessions
            .values()
            .find(|session| session.target == target && session.kind.ends_with("worker"))
            .cloned()
    }

    pub(crate) fn remove_session(&self, id: &str) -> Option<Arc<Session<T>>> {
        let session = lock(&self.sessions).remove(id)?;
        session.end();
        Some(session)
    }

    /// Takes an event of the browser's own session.
    pub(crate) fn on_root_event(self: &Arc<Link<T>>, method: &str, params: &Value) {
        if method == "Target.receivedMessageFromTarget" {
            self.unwrap(params);
            return;
        }
        if let Some(tap) = &self.tap {
            tap(&params.to_string());
        }
        T::on_browser_event(self, method, params);
    }

    /// Unwraps a message and gives it to its session.
    fn unwrap(self: &Arc<Link<T>>, params: &Value) {
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

async fn await_reply(
    answer: oneshot::Receiver<Result<Value, BridgeError>>,
    within: Duration,
) -> Result<Value, BridgeError> {
    match tokio::time::timeout(within, answer).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(BridgeError::Lost),
        Err(_) => Err(BridgeError::Timeout),
    }
}

/// One attached target.
pub(crate) struct Session<T> {
    pub(crate) id: String,
    /// The target; for pages and out-of-process frames it is also the id of their root frame.
    pub(crate) target: String,
    /// `page`, `iframe`, `worker`, `service_worker`, ...
    pub(crate) kind: String,
    parent: Option<Arc<Session<T>>>,
    link: Arc<Link<T>>,
    tab: Mutex<Weak<T>>,
    next: AtomicU64,
    pending: Mutex<HashMap<u64, (String, Reply)>>,
    ended: AtomicBool,
    /// Whether a dialog has stopped the page.
    interrupted: AtomicBool,
}

impl<T: Listener> Session<T> {
    pub(crate) fn new(
        link: &Arc<Link<T>>,
        parent: Option<&Arc<Session<T>>>,
        tab: &Arc<T>,
        id: &str,
        target: &str,
        kind: &str,
    ) -> Arc<Session<T>> {
        let session = Arc::new(Session {
            id: id.to_owned(),
            target: target.to_owned(),
            kind: kind.to_owned(),
            parent: parent.cloned(),
            link: Arc::clone(link),
            tab: Mutex::new(Arc::downgrade(tab)),
            next: AtomicU64::new(0),
            pending: Mutex::default(),
            ended: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
        });
        link.add_session(&session);
        session
    }

    /// Sends a command and waits for its result.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, BridgeError> {
        let (reply, answer) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.pending).insert(number, (method.to_owned(), reply));
        if self.has_ended() {
            lock(&self.pending).remove(&number);
            return Err(self.end_error());
        }
        if self.interrupted.load(Ordering::Acquire) && needs_page(method) {
            lock(&self.pending).remove(&number);
            return Err(BridgeError::DialogOpen);
        }
        self.post_numbered(number, method, params);
        let result = await_reply(answer, PATIENCE).await;
        if result.is_err() {
            lock(&self.pending).remove(&number);
        }
        result
    }

    /// Sends a command without waiting for its result.
    pub(crate) fn post(&self, method: &str, params: Value) {
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
            // The message may quote the page, so it is dropped.
            Some(error) if is_gone(error) => Err(BridgeError::Stale),
            Some(_) => Err(BridgeError::Protocol(method)),
        };
        let _nobody_waits = reply.send(result);
    }

    pub(crate) fn tab(&self) -> Option<Arc<T>> {
        lock(&self.tab).upgrade()
    }

    /// Gives the session to another tab if it belongs to `gone`.
    fn move_from(&self, gone: &Arc<T>, next: &Arc<T>) {
        let mut tab = lock(&self.tab);
        if std::ptr::eq(tab.as_ptr(), Arc::as_ptr(gone)) {
            *tab = Arc::downgrade(next);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    fn end_error(&self) -> BridgeError {
        if self.link.is_alive() && self.kind != "page" { BridgeError::Stale } else { BridgeError::Lost }
    }

    /// Notes that a dialog has stopped the page: calls that need the page end with an error, those that wait and those to come.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Release);
        let mut pending = lock(&self.pending);
        let stopped: Vec<u64> =
            pending.iter().filter(|(_, (method, _))| needs_page(method)).map(|(number, _)| *number).collect();
        for (_, reply) in stopped.iter().filter_map(|number| pending.remove(number)) {
            let _nobody_waits = reply.send(Err(BridgeError::DialogOpen));
        }
    }

    /// Notes that the page goes on.
    pub(crate) fn go_on(&self) {
        self.interrupted.store(false, Ordering::Release);
    }

    /// Notes that the target is gone: every waiting call ends with an error.
    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        for (_, reply) in std::mem::take(&mut *lock(&self.pending)).into_values() {
            let _nobody_waits = reply.send(Err(self.end_error()));
        }
    }
}

/// Whether the page's process carries a command out, and not the browser's.
fn needs_page(method: &str) -> bool {
    let domains = ["Accessibility.", "DOM.", "DOMSnapshot.", "Input.", "Page.", "Runtime."];
    domains.iter().any(|domain| method.starts_with(domain))
}
