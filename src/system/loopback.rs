//! Checks that the guard's listeners on the loopback address share: which requests they answer, and how (I15).
//!
//! Any page can send requests to a port of this machine, and an attacker can point a name of theirs at it. So a
//! request must name the listener's address as its `Host`, must name an unguessable path where one is needed, and
//! must carry the fetch metadata that the browser adds for the one purpose of that path. Pages cannot set these
//! headers.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

/// The time limit for a body to arrive.
const BODY_TIME: Duration = Duration::from_secs(5);

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// A listener's own address. It is a number and not a name, so that no resolver can change it.
pub(crate) struct Address {
    host: String,
    origin: String,
}

impl Address {
    pub fn new(port: u16) -> Address {
        Address { host: format!("127.0.0.1:{port}"), origin: format!("http://127.0.0.1:{port}") }
    }

    /// The origin, as a browser writes it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether a request is for this address, by its only `Host` and in the usual form.
    pub fn is_of(&self, head: &Parts) -> bool {
        head.uri.authority().is_none() && only(&head.headers, &header::HOST) == Some(&self.host)
    }

    /// Whether a JSON body was sent by a script of this origin.
    pub fn sent_json(&self, headers: &HeaderMap) -> bool {
        only(headers, &header::ORIGIN) == Some(&self.origin)
            && only(headers, &header::CONTENT_TYPE) == Some("application/json")
    }
}

/// A secret text, compared by hash so that the time of a comparison does not show how much of a guess is right.
pub(crate) struct Hidden {
    text: String,
    hash: [u8; 32],
}

impl Hidden {
    pub fn new(text: String) -> Hidden {
        Hidden { hash: Sha256::digest(&text).into(), text }
    }

    /// The text, for the party that may know it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a guess is exactly the text.
    pub fn is(&self, guess: &str) -> bool {
        <[u8; 32]>::from(Sha256::digest(guess)) == self.hash
    }
}

/// The value of a header that occurs exactly once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

/// Checks that the browser fetches for one of these purposes. With `site`, only that fetch site passes.
pub(crate) fn fetched(
    headers: &HeaderMap,
    site: Option<&str>,
    modes: &[&str],
    dests: &[&str],
) -> Result<(), StatusCode> {
    let from = only(headers, &FETCH_SITE);
    let right = (if site.is_some() { from == site } else { from.is_some() })
        && only(headers, &FETCH_MODE).is_some_and(|mode| modes.contains(&mode))
        && only(headers, &FETCH_DEST).is_some_and(|dest| dests.contains(&dest));
    if right { Ok(()) } else { Err(StatusCode::FORBIDDEN) }
}

/// Reads a body of at most `limit` bytes into a buffer that is wiped when dropped and never grows. Each received
/// chunk is wiped too if nothing else holds it; the server's own read buffer is out of reach.
pub(crate) async fn read_body(mut body: Body, limit: usize) -> Result<Zeroizing<Vec<u8>>, StatusCode> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit));
    let all = async {
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let Ok(data) = frame.map_err(|_| ())?.into_data() else { continue };
            if data.len() > limit - bytes.len() {
                return Err(());
            }
            bytes.extend_from_slice(&data);
            if let Ok(mut ours) = data.try_into_mut() {
                ours.as_mut().zeroize();
            }
        }
        Ok(())
    };
    match tokio::time::timeout(BODY_TIME, all).await {
        Ok(Ok(())) => Ok(bytes),
        _ => Err(StatusCode::PAYLOAD_TOO_LARGE),
    }
}

/// An answer without a body.
pub(crate) fn plain(status: StatusCode, policy: &'static str) -> Response {
    let mut response = respond("text/plain", policy, Body::empty());
    *response.status_mut() = status;
    response
}

/// An answer that browsers must not store, sniff, frame or send as a referrer.
pub(crate) fn respond(content_type: &'static str, policy: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether a request has this method and this path, and no query.
pub(crate) fn asks(head: &Parts, method: &Method, path: &Hidden) -> bool {
    head.method == *method && head.uri.query().is_none() && path.is(head.uri.path())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Hidden;

    proptest! {
        #[test]
        fn only_the_exact_text_is_right(guess in "/authorize/[0-9a-f]{0,40}") {
            let hidden = Hidden::new("/authorize/0123456789abcdef0123456789abcdef".to_owned());
            prop_assert_eq!(hidden.is(&guess), guess == hidden.text());
        }
    }
}
