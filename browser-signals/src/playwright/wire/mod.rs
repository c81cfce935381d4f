//! Sealed wires: a placeholder stands in the form, and the value takes its place in one request.
//!
//! A request is paused twice: first by the session of its page, where it is judged as any other, with the
//! placeholder in it; then by the browser's own session, which is the last before the network. There, and only
//! for a request that the page's session let go, the value is put in. So no session that anybody else hears
//! is told the value, and a redirect is seen by the page's session first, again with the placeholder: the
//! browser would repeat the body with the value, and is stopped before it does.
//!
//! | module | subject |
//! |---|---|
//! | `fill` | placing the placeholders |
//! | `body` | finding and replacing a field in a body |
//! | `form`, `multipart`, `json` | the three forms of a body |
//! | `shape` | what a page's script makes of a placeholder |

mod body;
mod fill;
mod form;
mod json;
mod multipart;
mod shape;

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;
use zeroize::Zeroizing;

use self::body::{BodyForm, Change, substituted};
use super::PageEvent;
use super::events::WireEnd;
use super::network::{Body, body_of, write_base64};
use super::session::{Link, lock, text};
use super::tab::{Inner, TabState};
use crate::{Destination, FrameId, Origin, WireField};

/// How many requests are remembered that carried values.
const REMEMBERED: usize = 64;

/// A wire whose placeholders stand.
struct Standing {
    request: u64,
    frame: FrameId,
    document: String,
    origin: Origin,
    destination: Destination,
    fields: Vec<WireField>,
    until: Instant,
    /// The requests that the page's session judged and let go.
    cleared: VecDeque<String>,
}

/// The wires of one tab.
#[derive(Default)]
pub(super) struct Wires {
    standing: Vec<Standing>,
    /// The browser's names of the requests that carried values.
    carried: VecDeque<String>,
}

/// What the browser says of a paused request, as far as a wire asks.
struct Outgoing<'a> {
    network: &'a str,
    frame: FrameId,
    url: Url,
    method: &'a str,
    body: Vec<u8>,
    form: BodyForm<'a>,
    from: Option<Origin>,
}

impl<'a> Outgoing<'a> {
    /// None for what never carries a value: a beacon, an image, a redirect, a body of another form or
    /// one that the browser does not give whole.
    fn read(params: &'a Value) -> Option<Outgoing<'a>> {
        let request = params.get("request")?;
        if params.get("redirectedRequestId").is_some()
            || !matches!(text(params, "resourceType")?, "Document" | "XHR" | "Fetch")
        {
            return None;
        }
        let header = |name: &str| {
            let headers = request.get("headers")?.as_object()?;
            headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1.as_str()
        };
        let from = match header("Origin") {
            None => None,
            Some(origin) => Some(Origin::parse(origin).ok()?),
        };
        let form = BodyForm::of(header("Content-Type")?)?;
        let Body::Complete(body) = body_of(request) else { return None };
        Some(Outgoing {
            network: text(params, "networkId")?,
            frame: FrameId::new(text(params, "frameId").filter(|frame| !frame.is_empty())?),
            url: Url::parse(text(request, "url")?).ok()?,
            method: text(request, "method")?,
            body,
            form,
            from,
        })
    }
}

impl Wires {
    /// Takes a wire in. Older ones for any of its controls end without a word but this: they can no longer be
    /// sent, since their placeholders are overwritten.
    fn replace(&mut self, wire: Standing) -> Vec<u64> {
        let mut replaced = Vec::new();
        self.standing.retain(|old| {
            let same = |field: &WireField| wire.fields.iter().any(|other| other.node == field.node);
            let kept = old.document != wire.document || !old.fields.iter().any(same);
            replaced.extend((!kept).then_some(old.request));
            kept
        });
        self.standing.push(wire);
        replaced
    }

    /// Takes a wire off that gave nothing. False where it is gone already.
    fn take_off(&mut self, request: u64) -> bool {
        let before = self.standing.len();
        self.standing.retain(|wire| wire.request != request);
        self.standing.len() < before
    }
}

impl Standing {
    /// Whether the request is the granted one, but for its body.
    fn is_for(&self, outgoing: &Outgoing<'_>, inner: &Inner) -> bool {
        self.frame == outgoing.frame
            && self.ended(inner).is_none()
            && outgoing.from.as_ref().is_none_or(|from| *from == self.origin)
            && Origin::of(&outgoing.url).is_ok_and(|origin| origin == self.destination.origin)
            && outgoing.url.path() == &*self.destination.path
            && outgoing.method == &*self.destination.method
    }

    /// The body with the values in it, if every placeholder is the value of its own field.
    fn written(&self, form: BodyForm<'_>, body: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut changes = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let WireField { name, placeholder, shape, value, .. } = field;
            let value = std::str::from_utf8(value.expose()).ok()?;
            changes.push(Change { name, placeholder, shape: *shape, value });
        }
        substituted(form, body, &changes)
    }

    /// Why it no longer stands.
    fn ended(&self, inner: &Inner) -> Option<WireEnd> {
        if Instant::now() >= self.until {
            Some(WireEnd::Expired)
        } else if inner.documents.get(&self.frame) != Some(&self.document) {
            Some(WireEnd::DocumentGone)
        } else {
            None
        }
    }
}

impl TabState {
    /// Notes that the page's session judged a request and let it go, if it is one that a wire waits for. What a
    /// document's own dedicated worker sends is the document's: the browser tells no difference.
    pub(super) fn clear_for_wires(&self, params: &Value) {
        if lock(&self.wires).standing.is_empty() {
            return;
        }
        let Some(outgoing) = Outgoing::read(params) else { return };
        let inner = self.inner();
        for wire in &mut lock(&self.wires).standing {
            if wire.is_for(&outgoing, &inner) {
                keep(&mut wire.cleared, outgoing.network);
            }
        }
    }

    /// Whether the browser is about to send a body again that values were put into.
    pub(super) fn repeats_a_wire(&self, params: &Value) -> bool {
        let has_body = !matches!(body_of(params.get("request").unwrap_or(&Value::Null)), Body::None);
        has_body
            && params.get("redirectedRequestId").is_some()
            && text(params, "networkId")
                .is_some_and(|network| lock(&self.wires).carried.iter().any(|one| one == network))
    }

    /// The body of a cleared request with the values in it, as CDP takes it. A wire that gave its values is used
    /// up.
    fn put_values_in(&self, params: &Value) -> Option<Zeroizing<String>> {
        if lock(&self.wires).standing.is_empty() {
            return None;
        }
        let outgoing = Outgoing::read(params)?;
        let mut body: Option<Zeroizing<Vec<u8>>> = None;
        let mut sent = Vec::new();
        {
            let inner = self.inner();
            let mut wires = lock(&self.wires);
            wires.standing.retain(|wire| {
                let cleared = wire.cleared.iter().any(|one| one == outgoing.network);
                if !cleared || !wire.is_for(&outgoing, &inner) {
                    return true;
                }
                let before = body.as_ref().map_or(outgoing.body.as_slice(), |body| body.as_slice());
                let Some(after) = wire.written(outgoing.form, before) else { return true };
                body = Some(after);
                sent.push(wire.request);
                false
            });
            if body.is_some() {
                keep(&mut wires.carried, outgoing.network);
            }
        }
        for request in sent {
            self.record(PageEvent::WireEnded { request, end: WireEnd::Sent });
        }
        body.map(|body| write_base64(&body))
    }

    /// Takes off the wires that no longer stand, or all of them, and says so.
    pub(super) fn sweep_wires(&self, all: bool) {
        let mut ended = Vec::new();
        {
            let inner = self.inner();
            lock(&self.wires).standing.retain(|wire| {
                let end = wire.ended(&inner).or(all.then_some(WireEnd::Expired));
                ended.extend(end.map(|end| (wire.request, end)));
                end.is_none()
            });
        }
        for (request, end) in ended {
            self.record(PageEvent::WireEnded { request, end });
        }
    }
}

impl Link {
    /// Lets a request of a known page go, with a wire's values if it is the one they are for.
    pub(super) fn send_on(self: &Arc<Link>, id: &str, frame: &FrameId, params: &Value) {
        let tab = self.all_tabs().into_iter().find(|tab| tab.knows_frame(frame));
        match tab.and_then(|tab| tab.put_values_in(params)) {
            None => self.post("Fetch.continueRequest", json!({ "requestId": id })),
            Some(body) => {
                self.post("Fetch.continueRequest", json!({ "requestId": id, "postData": body.as_str() }));
            }
        }
    }
}

/// Remembers a name, and forgets the oldest.
fn keep(names: &mut VecDeque<String>, name: &str) {
    if names.len() >= REMEMBERED {
        names.pop_front();
    }
    names.push_back(name.to_owned());
}
