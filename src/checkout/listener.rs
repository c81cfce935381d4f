//! The listener: which requests it serves, and its answers.
//!
//! The module `loopback` has the checks that all listeners of the guard share. A process of this machine can set every
//! header and so gets what a browser gets. The exact match with the pending purchase remains the real check.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use browser_signals::Origin;
use serde::Deserialize;
use sirl::{Currency, Money};

use super::authorise::{Shared, authorise};
use super::pending::PaymentRequest;
use crate::system::loopback::{fetched, only, plain, read_body, respond};

/// The most bytes of a request's body.
const MAX_BODY_BYTES: usize = 4096;

const ICON: &[u8] = include_bytes!("icon.png");
const WORKER: &str = include_str!("worker.js");
const PAYMENT_MANIFEST: &str = r#"{"default_applications":["/app.json"]}"#;
const APP_MANIFEST: &str = concat!(
    r#"{"name":"Portcullis","short_name":"Portcullis","#,
    r#""icons":[{"src":"/icon.png","sizes":"128x128","type":"image/png"}],"#,
    r#""serviceworker":{"src":"/sw.js","scope":"/","use_cache":false}}"#
);
const CLOSED_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
/// The policy of the worker's script, which governs its fetches.
const WORKER_POLICY: &str = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";

const SERVICE_WORKER: HeaderName = HeaderName::from_static("service-worker");

/// Answers one request.
pub(super) async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    match route(&shared, request).await {
        Ok(response) => response,
        Err(status) => plain(status, CLOSED_POLICY),
    }
}

async fn route(shared: &Arc<Shared>, request: Request) -> Result<Response, StatusCode> {
    let (head, body) = request.into_parts();
    let headers = &head.headers;
    let uri = &head.uri;
    if !shared.endpoint.address.is_of(&head) {
        return Err(StatusCode::FORBIDDEN);
    }
    if uri.query().is_some() {
        return Err(StatusCode::NOT_FOUND);
    }
    match (&head.method, uri.path()) {
        (&Method::HEAD | &Method::GET, "/pay") => {
            fetched(headers, None, &["no-cors"], &["empty"])?;
            let mut response = respond("text/plain", CLOSED_POLICY, Body::empty());
            let link = HeaderValue::from_static("</payment.json>; rel=\"payment-method-manifest\"");
            response.headers_mut().insert(header::LINK, link);
            Ok(response)
        }
        (&Method::GET, "/payment.json") => {
            fetched(headers, Some("same-origin"), &["no-cors"], &["empty"])?;
            Ok(respond("application/json", CLOSED_POLICY, Body::from(PAYMENT_MANIFEST)))
        }
        (&Method::GET, "/app.json") => {
            fetched(headers, Some("same-origin"), &["no-cors"], &["empty"])?;
            Ok(respond("application/manifest+json", CLOSED_POLICY, Body::from(APP_MANIFEST)))
        }
        (&Method::GET, "/icon.png") => {
            fetched(headers, None, &["no-cors"], &["image", "empty"])?;
            Ok(respond("image/png", CLOSED_POLICY, Body::from(ICON)))
        }
        (&Method::GET, "/sw.js") => {
            fetched(headers, Some("same-origin"), &["same-origin"], &["serviceworker"])?;
            if only(headers, &SERVICE_WORKER) != Some("script") {
                return Err(StatusCode::FORBIDDEN);
            }
            let script = WORKER.replace("{{AUTHORIZE}}", shared.endpoint.authorize.text());
            Ok(respond("text/javascript", WORKER_POLICY, Body::from(script)))
        }
        (&Method::POST, path) if shared.endpoint.authorize.is(path) => {
            fetched(headers, Some("same-origin"), &["same-origin"], &["empty"])?;
            if !shared.endpoint.address.sent_json(headers) {
                return Err(StatusCode::FORBIDDEN);
            }
            let bytes = read_body(body, MAX_BODY_BYTES).await?;
            let request = read_request(&bytes).ok_or(StatusCode::BAD_REQUEST)?;
            let token = authorise(shared, &request).await;
            let details = match &token {
                Some(token) => serde_json::json!({ "status": "success", "token": token.expose() }),
                None => serde_json::json!({ "status": "denied" }),
            };
            Ok(respond("application/json", CLOSED_POLICY, Body::from(details.to_string())))
        }
        _ => Err(StatusCode::NOT_FOUND),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRequest {
    payment_request_origin: String,
    top_origin: String,
    total: WireTotal,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireTotal {
    currency: String,
    value: String,
}

/// Reads the worker's request. The browser ends an origin with a slash, which is not a part of it.
fn read_request(body: &[u8]) -> Option<PaymentRequest> {
    let request: WireRequest = serde_json::from_slice(body).ok()?;
    let currency = Currency::new(&request.total.currency)?;
    Some(PaymentRequest {
        payee: read_origin(&request.payment_request_origin)?,
        top_origin: read_origin(&request.top_origin)?,
        amount: Money::parse(&request.total.value, currency)?,
    })
}

fn read_origin(text: &str) -> Option<Origin> {
    let origin = Origin::parse(text).ok()?;
    (text.strip_suffix('/').unwrap_or(text) == origin.to_string()).then_some(origin)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{read_origin, read_request};

    #[test]
    fn a_request_of_the_browser_is_read() {
        let body =
            br#"{"payment_request_origin":"https://shop.example/","top_origin":"https://shop.example/",
            "total":{"currency":"USD","value":"64.15"}}"#;
        let request = read_request(body).unwrap();
        assert_eq!(request.payee.to_string(), "https://shop.example");
        assert_eq!(request.amount.to_string(), "64.15 USD");
    }

    #[test]
    fn text_that_is_not_exactly_an_origin_is_refused() {
        assert!(read_origin("https://shop.example:8443/").is_some());
        for text in [
            "https://shop.example/x",
            "https://a@shop.example/",
            "null",
            "",
            "https://SHOP.example/",
            "file:///",
        ] {
            assert!(read_origin(text).is_none(), "{text}");
        }
    }

    #[test]
    fn malformed_requests_are_refused() {
        for body in [
            r#"{}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"usd","value":"1"}}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"USD","value":"-1"}}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"USD","value":"1.001"}}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"USD","value":"1"},"x":1}"#,
        ] {
            assert!(read_request(body.as_bytes()).is_none(), "{body}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_request(&bytes);
        }
    }
}
