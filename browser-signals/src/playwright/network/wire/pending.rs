//! The wires of one tab, and the requests that they wait for.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;
use tokio::time::Instant;
use url::Url;
use zeroize::Zeroizing;

use super::body::{BodyFormat, Change, substituted};
use crate::json::text;
use crate::playwright::network::body::{Body, body_of};
use crate::playwright::tab::events::WireEnd;
use crate::{Destination, FrameId, Origin, WireField};

/// How many requests are remembered, of those that were cleared and of those that carried values.
const REMEMBERED: usize = 64;

/// A wire whose placeholders are in the page.
pub(super) struct PendingWire {
    pub(super) request: u64,
    pub(super) frame: FrameId,
    pub(super) document: String,
    pub(super) origin: Origin,
    pub(super) destination: Destination,
    pub(super) fields: Vec<WireField>,
    pub(super) until: Instant,
    /// The requests that the page's session judged and continued.
    pub(super) cleared: VecDeque<String>,
}

/// The wires of one tab.
#[derive(Default)]
pub(crate) struct Wires {
    pub(super) pending: Vec<PendingWire>,
    /// The browser's ids of the requests that carried values.
    pub(super) carried: VecDeque<String>,
}

/// A paused request that may carry a value.
pub(super) struct Outgoing<'a> {
    /// The browser's id of the request.
    pub(super) network: &'a str,
    frame: FrameId,
    url: Url,
    method: &'a str,
    pub(super) body: Vec<u8>,
    pub(super) format: BodyFormat<'a>,
    from: Option<Origin>,
}

impl<'a> Outgoing<'a> {
    /// Reads a paused request. None for one that never carries a value: a beacon, an image, a redirect, a body of
    /// another format or one that the browser does not give whole.
    pub(super) fn read(params: &'a Value) -> Option<Outgoing<'a>> {
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
        let format = BodyFormat::of(header("Content-Type")?)?;
        let Body::Complete(body) = body_of(request) else { return None };
        Some(Outgoing {
            network: text(params, "networkId")?,
            frame: FrameId::new(text(params, "frameId").filter(|frame| !frame.is_empty())?),
            url: Url::parse(text(request, "url")?).ok()?,
            method: text(request, "method")?,
            body,
            format,
            from,
        })
    }
}

impl Wires {
    /// Adds a wire. Older ones for any of its controls end, since their placeholders are overwritten; returns their
    /// request numbers.
    pub(super) fn replace(&mut self, wire: PendingWire) -> Vec<u64> {
        let mut replaced = Vec::new();
        self.pending.retain(|old| {
            let same = |field: &WireField| wire.fields.iter().any(|other| other.node == field.node);
            let kept = old.document != wire.document || !old.fields.iter().any(same);
            replaced.extend((!kept).then_some(old.request));
            kept
        });
        self.pending.push(wire);
        replaced
    }

    /// Removes a wire whose values were not used. False where it is gone already.
    pub(super) fn remove(&mut self, request: u64) -> bool {
        let before = self.pending.len();
        self.pending.retain(|wire| wire.request != request);
        self.pending.len() < before
    }
}

impl PendingWire {
    /// Whether the request is the granted one, apart from its body.
    pub(super) fn is_for(&self, outgoing: &Outgoing<'_>, documents: &HashMap<FrameId, String>) -> bool {
        self.frame == outgoing.frame
            && self.ended(documents).is_none()
            && outgoing.from.as_ref().is_none_or(|from| *from == self.origin)
            && Origin::of(&outgoing.url).is_ok_and(|origin| origin == self.destination.origin)
            && outgoing.url.path() == &*self.destination.path
            && outgoing.method == &*self.destination.method
    }

    /// The body with the values in it, if every placeholder is the value of its own field.
    pub(super) fn written(&self, format: BodyFormat<'_>, body: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut changes = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let WireField { name, placeholder, shape, value, .. } = field;
            let value = std::str::from_utf8(value.expose()).ok()?;
            changes.push(Change { name, placeholder, shape: *shape, value });
        }
        substituted(format, body, &changes)
    }

    /// How it ended, if it has.
    pub(super) fn ended(&self, documents: &HashMap<FrameId, String>) -> Option<WireEnd> {
        if Instant::now() >= self.until {
            Some(WireEnd::Expired)
        } else if documents.get(&self.frame) != Some(&self.document) {
            Some(WireEnd::DocumentGone)
        } else {
            None
        }
    }
}

/// Remembers a request, and forgets the oldest one.
pub(super) fn remember(requests: &mut VecDeque<String>, request: &str) {
    if requests.len() >= REMEMBERED {
        requests.pop_front();
    }
    requests.push_back(request.to_owned());
}
