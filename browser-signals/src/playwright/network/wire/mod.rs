//! Sealed wires: the form holds a placeholder, and the value replaces it in one request.
//!
//! A request is paused twice: first by the session of its page, where it is judged like any other, with the
//! placeholder in it; then by the browser's own session, which is the last before the network. There the value
//! is put in, and only for a request that the page's session continued. So the value reaches no session that
//! another program sees. A redirect is seen by the page's session first, again with the placeholder: the
//! browser would repeat the body with the value, and is stopped before it does.
//!
//! | module | subject |
//! |---|---|
//! | `fill` | placing the placeholders |
//! | `pending` | the wires of a tab, and the requests that they wait for |
//! | `body` | finding and replacing a field in a body |
//! | `form`, `multipart`, `json` | the three formats of a body |
//! | `shape` | how a page's script may rewrite a placeholder |

mod body;
mod fill;
mod form;
mod json;
mod multipart;
pub(crate) mod pending;
mod shape;

use std::sync::Arc;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use self::pending::{Outgoing, remember};
use super::body::{Body, body_of, write_base64};
use crate::FrameId;
use crate::json::text;
use crate::playwright::cdp::session::lock;
use crate::playwright::tab::events::{PageEvent, WireEnd};
use crate::playwright::tab::state::{Link, TabState};

impl TabState {
    /// Notes that the page's session judged a request and continued it, if it is one that a wire waits for. A request of
    /// a document's dedicated worker counts as the document's: the browser makes no difference.
    pub(crate) fn clear_for_wires(&self, params: &Value) {
        if lock(&self.wires).pending.is_empty() {
            return;
        }
        let Some(outgoing) = Outgoing::read(params) else { return };
        let inner = self.inner();
        for wire in &mut lock(&self.wires).pending {
            if wire.is_for(&outgoing, &inner.documents) {
                remember(&mut wire.cleared, outgoing.network);
            }
        }
    }

    /// Whether the browser is about to send a body again that values were put into.
    pub(crate) fn repeats_a_wire(&self, params: &Value) -> bool {
        let has_body = !matches!(body_of(params.get("request").unwrap_or(&Value::Null)), Body::None);
        has_body
            && params.get("redirectedRequestId").is_some()
            && text(params, "networkId")
                .is_some_and(|network| lock(&self.wires).carried.iter().any(|one| one == network))
    }

    /// The body of a cleared request with the values in it, as CDP takes it. A wire whose values are used has ended.
    fn put_values_in(&self, params: &Value) -> Option<Zeroizing<String>> {
        if lock(&self.wires).pending.is_empty() {
            return None;
        }
        let outgoing = Outgoing::read(params)?;
        let mut body: Option<Zeroizing<Vec<u8>>> = None;
        let mut sent = Vec::new();
        {
            let inner = self.inner();
            let mut wires = lock(&self.wires);
            wires.pending.retain(|wire| {
                let cleared = wire.cleared.iter().any(|one| one == outgoing.network);
                if !cleared || !wire.is_for(&outgoing, &inner.documents) {
                    return true;
                }
                let before = body.as_ref().map_or(outgoing.body.as_slice(), |body| body.as_slice());
                let Some(after) = wire.written(outgoing.format, before) else { return true };
                body = Some(after);
                sent.push(wire.request);
                false
            });
            if body.is_some() {
                remember(&mut wires.carried, outgoing.network);
            }
        }
        for request in sent {
            self.record(PageEvent::WireEnded { request, end: WireEnd::Sent });
        }
        body.map(|body| write_base64(&body))
    }

    /// Ends the wires whose time or document is over, or all of them, and records how each ended.
    pub(crate) fn end_wires(&self, all: bool) {
        let mut ended = Vec::new();
        {
            let inner = self.inner();
            lock(&self.wires).pending.retain(|wire| {
                let end = wire.ended(&inner.documents).or(all.then_some(WireEnd::Expired));
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
    /// Continues a request of a known page, with a wire's values if it is the one that they are for.
    pub(crate) fn send_on(self: &Arc<Link>, id: &str, frame: &FrameId, params: &Value) {
        let tab = self.all_tabs().into_iter().find(|tab| tab.knows_frame(frame));
        match tab.and_then(|tab| tab.put_values_in(params)) {
            None => self.post("Fetch.continueRequest", json!({ "requestId": id })),
            Some(body) => {
                self.post("Fetch.continueRequest", json!({ "requestId": id, "postData": body.as_str() }));
            }
        }
    }
}
