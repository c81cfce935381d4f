//! Targets as they attach, and the events of their sessions.

use std::sync::Arc;

use serde_json::{Value, json};
use url::Url;

use super::session::Listener;
use crate::address::AddressRefused;
use crate::json::text;
use crate::playwright::error::BridgeError;
use crate::playwright::observation::tls::Response;
use crate::playwright::tab::events::PageEvent;
use crate::playwright::tab::pages::OpenPages;
use crate::playwright::tab::state::{Link, Session, TabState};
use crate::{Container, FrameId};

/// A script that removes sockets from the globals of a raised container.
const SOCKETS: &str = include_str!("../scripts/sockets.js");

/// The longest address of a closed window that is remembered, in bytes.
const MAX_ADDRESS: usize = 2_048;

/// The kind of a session with a popup. Its events are ignored.
const POPUP: &str = "popup";

impl Listener for TabState {
    fn on_browser_event(link: &Arc<Link>, method: &str, params: &Value) {
        match method {
            "Target.attachedToTarget" => link.on_root_target(params),
            "Target.detachedFromTarget" => {
                if let Some(session) = text(params, "sessionId").and_then(|id| link.remove_session(id)) {
                    session.forget();
                }
            }
            "Fetch.requestPaused" => link.on_root_paused(params),
            "Browser.downloadWillBegin" => link.on_download_begun(params),
            "Browser.downloadProgress" => link.on_download_progress(params),
            _ => {}
        }
    }

    fn on_event(self: &Arc<TabState>, session: &Arc<Session>, method: &str, params: &Value) {
        self.take_record(session, method, params);
        self.take_request(session, method, params);
        match method {
            _ if session.kind == POPUP => {}
            "Fetch.requestPaused" if self.is_proxy_greeting(params) => {
                session.post("Fetch.continueRequest", json!({ "requestId": text(params, "requestId") }));
            }
            "Fetch.requestPaused" => self.on_paused_once_prepared(session, params),
            "Fetch.authRequired" => self.on_auth_required(session, params),
            "Target.attachedToTarget" => self.on_child_target(session, params),
            "Target.detachedFromTarget" => {
                if let Some(child) = text(params, "sessionId").and_then(|id| self.link.remove_session(id)) {
                    child.forget();
                }
            }
            "Network.responseReceived" if text(params, "type") == Some("Document") => {
                if let (Some(document), Some(response)) = (text(params, "loaderId"), params.get("response")) {
                    let response = Response::read(response);
                    self.update(|inner| inner.add_response(document, response));
                }
            }
            "Network.webSocketCreated" => self.on_socket(session),
            "Security.visibleSecurityStateChanged" => {
                let state = params.get("visibleSecurityState").cloned();
                self.update(|inner| inner.security = state);
            }
            "Inspector.targetCrashed" => {
                self.record(PageEvent::Crashed);
                if session.kind == "page" {
                    self.lost();
                }
            }
            _ => self.on_page_event(session, method, params),
        }
    }

    fn on_lost(&self) {
        self.lost();
    }
}

impl Link {
    fn on_root_target(self: &Arc<Link>, params: &Value) {
        let (Some(id), Some(info)) = (text(params, "sessionId"), params.get("targetInfo")) else {
            return;
        };
        let target = text(info, "targetId").unwrap_or_default();
        let kind = text(info, "type").unwrap_or_default();
        let tab = text(info, "browserContextId").and_then(|context| self.tab(context));
        let Some(tab) = tab else {
            // It is in no container of the guard's.
            self.post("Target.detachFromTarget", json!({ "sessionId": id }));
            return;
        };
        if !matches!(kind, "page" | "service_worker" | "shared_worker") {
            // Parts of the browser's own window.
            self.post("Target.detachFromTarget", json!({ "sessionId": id }));
            return;
        }
        let is_further = kind == "page" && (tab.has_page() || text(info, "openerId").is_some());
        let pages = tab.pages.upgrade();
        if self.pause(target, id) {
            let opener = text(info, "openerId").map(FrameId::new);
            let is_linked = info.get("canAccessOpener").and_then(Value::as_bool) == Some(true);
            // A page without a link to its opener begins in a process of its own, where nothing can be set before its first document.
            let may_begin = |pages: &OpenPages| match &opener {
                Some(_) => is_linked && pages.may_open(),
                None => pages.is_expected() && pages.may_open(),
            };
            if is_further && !pages.as_deref().is_some_and(may_begin) {
                let opened_by =
                    |tab: &&Arc<TabState>| opener.as_ref().is_some_and(|frame| tab.knows_frame(frame));
                if let Some(opener) = self.all_tabs().iter().find(opened_by) {
                    opener.note_refused_window();
                }
                // All of its requests are refused until it is closed.
                self.add_popup(target);
            }
            self.post("Target.attachToTarget", json!({ "targetId": target, "flatten": false }));
            return;
        }
        if is_further && !self.is_popup(target) {
            if pages.as_ref().is_some_and(|pages| pages.begin(&tab, id, target)) {
                self.resume(target);
                return;
            }
            // The guard has forbidden further pages meanwhile.
            self.add_popup(target);
            pages.iter().for_each(|pages| pages.note_change());
        }
        let is_popup = self.is_popup(target);
        let session = Session::new(self, None, &tab, id, target, if is_popup { POPUP } else { kind });
        if is_popup {
            tab.close_popup(&session);
        } else if kind == "page" {
            tab.update(|inner| inner.sessions.push(session));
        } else {
            tab.prepare_worker(&session);
        }
        self.resume(target);
    }
}

impl Session {
    /// Removes an ended session from its tab.
    fn forget(&self) {
        if let Some(tab) = self.tab() {
            tab.update(|inner| {
                inner.sessions.retain(|session| session.id != self.id);
                inner.crashed |= self.kind == "page";
            });
        }
    }
}

impl TabState {
    /// Enables the events that the bridge needs, once per page.
    pub(crate) async fn prepare_page(&self) -> Result<(), BridgeError> {
        self.begin_page(&self.page()?);
        self.learn_root().await
    }

    /// Enables the events of a page, and lets it run.
    pub(crate) fn begin_page(&self, page: &Arc<Session>) {
        self.prepare_frame(page);
        page.post("Security.enable", json!({}));
        page.post("Inspector.enable", json!({}));
        page.post("Page.setInterceptFileChooserDialog", self.file_choosers.interception());
        page.post("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        // A container made without a window has a small one; this is the size that Playwright gives a page.
        let size = json!({ "width": 1280, "height": 720, "deviceScaleFactor": 0, "mobile": false });
        page.post("Emulation.setDeviceMetricsOverride", size);
        page.post("Runtime.runIfWaitingForDebugger", json!({}));
    }

    /// Learns the document that the page began with. The answer comes after all that [`TabState::begin_page`] sent took effect.
    pub(crate) async fn learn_root(&self) -> Result<(), BridgeError> {
        let tree = self.page()?.call("Page.getFrameTree", json!({})).await?;
        self.update(|inner| inner.prepared = true);
        let root = tree.pointer("/frameTree/frame").unwrap_or(&Value::Null);
        if let (Some(frame), Some(document)) = (text(root, "id"), text(root, "loaderId")) {
            self.update(|inner| {
                // The page may have gone on to another one since.
                inner.documents.entry(FrameId::new(frame)).or_insert_with(|| document.to_owned());
            });
        }
        Ok(())
    }

    /// Prepares the session of a page or of an out-of-process frame.
    fn prepare_frame(&self, session: &Arc<Session>) {
        self.watch_requests(session);
        session.post("Page.enable", json!({}));
        session.post("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        self.begin_recording(session);
        if self.container != Container::T0 {
            session.post(
                "Page.addScriptToEvaluateOnNewDocument",
                json!({ "source": SOCKETS, "runImmediately": true }),
            );
        }
        session.post(
            "Target.setAutoAttach",
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": false }),
        );
    }

    /// Pauses the requests that are judged: all of them in a raised container, and otherwise those that can carry text which the agent
    /// wrote; and the responses to requests for documents.
    pub(crate) fn watch_requests(&self, session: &Session) {
        let responses = json!({ "urlPattern": "*", "resourceType": "Document", "requestStage": "Response" });
        let of_kind = |kind: &str| json!({ "urlPattern": "*", "resourceType": kind });
        let mut patterns = match self.container {
            Container::T0 => ["Document", "XHR", "Fetch", "Ping"].map(of_kind).to_vec(),
            _ => vec![json!({ "urlPattern": "*" })],
        };
        patterns.push(responses);
        session.post("Fetch.enable", json!({ "patterns": patterns }));
    }

    /// Closes a popup. It has to run first, without sockets: as long as it is paused its opener's script is blocked, and
    /// Chromium does not close a page in this state.
    fn close_popup(&self, session: &Session) {
        if self.container != Container::T0 {
            session.post("Page.enable", json!({}));
            let sockets = json!({ "source": SOCKETS, "runImmediately": true });
            session.post("Page.addScriptToEvaluateOnNewDocument", sockets);
        }
        session.post("Runtime.runIfWaitingForDebugger", json!({}));
        self.link.post("Target.closeTarget", json!({ "targetId": session.target }));
    }

    /// Lets a worker run once its requests are paused.
    fn prepare_worker(&self, session: &Arc<Session>) {
        if self.container != Container::T0 {
            session.post("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] }));
            session.post("Network.enable", json!({}));
            session.post("Runtime.evaluate", json!({ "expression": SOCKETS }));
        }
        session.post("Runtime.runIfWaitingForDebugger", json!({}));
    }

    fn on_page_event(self: &Arc<TabState>, session: &Arc<Session>, method: &str, params: &Value) {
        let frame = text(params, "frameId").map(FrameId::new);
        match (method, frame) {
            ("Page.frameNavigated", _) => self.on_navigated(params.get("frame").unwrap_or(&Value::Null)),
            ("Page.frameAttached", Some(frame)) => {
                self.update(|inner| inner.attached.insert(frame));
            }
            ("Page.frameDetached", Some(frame)) if text(params, "reason") != Some("swap") => {
                self.update(|inner| {
                    inner.documents.remove(&frame);
                    inner.attached.remove(&frame);
                    inner.loading.remove(&frame);
                    inner.worlds.remove(&frame);
                    inner.answers.forget_earlier(&frame, None);
                });
            }
            ("Page.frameRequestedNavigation", Some(frame)) if is_for_another_program(params) => {
                // It never becomes a request, and the document may never fire its load event.
                if is_top(session, &frame) {
                    self.update(|inner| inner.stopped = Some(AddressRefused::Scheme));
                }
                self.record(PageEvent::RequestBlocked { reason: "scheme" });
            }
            ("Page.frameRequestedNavigation", Some(frame)) if is_top(session, &frame) => {
                self.update(|inner| inner.requested |= text(params, "disposition") == Some("currentTab"));
            }
            ("Page.frameStartedLoading" | "Page.frameStartedNavigating", Some(frame)) => {
                let top = is_top(session, &frame);
                let navigates = method == "Page.frameStartedNavigating";
                let same_document =
                    text(params, "navigationType").is_some_and(|kind| kind.ends_with("sameDocument"));
                if !same_document {
                    self.update(|inner| {
                        // A page that is still loading can navigate too.
                        let began = inner.loading.insert(frame) || navigates;
                        inner.navigations += u64::from(began && top);
                        inner.requested &= !(navigates && top);
                    });
                }
            }
            ("Page.frameStoppedLoading", Some(frame)) => {
                self.update(|inner| inner.loading.remove(&frame));
            }
            ("Page.lifecycleEvent", Some(_)) => {
                let document = text(params, "loaderId").unwrap_or_default();
                match text(params, "name") {
                    Some("DOMContentLoaded") => self.update(|inner| inner.parsed.add(document)),
                    Some("load") => self.update(|inner| inner.loaded.add(document)),
                    _ => {}
                }
            }
            ("Page.javascriptDialogOpening", _) => self.on_dialog(session, params),
            ("Page.javascriptDialogClosed", _) => self.on_dialog_closed(),
            ("Page.windowOpen", _) => {
                let address = text(params, "url").filter(|address| address.len() <= MAX_ADDRESS);
                self.update(|inner| inner.opening_window = address.map(str::to_owned));
            }
            ("Input.dragIntercepted", _) => self.on_drag(session, params),
            ("Page.fileChooserOpened", _) => self.on_file_chooser(session, params),
            _ => {}
        }
    }

    /// Notes that the window that this page is opening is closed before it loads.
    fn note_refused_window(&self) {
        self.record(PageEvent::PopupRefused);
        self.update(|inner| inner.refused_window = inner.opening_window.take());
    }

    fn on_navigated(&self, frame: &Value) {
        let (Some(id), Some(document)) = (text(frame, "id"), text(frame, "loaderId")) else {
            return;
        };
        let id = FrameId::new(id);
        let is_top = self.top_frame().is_ok_and(|top| top == id);
        self.update(|inner| {
            if is_top {
                inner.arrived = inner.navigations;
                inner.answers.forget();
            }
            inner.answers.forget_earlier(&id, Some(document));
            inner.worlds.remove(&id);
            inner.documents.insert(id, document.to_owned());
        });
        self.end_wires(false);
    }

    fn on_child_target(self: &Arc<TabState>, parent: &Arc<Session>, params: &Value) {
        let (Some(id), Some(info)) = (text(params, "sessionId"), params.get("targetInfo")) else {
            return;
        };
        let target = text(info, "targetId").unwrap_or_default();
        let kind = text(info, "type").unwrap_or_default();
        if kind == "page" {
            if text(info, "subtype").is_some() {
                // A prerendered page has no opener that waits for it.
                self.link.post("Target.closeTarget", json!({ "targetId": target }));
            }
            // The browser's own session closes popups.
            parent.post("Target.detachFromTarget", json!({ "sessionId": id }));
            return;
        }
        let session = Session::new(&self.link, Some(parent), self, id, target, kind);
        if kind == "iframe" {
            self.update(|inner| inner.sessions.push(Arc::clone(&session)));
            self.prepare_frame(&session);
            session.post("Runtime.runIfWaitingForDebugger", json!({}));
        } else {
            self.prepare_worker(&session);
        }
    }
}

/// Whether a page asked for an address of a scheme that Chromium gives to another program.
fn is_for_another_program(navigation: &Value) -> bool {
    let to = text(navigation, "url").and_then(|url| Url::parse(url).ok());
    to.is_some_and(|to| !matches!(to.scheme(), "http" | "https" | "data" | "blob" | "about" | "javascript"))
}

/// Whether this is the page's own frame.
fn is_top(session: &Session, frame: &FrameId) -> bool {
    session.kind == "page" && session.target == frame.as_str()
}
