//! Requests on their way out: each is paused by the browser until it is judged.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;
use zeroize::Zeroizing;

use super::PageEvent;
use super::session::{Link, Session, lock, text};
use super::tab::{HeldRequest, Inner, TabState};
use crate::address::{self, AddressRefused};
use crate::{Container, FrameId, Origin, OutgoingRequest};

/// Why a request is stopped: the word for the record, and what `open` says if it navigated the page.
struct Stop {
    reason: &'static str,
    refused: AddressRefused,
}

impl Stop {
    const fn new(reason: &'static str) -> Stop {
        Stop { reason, refused: AddressRefused::OutsideTask }
    }
}

/// What becomes of a request that is not stopped.
enum Way {
    Open,
    /// It waits for the user.
    Held(HeldRequest),
}

/// A request that waits for the user, and who can let it go.
pub(super) struct Held {
    pub(super) request: HeldRequest,
    paused_by: PausedBy,
    params: Value,
}

/// Which session of the browser paused a request.
enum PausedBy {
    Page(Arc<Session>),
    /// The whole browser's, for a worker that has no page.
    Browser(Arc<Session>),
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

pub(super) enum Body {
    None,
    Complete(Vec<u8>),
    /// There is one, and the browser does not give all of it.
    Unread,
}

/// How long a request of a frame that no page has announced is held.
const ANNOUNCED: Duration = Duration::from_secs(1);

impl Link {
    /// What the whole browser is asked to hold back: documents always, everything once a container is raised.
    pub(super) fn patterns(raised: bool) -> Value {
        if raised {
            json!({ "patterns": [{ "urlPattern": "*" }] })
        } else {
            json!({ "patterns": [{ "urlPattern": "*", "resourceType": "Document" }] })
        }
    }

    /// A request of the whole browser. It goes on to the judge of its page only if it belongs to one: a popup
    /// that Playwright's server let go, and whatever is written into it, sends nothing.
    pub(super) fn on_root_paused(self: &Arc<Link>, params: &Value) {
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
                    while !link.is_refused(frame.as_str()) && tokio::time::Instant::now() < end {
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
    /// A request of a worker that has no page: a service worker's name stands where a frame's would.
    fn judge_worker(&self, worker: &Arc<Session>, id: &str, params: &Value) {
        let judged = worker.tab().map(|tab| (tab.judge(worker, params), tab));
        match judged {
            Some((Ok(Way::Open), _)) => self.post("Fetch.continueRequest", json!({ "requestId": id })),
            Some((Ok(Way::Held(request)), tab)) => {
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
    /// Judges a paused request and lets it go or stops it.
    pub(super) fn on_paused(&self, session: &Arc<Session>, params: &Value) {
        let Some(id) = text(params, "requestId") else {
            return;
        };
        if params.get("responseStatusCode").or_else(|| params.get("responseErrorReason")).is_some() {
            self.on_answer(session, id, params);
            return;
        }
        let is_document = text(params, "resourceType") == Some("Document");
        match self.judge(session, params) {
            Ok(Way::Held(request)) => self.hold(request, PausedBy::Page(Arc::clone(session)), params),
            Ok(Way::Open) => {
                self.clear_for_wires(params);
                session.post("Fetch.continueRequest", json!({ "requestId": id }));
            }
            Err((stop, is_top)) => {
                // An aborted navigation leaves the page where it is; a blocked one puts an error in its place.
                let reason = if is_document { "Aborted" } else { "BlockedByClient" };
                session.post("Fetch.failRequest", json!({ "requestId": id, "errorReason": reason }));
                if is_top {
                    self.update(|inner| inner.stopped = Some(stop.refused));
                }
                self.record(PageEvent::RequestBlocked { reason: stop.reason });
            }
        }
    }

    /// The answer to a document's request. The browser asks nobody about a redirect to a scheme that another program
    /// serves: it hands the address over.
    fn on_answer(&self, session: &Arc<Session>, id: &str, params: &Value) {
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

    fn judge(&self, session: &Arc<Session>, params: &Value) -> Result<Way, (Stop, bool)> {
        let is_document = text(params, "resourceType") == Some("Document");
        let frame = text(params, "frameId").filter(|id| !id.is_empty()).map(FrameId::new);
        let is_top = is_document && self.top_frame().ok() == frame;
        let request = params.get("request").unwrap_or(&Value::Null);
        let url = text(request, "url").and_then(|url| Url::parse(url).ok());
        let Some(url) = url else {
            return Err((Stop::new("scheme"), is_top));
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
            return Err((Stop::new("wire_redirect"), is_top));
        }
        self.judge_document(&paused)
            .and_then(|()| self.judge_release(&paused))
            .map_err(|stop| (stop, is_top))?;
        self.ask_guard(&paused, request).map_err(|stop| (stop, is_top))
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
            return Err(Stop::new("sent_again"));
        }
        address::judge(&paused.url, &self.private_hosts).map_err(|refused| {
            let reason = match refused {
                AddressRefused::PrivateHost => "private_host",
                AddressRefused::OutsideTask => "outside_task",
                AddressRefused::Scheme | AddressRefused::UserInfo => "scheme",
            };
            Stop { reason, refused }
        })?;
        if self.container == Container::T0 {
            return Ok(());
        }
        let in_task = Origin::of(&paused.url).is_ok_and(|origin| self.task.contains(&origin));
        if in_task || (!paused.is_top && !self.has_released()) {
            Ok(())
        } else {
            Err(Stop::new("outside_task"))
        }
    }

    /// After a fill, a document or a body goes to the granted destination, and nothing leaves the task.
    fn judge_release(&self, paused: &Paused<'_>) -> Result<(), Stop> {
        let inner = self.inner();
        if inner.releases.is_empty() || matches!(paused.url.scheme(), "data" | "blob" | "about") {
            return Ok(());
        }
        let Ok(origin) = Origin::of(&paused.url) else {
            return Err(Stop::new("destination"));
        };
        if matches!(paused.body, Body::Unread) {
            return Err(Stop::new("body_unread"));
        }
        let has_body = matches!(paused.body, Body::Complete(_));
        let task: &[Origin] = if paused.is_top { &self.task } else { &[] };
        if may_go(&inner, task, &origin, has_body) { Ok(()) } else { Err(Stop::new("destination")) }
    }

    fn ask_guard(&self, paused: &Paused<'_>, request: &Value) -> Result<Way, Stop> {
        let Some(guard) = lock(&self.egress).clone() else {
            return Ok(Way::Open);
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
        guard.judge(&outgoing).map_err(|blocked| Stop::new(blocked.reason))?;
        let has_body = !matches!(paused.body, Body::None);
        match Origin::of(&paused.url) {
            Ok(to) if guard.holds(&outgoing, has_body) => Ok(Way::Held(HeldRequest {
                to,
                path: paused.url.path().to_owned(),
                main_navigation: paused.is_top,
            })),
            _ => Ok(Way::Open),
        }
    }

    fn hold(&self, request: HeldRequest, paused_by: PausedBy, params: &Value) {
        let held = Held { request, paused_by, params: params.clone() };
        self.update(|inner| inner.held.push(held));
    }

    /// Judges the requests that wait anew where the user agreed, and stops them where not.
    pub(super) fn let_go(&self, agreed: bool) {
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

    /// A socket's messages cannot be judged, so a raised container has none: its page's network is cut.
    pub(super) fn on_socket(&self, session: &Arc<Session>) {
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

/// Whether an answer redirects to a scheme that is not the web's.
fn leads_to_another_program(answer: &Value) -> bool {
    let named =
        |header: &&Value| text(header, "name").is_some_and(|name| name.eq_ignore_ascii_case("location"));
    let headers = answer.get("responseHeaders").and_then(Value::as_array);
    let to = headers.and_then(|all| all.iter().find(named)).and_then(|header| text(header, "value"));
    let status = answer.get("responseStatusCode").and_then(Value::as_u64).unwrap_or_default();
    let from = answer.pointer("/request/url").and_then(Value::as_str).and_then(|url| Url::parse(url).ok());
    match (to, from) {
        (Some(to), Some(from)) if (300..400).contains(&status) => {
            // What cannot be read leads nowhere.
            from.join(to).is_ok_and(|to| !matches!(to.scheme(), "http" | "https"))
        }
        _ => false,
    }
}

/// Where a request may go once values were released: to their destination; without a body also to the
/// task's own origins; and to a payment handler that is open.
fn may_go(inner: &Inner, task: &[Origin], origin: &Origin, has_body: bool) -> bool {
    let granted = inner.releases.iter().any(|release| release.destination.origin == *origin);
    let own =
        !has_body && (task.contains(origin) || inner.releases.iter().any(|release| release.page == *origin));
    granted || own || inner.payment_origins.contains(origin)
}

fn headers_of(request: &Value) -> Vec<(String, String)> {
    let headers = request.get("headers").and_then(Value::as_object);
    let each = headers.into_iter().flatten();
    each.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

pub(super) fn body_of(request: &Value) -> Body {
    if request.get("hasPostData").and_then(Value::as_bool) != Some(true) {
        return Body::None;
    }
    let entries = request.get("postDataEntries").and_then(Value::as_array);
    let decoded: Option<Vec<Vec<u8>>> = entries
        .filter(|entries| !entries.is_empty())
        .and_then(|entries| entries.iter().map(|entry| text(entry, "bytes").and_then(base64)).collect());
    match (decoded, text(request, "postData")) {
        (Some(parts), _) => Body::Complete(parts.concat()),
        (None, Some(whole)) if entries.is_none() => Body::Complete(whole.as_bytes().to_vec()),
        (None, _) => Body::Unread,
    }
}

/// Standard base64, as CDP writes bytes.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(out)
}

/// As CDP reads bytes.
pub(super) fn write_base64(bytes: &[u8]) -> Zeroizing<String> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Zeroizing::new(String::with_capacity(bytes.len().div_ceil(3) * 4));
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().enumerate().fold(0_u32, |all, (at, byte)| all | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let index = usize::try_from((group >> (18 - 6 * at)) & 63).unwrap_or_default();
            let letter = ALPHABET.get(index).filter(|_| at <= chunk.len());
            out.push(letter.map_or('=', |byte| char::from(*byte)));
        }
    }
    out
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
    fn a_redirect_to_another_scheme_is_told_from_one_within_the_web() {
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

    #[test]
    fn what_is_written_is_read_back() {
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(91)).collect();
            assert_eq!(base64(&write_base64(&bytes)).as_deref(), Some(bytes.as_slice()));
        }
        assert_eq!(*write_base64(b"hello"), "aGVsbG8=");
    }

    #[test]
    fn bodies_are_read_whole_or_not_at_all() {
        assert_eq!(base64("aGVsbG8=").as_deref(), Some(b"hello".as_slice()));
        assert_eq!(base64("aGVsbG8h").as_deref(), Some(b"hello!".as_slice()));
        assert_eq!(base64("a*"), None);
        let whole =
            json!({ "hasPostData": true, "postDataEntries": [{ "bytes": "aGU=" }, { "bytes": "bGxv" }] });
        assert!(matches!(body_of(&whole), Body::Complete(bytes) if bytes == b"hello"));
        let file =
            json!({ "hasPostData": true, "postDataEntries": [{ "bytes": "aGU=" }, {}], "postData": "he" });
        assert!(matches!(body_of(&file), Body::Unread));
        assert!(matches!(body_of(&json!({ "hasPostData": true })), Body::Unread));
        assert!(matches!(body_of(&json!({})), Body::None));
    }
}
