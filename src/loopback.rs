//! What the guard's listeners on the loopback address share: whom they answer, and how (I15).
//!
//! Any page can send requests to a port of this machine, and a name that an attacker owns can be made to
//! point at it. So a request has to name the listener's address as its `Host`, a path that cannot be guessed
//! where one is needed, and carry the fetch metadata that the browser adds for the one purpose each path has.
//! Pages cannot set these headers.

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

/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(5);

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// A listener's own address: a number, not a name, so that no resolver can stand in for it.
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

/// A text that is compared by hash, so that the time taken says nothing of how much of a guess was right.
pub(crate) struct Hidden {
    text: String,
    hash: [u8; 32],
}

impl Hidden {
    pub fn new(text: String) -> Hidden {
        Hidden { hash: Sha256::digest(&text).into(), text }
    }

    /// The text, for whoever is meant to know it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a guess is right.
    pub fn is(&self, guess: &str) -> bool {
        <[u8; 32]>::from(Sha256::digest(guess)) == self.hash
    }
}

/// The value of a header that is there exactly once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

/// Whether the browser says that it fetches for this purpose; `site` where only its own origin may.
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

/// A body of at most `limit` bytes, in a buffer that is wiped when dropped and never grows. What arrived is
/// wiped too where nobody else holds it; the server's own read buffer is out of reach.
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

/// An answer that is not stored, guessed at, framed, or told of to anybody.
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

/// Whether a request is this method and this path, without a query.
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
