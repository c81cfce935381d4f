//! Requests of a page that an action began, whose answers the guard waits for.
//!
//! Only what the browser reports of each request anyway is used. No word of a request is kept: a released value may be in it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::state::{Inner, LastAction, Session, TabState};
use crate::FrameId;
use crate::json::text;
use crate::playwright::error::BridgeError;

/// How long the answers to the requests of one action are waited for, in all. It is what playwright-mcp waits.
pub(crate) const ANSWERS: Duration = Duration::from_secs(5);
/// How often an answer may lead to further requests that are waited for too. A page that asks its server without end would cost
/// each action all of the time otherwise.
const MOST_ROUNDS: u8 = 3;
/// How many running requests and slow addresses are remembered.
const MOST_RUNNING: usize = 1_000;
const MOST_SLOW: usize = 100;
/// The types of requests whose answers change what the page shows. Event streams and sockets have types of their own; pictures
/// and messages that need no answer (`Ping`) are not waited for.
const AWAITED: [&str; 5] = ["Document", "Script", "Stylesheet", "XHR", "Fetch"];
/// The content of an answer that never ends, also where a page asks for it with `fetch`.
const STREAM: &str = "text/event-stream";

/// A request without an answer.
struct Running {
    frame: FrameId,
    document: String,
    /// The hash of its method and its address without the query.
    address: u64,
    began: Instant,
}

/// The running requests of a page.
#[derive(Default)]
pub(crate) struct Answers {
    running: HashMap<String, Running>,
    /// Addresses that took longer than an action waits, such as those of a long poll: they are not waited for again.
    slow: HashSet<u64>,
    hasher: RandomState,
    /// When the last action began.
    action_began: Option<Instant>,
    /// Until when its answers are waited for.
    limit: Option<Instant>,
}

impl Answers {
    /// Notes that an action begins.
    pub(crate) fn begin(&mut self) {
        self.action_began = Some(Instant::now());
        self.limit = None;
    }

    /// Notes that the time for the answers to the last action begins: the action is over, or the user let its requests go.
    pub(crate) fn begin_waiting(&mut self) {
        self.limit = Some(Instant::now() + ANSWERS);
    }

    /// Whether a request runs that began after the last action did, until then.
    pub(crate) fn runs(&self, until: Instant) -> bool {
        self.running.values().any(|it| self.is_awaited(it, until))
    }

    fn is_awaited(&self, it: &Running, until: Instant) -> bool {
        let began = self.action_began.is_some_and(|began| began <= it.began && it.began <= until);
        began && !self.slow.contains(&it.address)
    }

    /// Notes that the requests that are waited for took too long: those that had most of the time.
    fn give_up(&mut self, until: Instant) {
        let is_slow = |it: &&Running| self.is_awaited(it, until) && it.began.elapsed() >= ANSWERS / 2;
        let slow: Vec<u64> = self.running.values().filter(is_slow).map(|it| it.address).collect();
        slow.into_iter().for_each(|address| self.note_slow(address));
    }

    fn note_slow(&mut self, address: u64) {
        if self.slow.len() < MOST_SLOW {
            self.slow.insert(address);
        }
    }

    fn start(&mut self, id: &str, params: &Value) {
        let (Some(frame), Some(request)) = (text(params, "frameId"), params.get("request")) else { return };
        let (Some(method), Some(url)) = (text(request, "method"), text(request, "url")) else { return };
        let document = text(params, "loaderId").unwrap_or_default();
        // A redirect is the same request, and began when that did.
        if !url.starts_with("http") || self.running.len() >= MOST_RUNNING || self.running.contains_key(id) {
            return;
        }
        let place = url.split(['?', '#']).next();
        let running = Running {
            frame: FrameId::new(frame),
            document: document.to_owned(),
            address: self.hasher.hash_one((method, place)),
            began: Instant::now(),
        };
        self.running.insert(id.to_owned(), running);
    }

    /// Notes that a request has its answer.
    fn end(&mut self, id: &str) {
        let ended = self.running.remove(id).filter(|ended| ended.began.elapsed() >= ANSWERS);
        ended.into_iter().for_each(|ended| self.note_slow(ended.address));
    }

    /// Forgets the requests of a frame's earlier documents. A process that is gone does not report the end of its requests.
    pub(crate) fn forget_earlier(&mut self, frame: &FrameId, document: Option<&str>) {
        self.running.retain(|_, it| it.frame != *frame || document == Some(it.document.as_str()));
    }

    /// Forgets all requests: the page is another one.
    pub(crate) fn forget(&mut self) {
        self.running.clear();
        self.slow.clear();
    }
}

impl TabState {
    /// Takes an event of a request. The document of the top frame is waited for as a navigation.
    pub(crate) fn take_request(&self, session: &Arc<Session>, method: &str, params: &Value) {
        let Some(id) = text(params, "requestId") else { return };
        if !matches!(session.kind.as_str(), "page" | "iframe") {
            return;
        }
        let is_stream = || params.pointer("/response/mimeType").and_then(Value::as_str) == Some(STREAM);
        match method {
            "Network.requestWillBeSent" => {
                let kind = text(params, "type").unwrap_or_default();
                let is_page = kind == "Document" && text(params, "frameId") == Some(session.target.as_str());
                if AWAITED.contains(&kind) && !(is_page && session.kind == "page") {
                    self.update(|inner| inner.answers.start(id, params));
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.update(|inner| inner.answers.end(id));
            }
            "Network.responseReceived" if is_stream() => self.update(|inner| inner.answers.end(id)),
            _ => {}
        }
    }

    /// Waits for the answers to the requests that the action began, and those that these led to, until the page has taken them,
    /// leaves, shows a dialog, or waits for the user. Returns whether there was a request.
    pub(crate) async fn await_answers(&self, action: &mut LastAction) -> Result<bool, BridgeError> {
        let until = action.until;
        let goes_on = |inner: &Inner| {
            let is_interrupted = inner.navigations > action.navigations || inner.dialog.is_some();
            is_interrupted || !inner.held.is_empty() || !inner.answers.runs(until)
        };
        let left = |limit: Option<Instant>| {
            limit.unwrap_or_else(Instant::now).saturating_duration_since(Instant::now())
        };
        if action.rounds >= MOST_ROUNDS || goes_on(&self.inner()) {
            return Ok(false);
        }
        action.rounds += 1;
        loop {
            let limit = self.inner().answers.limit;
            match self.wait_until(left(limit), goes_on).await {
                Ok(()) => break,
                // The user may have let a request go meanwhile, whose time began then.
                Err(BridgeError::Timeout) if self.inner().answers.limit > limit => {}
                Err(BridgeError::Timeout) => {
                    self.inner().answers.give_up(until);
                    action.rounds = MOST_ROUNDS;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.finish_turn().await;
        self.await_requested().await;
        Ok(true)
    }
}
