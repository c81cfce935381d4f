//! Who is answered, and with what.
//!
//! Whom the guard's listeners answer at all is in `loopback`. A process of this machine can set every header;
//! it gets what it could also get by being a browser, and the exact match with the pending purchase stays
//! the real check.

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
use super::pending::Asked;
use crate::loopback::{Address, Hidden, fetched, only, plain, read_body, respond};

/// The most bytes of a question.
const BODY_LIMIT: usize = 4096;

const ICON: &[u8] = include_bytes!("icon.png");
const WORKER: &str = include_str!("worker.js");
const PAYMENT_MANIFEST: &str = r#"{"default_applications":["/app.json"]}"#;
const APP_MANIFEST: &str = concat!(
    r#"{"name":"Portcullis","short_name":"Portcullis","#,
    r#""icons":[{"src":"/icon.png","sizes":"128x128","type":"image/png"}],"#,
    r#""serviceworker":{"src":"/sw.js","scope":"/","use_cache":false}}"#
);
const CLOSED_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
/// The worker's own policy governs its fetches.
const WORKER_POLICY: &str = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";

const SERVICE_WORKER: HeaderName = HeaderName::from_static("service-worker");

/// The listener's address, and the path that only the worker knows.
pub(super) struct Door {
    address: Address,
    authorize: Hidden,
}

impl Door {
    /// `secret` is the unguessable part of the path, in characters that a path may have.
    pub fn new(port: u16, secret: &str) -> Door {
        Door { address: Address::new(port), authorize: Hidden::new(format!("/authorize/{secret}")) }
    }

    /// The origin, as a browser writes it.
    pub fn origin(&self) -> &str {
        self.address.origin()
    }
}

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
    if !shared.door.address.is_of(&head) {
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
            let script = WORKER.replace("{{AUTHORIZE}}", shared.door.authorize.text());
            Ok(respond("text/javascript", WORKER_POLICY, Body::from(script)))
        }
        (&Method::POST, path) if shared.door.authorize.is(path) => {
            fetched(headers, Some("same-origin"), &["same-origin"], &["empty"])?;
            if !shared.door.address.sent_json(headers) {
                return Err(StatusCode::FORBIDDEN);
            }
            let bytes = read_body(body, BODY_LIMIT).await?;
            let asked = read_question(&bytes).ok_or(StatusCode::BAD_REQUEST)?;
            let token = authorise(shared, &asked).await;
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
struct Question {
    payment_request_origin: String,
    top_origin: String,
    total: Total,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Total {
    currency: String,
    value: String,
}

/// Reads the worker's question. The browser ends an origin with a slash, which is not a part of it.
fn read_question(body: &[u8]) -> Option<Asked> {
    let question: Question = serde_json::from_slice(body).ok()?;
    let currency = Currency::new(&question.total.currency)?;
    Some(Asked {
        payee: read_origin(&question.payment_request_origin)?,
        top_origin: read_origin(&question.top_origin)?,
        amount: Money::parse(&question.total.value, currency)?,
    })
}

fn read_origin(text: &str) -> Option<Origin> {
    let origin = Origin::parse(text).ok()?;
    (text.strip_suffix('/').unwrap_or(text) == origin.to_string()).then_some(origin)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{read_origin, read_question};

    #[test]
    fn a_question_of_the_browser() {
        let body =
            br#"{"payment_request_origin":"https://shop.example/","top_origin":"https://shop.example/",
            "total":{"currency":"USD","value":"64.15"}}"#;
        let asked = read_question(body).unwrap();
        assert_eq!(asked.payee.to_string(), "https://shop.example");
        assert_eq!(asked.amount.to_string(), "64.15 USD");
    }

    #[test]
    fn what_is_more_or_other_than_an_origin_is_refused() {
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
    fn malformed_questions_are_refused() {
        for body in [
            r#"{}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"usd","value":"1"}}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"USD","value":"-1"}}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"USD","value":"1.001"}}"#,
            r#"{"payment_request_origin":"https://s.example","top_origin":"https://s.example","total":{"currency":"USD","value":"1"},"x":1}"#,
        ] {
            assert!(read_question(body.as_bytes()).is_none(), "{body}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_question(&bytes);
        }
    }
}
