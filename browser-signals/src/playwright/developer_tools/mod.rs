//! The parts of a page that a browser shows developers: its console, its requests, and the results of scripts in it.
//!
//! All of it bypasses the text guard's reading of the page, so there is none once a value was released into the container, and the
//! records up to then are wiped. The caller scrubs what it tells an agent.
//!
//! | module | subject |
//! |---|---|
//! | [`console`] | messages of the console, and errors of scripts |
//! | [`requests`] | the requests of a page, with their responses |
//! | [`scripts`] | running a script, and the size of the page |

pub mod console;
pub mod requests;
pub mod scripts;

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use self::console::ConsoleMessage;
use self::requests::PageRequest;
pub use self::scripts::ScriptResult;
use super::tab::Tab;
use super::tab::state::{Session, TabState};

/// The most console messages of a page, and the most requests, that are kept.
const MOST_KEPT: usize = 1_000;
/// The most bytes of bodies that the browser keeps for a page, and for one response.
const ALL_BODIES: u32 = 16 << 20;
const ONE_BODY: u32 = 1 << 20;

/// The records that a page keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recording {
    /// Its console.
    pub console: bool,
    /// Its requests.
    pub requests: bool,
}

/// The records of a page.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) recording: Recording,
    pub(crate) console: VecDeque<ConsoleMessage>,
    pub(crate) requests: Vec<PageRequest>,
}

impl Records {
    fn wipe(&mut self) {
        self.console.clear();
        self.requests.clear();
    }
}

impl Tab {
    /// The present recording of this page.
    pub fn recording(&self) -> Recording {
        self.state.inner().records.recording
    }

    /// Sets what this page and those that open beside it record from now on. Without a recording its records are wiped.
    pub fn record(&self, recording: Recording) {
        let recording = if self.state.has_released() { Recording::default() } else { recording };
        let sessions = self.state.update(|inner| {
            inner.records.recording = recording;
            if recording == Recording::default() {
                inner.records.wipe();
            }
            inner.sessions.clone()
        });
        for session in sessions {
            self.state.begin_recording(&session);
            if !recording.console {
                session.post("Runtime.disable", json!({}));
                session.post("Log.disable", json!({}));
            }
        }
    }
}

impl TabState {
    /// Has the browser report what is recorded of a session, and forget the bodies that it kept.
    pub(crate) fn begin_recording(&self, session: &Session) {
        let Recording { console, requests } = self.inner().records.recording;
        let kept = |bytes: u32| if requests { bytes } else { 0 };
        // This also empties the browser's own buffers.
        let buffers = json!({
            "maxTotalBufferSize": kept(ALL_BODIES),
            "maxResourceBufferSize": kept(ONE_BODY),
            "maxPostDataSize": kept(ONE_BODY),
        });
        session.post("Network.enable", buffers);
        if console {
            session.post("Runtime.enable", json!({}));
            session.post("Log.enable", json!({}));
        }
    }

    /// Takes an event of the console or of a request, if it is recorded.
    pub(crate) fn take_record(&self, session: &Arc<Session>, method: &str, params: &Value) {
        let (is_console, is_request) =
            (method.starts_with("Runtime.") || method.starts_with("Log."), method.starts_with("Network."));
        if !(is_console || is_request) {
            return;
        }
        let Recording { console, requests } = self.inner().records.recording;
        // A release may be on its way to the page: nothing of what follows it is kept.
        if self.has_released() || !(is_console && console || is_request && requests) {
            return;
        }
        let top = self.top_frame().ok();
        self.update(|inner| {
            let document = top.as_ref().and_then(|top| inner.documents.get(top)).cloned().unwrap_or_default();
            if is_console {
                if let Some(message) = ConsoleMessage::of(method, params, document) {
                    inner.records.console.push_back(message);
                }
                if inner.records.console.len() > MOST_KEPT {
                    inner.records.console.pop_front();
                }
                return;
            }
            let records = &mut inner.records.requests;
            requests::take(records, session, top.as_ref(), method, params);
        });
    }
}
