//! Egress: the browser pauses each request until it is judged here.
//!
//! | module | subject |
//! |---|---|
//! | `body` | the body of a paused request |
//! | `wire` | sealed wires: values put into a request as it is sent |
//! | [`proxy`] | a container whose every connection goes through a proxy |
//! | `authenticate` | giving the proxy's password to the browser |

mod authenticate;
pub(crate) mod body;
pub mod proxy;
pub(crate) mod wire;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use self::body::{Body, body_of};
use super::cdp::session::lock;
use super::tab::events::PageEvent;
use super::tab::state::{Held, HeldRequest, Inner, Leaving, Link, PausedBy, Release, Session, TabState};
use crate::address::{self, AddressRefused};
use crate::json::text;
use crate::{Container, FrameId, Origin, OutgoingRequest};

/// Why a request is stopped: the reason for the audit log, and the error of `open` if it navigated the page.
struct Stop {
    reason: &'static str,
    refused: AddressRefused,
}

impl Stop {
    /// A request that may carry protected data.
    const fn egress(reason: &'static str) -> Stop {
        Stop { reason, refused: AddressRefused::Egress }
    }
}

/// The judgement of a request that is not stopped.
enum Admitted {
    Now,
    /// It waits for the user.
    Held(HeldRequest),
}

/// The facts of one paused request.
struct Paused<'a> {
    url: Url,
    method: &'a str,
    body: Body,
    frame: Option<FrameId>,
    resource_type: &'a str,
    is_document: bool,
    is_top: bool,
}

/// How long a page that opens may take until it is prepared.
const PREPARED: Duration = Duration::from_secs(10);

/// How long a request of a frame that no page has announced is paused.
const ANNOUNCED: Duration = Duration::from_secs(1);

impl Link {
    /// The requests that the whole browser pauses: documents always, everything once a container is raised.
    pub(crate) fn patterns(raised: bool) -> Value {
        if raised {
            json!({ "patterns": [{ "urlPattern": "*" }] })
        } else {
            json!({ "patterns": [{ "urlPattern": "*", "resourceType": "Document" }] })
        }
    }

    /// A request of the whole browser. It is sent to the judge of its page only if it belongs to one: a popup
    /// that Playwright's server let run, and any document written into it, sends nothing.
    pub(crate) fn on_root_paused(self: &Arc<Link>, params: &Value) {
        let Some(id) = text(params, "requestId").map(str::to_owned) else {
            return;
        };
        let frame = text(params, "frameId").filter(|frame| !frame.is_empty()).map(FrameId::new);
        let known = |link: &Link, frame: &FrameId| link.all_tabs().iter().any(|tab| tab.knows_frame(frame));
        match frame {
            // Workers have sessions, and judges, of their own.
            None => self.post("Fetch.continueRequest", json!({ "requestId": id })),
            Some(frame) if known(self, &frame) => self.send_on(&id, &frame, params),
            Some(frame) => {
                let (link, params) = (Arc::clone(self), params.clone());
                tokio::spawn(async move {
                    let end = tokio::time::Instant::now() + ANNOUNCED;
                    while !link.is_popup(frame.as_str()) && tokio::time::Instant::now() < end {
                        if let Some(worker) = link.worker(frame.as_str()) {
                            link.judge_worker(&worker, &id, &params);
                            return;
                        }
                        if known(&link, &frame) {
                            link.post("Fetch.continueRequest", json!({ "requestId": id }));
                            return;
                        }
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    let stop = json!({ "requestId": id, "errorReason": "BlockedByClient" });
                    link.post("Fetch.failRequest", stop);
                });
            }
        }
    }
}

impl Link {
    /// A request of a worker that has no page: the id of a service worker is in place of a frame's.
    fn judge_worker(&self, worker: &Arc<Session>, id: &str, params: &Value) {
        let judged = worker.tab().map(|tab| (tab.judge(worker, params), tab));
        match judged {
            Some((Ok(Admitted::Now), _)) => self.post("Fetch.continueRequest", json!({ "requestId": id })),
            Some((Ok(Admitted::Held(request)), tab)) => {
                tab.hold(request, PausedBy::Browser(Arc::clone(worker)), params);
            }
            refused => {
                let stop = json!({ "requestId": id, "errorReason": "BlockedByClient" });
                self.post("Fetch.failRequest", stop);
                if let Some((Err((stop, _)), tab)) = refused {
                    tab.record(PageEvent::RequestBlocked { reason: stop.reason });
                }
            }
        }
    }
}

impl TabState {
    /// Judges a paused request once the page is prepared: a page that opens may ask for its first document before that.
    pub(crate) fn on_paused_once_prepared(self: &Arc<TabState>, session: &Arc<Session>, params: &Value) {
        if self.inner().prepared {
            return self.on_paused(session, params);
        }
        let (tab, session, params) = (Arc::clone(self), Arc::clone(session), params.clone());
        tokio::spawn(async move {
            match tab.wait_until(PREPARED, |inner| inner.prepared).await {
                Ok(()) => tab.on_paused(&session, &params),
                Err(_) => {
                    let id = text(&params, "requestId");
                    session.post(
                        "Fetch.failRequest",
                        json!({ "requestId": id, "errorReason": "BlockedByClient" }),
                    );
                }
            }
        });
    }

    /// Judges a paused request and continues or stops it.
    pub(crate) fn on_paused(&self, session: &Arc<Session>, params: &Value) {
        let Some(id) = text(params, "requestId") else {
            return;
        };
        if params.get("responseStatusCode").or_else(|| params.get("responseErrorReason")).is_some() {
            self.on_response(session, id, params);
            return;
        }
        let is_document = text(params, "resourceType") == Some("Document");
        if is_document && self.is_empty_document(params) {
            session.post("Fetch.fulfillRequest", empty_document(id));
            return;
        }
        match self.judge(session, params) {
            Ok(Admitted::Held(request)) => self.hold(request, PausedBy::Page(Arc::clone(session)), params),
            Ok(Admitted::Now) => {
                self.clear_for_wires(params);
                session.post("Fetch.continueRequest", json!({ "requestId": id }));
            }
            Err((stop, is_top)) => {
                // An aborted navigation leaves the page where it is; a blocked one replaces it by an error page.
                let reason = if is_document { "Aborted" } else { "BlockedByClient" };
                session.post("Fetch.failRequest", json!({ "requestId": id, "errorReason": reason }));
                if is_top {
                    self.update(|inner| inner.stopped = Some(stop.refused));
                }
                self.record(PageEvent::RequestBlocked { reason: stop.reason });
            }
        }
    }

    /// Whether the top frame asks for the empty document that the bridge itself serves.
    fn is_empty_document(&self, params: &Value) -> bool {
        let frame = text(params, "frameId").map(FrameId::new);
        let url = params.pointer("/request/url").and_then(Value::as_str).and_then(|url| Url::parse(url).ok());
        url.is_some() && self.top_frame().ok() == frame && self.inner().empty_document == url
    }

    /// The response to a document's request. The browser does not ask before it follows a redirect to a scheme that
    /// another program serves: it passes the address to that program.
    fn on_response(&self, session: &Arc<Session>, id: &str, params: &Value) {
        if !leads_to_another_program(params) {
            session.post("Fetch.continueRequest", json!({ "requestId": id }));
            return;
        }
        session.post("Fetch.failRequest", json!({ "requestId": id, "errorReason": "Aborted" }));
        let frame = text(params, "frameId").map(FrameId::new);
        if self.top_frame().ok() == frame {
            self.update(|inner| inner.stopped = Some(AddressRefused::Scheme));
        }
        self.record(PageEvent::RequestBlocked { reason: "scheme" });
    }

    fn judge(&self, session: &Arc<Session>, params: &Value) -> Result<Admitted, (Stop, bool)> {
        let is_document = text(params, "resourceType") == Some("Document");
        let frame = text(params, "frameId").filter(|id| !id.is_empty()).map(FrameId::new);
        let is_top = is_document && self.top_frame().ok() == frame;
        let request = params.get("request").unwrap_or(&Value::Null);
        let url = text(request, "url").and_then(|url| Url::parse(url).ok());
        let Some(url) = url else {
            return Err((Stop { reason: "scheme", refused: AddressRefused::Scheme }, is_top));
        };
        let paused = Paused {
            url,
            method: text(request, "method").unwrap_or_default(),
            body: body_of(request),
            frame: frame
                .or_else(|| (session.kind == "iframe").then(|| FrameId::new(session.target.as_str()))),
            resource_type: text(params, "resourceType").unwrap_or_default(),
            is_document,
            is_top,
        };
        if self.repeats_a_wire(params) {
            return Err((Stop::egress("wire_redirect"), is_top));
        }
        self.judge_document(&paused)
            .and_then(|()| self.judge_release(&paused))
            .map_err(|stop| (stop, is_top))?;
        let admitted = self.ask_guard(&paused, request).map_err(|stop| (stop, is_top))?;
        if is_top {
            let mut inner = self.inner();
            inner.last_top = Origin::of(&paused.url).ok();
            inner.left = None;
        }
        Ok(admitted)
    }

    /// Notes a navigation that leads away from the task's sites. One with a body cannot be repeated later.
    fn note_leaving(&self, paused: &Paused<'_>) {
        let mut inner = self.inner();
        let from = inner.last_top.clone().filter(|_| paused.method == "GET");
        inner.left = from.map(|from| Leaving { from, to: paused.url.clone() });
    }

    /// Navigations: no private hosts in any frame, no foreign top document in a raised container.
    fn judge_document(&self, paused: &Paused<'_>) -> Result<(), Stop> {
        if !paused.is_document {
            return Ok(());
        }
        if matches!(paused.url.scheme(), "data" | "blob" | "about") && !paused.is_top {
            return Ok(());
        }
        if self.inner().goes_back && !matches!(paused.body, Body::None) {
            return Err(Stop { reason: "sent_again", refused: AddressRefused::SentAgain });
        }
        address::judge(&paused.url, &self.private_hosts).map_err(|refused| {
            let reason = match refused {
                AddressRefused::PrivateHost => "private_host",
                AddressRefused::Scheme | AddressRefused::UserInfo => "scheme",
                _ => "outside_task",
            };
            Stop { reason, refused }
        })?;
        if self.container == Container::T0 {
            return Ok(());
        }
        let to = Origin::of(&paused.url).ok();
        let in_task = to.as_ref().is_some_and(|origin| self.task.contains(origin));
        // The identity provider's page stands in the top frame, where its address is seen.
        // A form with a body goes there from its own pages alone.
        let is_provider = paused.is_top && {
            let inner = self.inner();
            let leads_there =
                inner.sign_on.as_ref().is_some_and(|sign_on| to.as_ref() == Some(&sign_on.provider));
            leads_there && (paused.method == "GET" || inner.last_top == to)
        };
        let is_framed = !paused.is_top && to.as_ref().is_some_and(|origin| self.may_frame(origin));
        if in_task || is_provider || is_framed {
            Ok(())
        } else {
            if paused.is_top {
                self.note_leaving(paused);
            }
            Err(Stop { reason: "outside_task", refused: AddressRefused::OutsideTask })
        }
    }

    /// Returns true if a frame may show a document of this origin outside the task. Before a release every origin may; after it
    /// only payment providers may.
    fn may_frame(&self, origin: &Origin) -> bool {
        let inner = self.inner();
        inner.releases.is_empty() || inner.providers.contains(origin)
    }

    /// After a fill, a document or a body may only go to the granted destination, and nothing leaves the task's origins.
    fn judge_release(&self, paused: &Paused<'_>) -> Result<(), Stop> {
        let inner = self.inner();
        if inner.releases.is_empty() || matches!(paused.url.scheme(), "data" | "blob" | "about") {
            return Ok(());
        }
        let Ok(origin) = Origin::of(&paused.url) else {
            return Err(Stop::egress("destination"));
        };
        if matches!(paused.body, Body::Unread) {
            return Err(Stop::egress("body_unread"));
        }
        let has_body = matches!(paused.body, Body::Complete(_));
        let task: &[Origin] = if paused.is_top { &self.task } else { &[] };
        if may_go(&inner, task, &origin, has_body) { Ok(()) } else { Err(Stop::egress("destination")) }
    }

    fn ask_guard(&self, paused: &Paused<'_>, request: &Value) -> Result<Admitted, Stop> {
        let Some(guard) = lock(&self.egress).clone() else {
            return Ok(Admitted::Now);
        };
        let headers = headers_of(request);
        let from =
            headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("origin")).map(|(_, value)| value);
        let from = from.and_then(|origin| Origin::parse(origin).ok());
        let body = match &paused.body {
            Body::None | Body::Unread => None,
            Body::Complete(bytes) => Some(bytes.as_slice()),
        };
        let outgoing = OutgoingRequest {
            url: paused.url.as_str(),
            method: paused.method,
            headers: &headers,
            body,
            frame: paused.frame.as_ref(),
            from: from.as_ref(),
            resource_type: paused.resource_type,
            main_navigation: paused.is_top,
        };
        guard.judge(&outgoing).map_err(|blocked| Stop::egress(blocked.reason))?;
        let has_body = !matches!(paused.body, Body::None);
        match Origin::of(&paused.url) {
            Ok(to) if guard.holds(&outgoing, has_body) => Ok(Admitted::Held(HeldRequest {
                to,
                path: paused.url.path().to_owned(),
                main_navigation: paused.is_top,
            })),
            _ => Ok(Admitted::Now),
        }
    }

    fn hold(&self, request: HeldRequest, paused_by: PausedBy, params: &Value) {
        let held = Held { request, paused_by, params: params.clone() };
        self.update(|inner| inner.held.push(held));
    }

    /// Judges the requests that wait for the user anew where the user agreed, and stops them otherwise.
    pub(crate) fn let_go(&self, agreed: bool) {
        for Held { request, paused_by, params } in self.update(|inner| std::mem::take(&mut inner.held)) {
            let Some(id) = text(&params, "requestId") else { continue };
            match (&paused_by, agreed) {
                (PausedBy::Page(session), true) => self.on_paused(session, &params),
                (PausedBy::Browser(worker), true) => self.link.judge_worker(worker, id, &params),
                (by, false) => {
                    let reason = if request.main_navigation { "Aborted" } else { "BlockedByClient" };
                    let stop = json!({ "requestId": id, "errorReason": reason });
                    match by {
                        PausedBy::Page(session) => session.post("Fetch.failRequest", stop),
                        PausedBy::Browser(_) => self.link.post("Fetch.failRequest", stop),
                    }
                    self.record(PageEvent::RequestBlocked { reason: "refused" });
                }
            }
        }
    }

    /// The messages of a web socket cannot be judged, so a raised container has none. After a release the container is
    /// closed.
    pub(crate) fn on_socket(&self, session: &Arc<Session>) {
        if self.container == Container::T0 {
            return;
        }
        self.record(PageEvent::RequestBlocked { reason: "socket" });
        if self.has_released() {
            let context = json!({ "browserContextId": self.context });
            self.link.post("Target.disposeBrowserContext", context);
            session.post("Page.stopLoading", json!({}));
        }
    }
}

/// The answer with an empty document, in which nothing runs and nothing loads.
fn empty_document(id: &str) -> Value {
    let header = |name: &str, value: &str| json!({ "name": name, "value": value });
    let headers = [
        header("Content-Type", "text/html; charset=utf-8"),
        header("Content-Security-Policy", "default-src 'none'"),
        header("Cache-Control", "no-store"),
    ];
    json!({ "requestId": id, "responseCode": 200, "responseHeaders": headers, "body": "" })
}

/// Whether a response redirects to a scheme other than `http` and `https`.
fn leads_to_another_program(response: &Value) -> bool {
    let named =
        |header: &&Value| text(header, "name").is_some_and(|name| name.eq_ignore_ascii_case("location"));
    let headers = response.get("responseHeaders").and_then(Value::as_array);
    let to = headers.and_then(|all| all.iter().find(named)).and_then(|header| text(header, "value"));
    let status = response.get("responseStatusCode").and_then(Value::as_u64).unwrap_or_default();
    let from = response.pointer("/request/url").and_then(Value::as_str).and_then(|url| Url::parse(url).ok());
    match (to, from) {
        (Some(to), Some(from)) if (300..400).contains(&status) => {
            // An address that cannot be parsed leads nowhere.
            from.join(to).is_ok_and(|to| !matches!(to.scheme(), "http" | "https"))
        }
        _ => false,
    }
}

/// Whether a request may go to this origin once values were released: to their destination; without a body also to the
/// task's own origins; to both sites of a sign-on; to a payment handler that is open; and to payment providers, whose requests are
/// judged by what they carry.
fn may_go(inner: &Inner, task: &[Origin], origin: &Origin, has_body: bool) -> bool {
    let takes =
        |release: &Release| release.destination.origin == *origin || release.around.as_ref() == Some(origin);
    let granted = inner.releases.iter().any(takes);
    let own =
        !has_body && (task.contains(origin) || inner.releases.iter().any(|release| release.page == *origin));
    let signs_on =
        inner.sign_on.as_ref().is_some_and(|both| both.provider == *origin || both.site == *origin);
    let pays = inner.payment_origins.contains(origin) || inner.providers.contains(origin);
    granted || own || signs_on || pays
}

fn headers_of(request: &Value) -> Vec<(String, String)> {
    let headers = request.get("headers").and_then(Value::as_object);
    let each = headers.into_iter().flatten();
    each.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_with_their_values() {
        let request = json!({ "headers": { "Accept": "*/*", "X-Note": "hi", "odd": 3 } });
        let expected = [("Accept", "*/*"), ("X-Note", "hi")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(headers_of(&request), expected);
        assert!(headers_of(&json!({})).is_empty());
    }

    #[test]
    fn a_redirect_to_another_scheme_is_recognised() {
        for (status, to, leads) in [
            (302, "mailto:a@b.example", true),
            (307, " TEL:+1", true),
            (301, "file:///etc/passwd", true),
            (302, "/next", false),
            (302, "//pay.example/mailto:x", false),
            (303, "http://shop.example/", false),
            (302, "https://", false),
            (200, "mailto:a@b.example", false),
        ] {
            let answer = json!({
                "request": { "url": "https://shop.example/" },
                "responseStatusCode": status,
                "responseHeaders": [{ "name": "date", "value": "now" }, { "name": "LOCATION", "value": to }],
            });
            assert_eq!(leads_to_another_program(&answer), leads, "{status} {to}");
        }
        assert!(!leads_to_another_program(&json!({ "responseErrorReason": "Failed" })));
    }
}
