//! The listener of the consent page: which requests it serves.
//!
//! The address has two secrets: the path, which is new with every start of the guard, and the nonce of one question in the
//! fragment, which neither a server nor a referrer contains. Other pages are kept out even if they know both: a request
//! must come from this origin, as headers confirm that a page cannot set.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response;

use super::channel::PageChannel;
use super::message::MAX_BYTES;
use crate::system::loopback::{Address, Hidden, asks, fetched, only, plain, read_body, respond};

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const POST: &str = include_str!("post.js");
const STYLE: &str = include_str!("page.css");

const CLOSED_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// The header of the page's script. A form or a `no-cors` request cannot set it.
const SCRIPT_HEADER: HeaderName = HeaderName::from_static("x-portcullis");

/// The state of the listener.
pub(super) struct Shared {
    pub channel: PageChannel,
    address: Address,
    page: Hidden,
    script: Hidden,
    post: Hidden,
    style: Hidden,
    say: Hidden,
}

impl Shared {
    /// `secret` is the unguessable part of the path, in characters that a path may have.
    pub fn new(port: u16, secret: &str) -> Shared {
        let path = |name: &str| Hidden::new(format!("/{secret}/{name}"));
        Shared {
            channel: PageChannel::default(),
            address: Address::new(port),
            page: path(""),
            script: path("page.js"),
            post: path("post.js"),
            style: path("page.css"),
            say: path("say"),
        }
    }

    /// The address that shows a question.
    pub fn address_of(&self, nonce: &str) -> String {
        format!("{}{}#{nonce}", self.address.origin(), self.page.text())
    }
}

/// Answers one request.
pub(super) async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let mut response = match route(&shared, request).await {
        Ok(response) => response,
        Err(status) => plain(status, CLOSED_POLICY),
    };
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("x-frame-options", "DENY"),
    ] {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

async fn route(shared: &Shared, request: Request) -> Result<Response, StatusCode> {
    let (head, body) = request.into_parts();
    let headers = &head.headers;
    if !shared.address.is_of(&head) {
        return Err(StatusCode::FORBIDDEN);
    }
    if asks(&head, &Method::GET, &shared.page) {
        // Only the browser itself navigates here, by its address bar or the guard, and no page does. On a reload the
        // initiator is the page itself.
        let by = |site| fetched(headers, Some(site), &["navigate"], &["document"]);
        by("none").or_else(|_| by("same-origin"))?;
        return Ok(respond("text/html; charset=utf-8", PAGE_POLICY, Body::from(PAGE)));
    }
    for (path, script) in [(&shared.script, SCRIPT), (&shared.post, POST)] {
        if asks(&head, &Method::GET, path) {
            fetched(headers, Some("same-origin"), &["no-cors"], &["script"])?;
            return Ok(respond("text/javascript; charset=utf-8", CLOSED_POLICY, Body::from(script)));
        }
    }
    if asks(&head, &Method::GET, &shared.style) {
        fetched(headers, Some("same-origin"), &["no-cors"], &["style"])?;
        return Ok(respond("text/css; charset=utf-8", CLOSED_POLICY, Body::from(STYLE)));
    }
    if asks(&head, &Method::POST, &shared.say) {
        fetched(headers, Some("same-origin"), &["same-origin"], &["empty"])?;
        if !shared.address.sent_json(headers) || only(headers, &SCRIPT_HEADER) != Some("consent") {
            return Err(StatusCode::FORBIDDEN);
        }
        let bytes = read_body(body, MAX_BYTES).await?;
        let reply = shared
            .channel
            .receive(&bytes)
            .map_err(|error| StatusCode::from_u16(error.status()).unwrap_or(StatusCode::NOT_FOUND))?;
        return Ok(respond("application/json", CLOSED_POLICY, Body::from(reply.to_string())));
    }
    Err(StatusCode::NOT_FOUND)
}
