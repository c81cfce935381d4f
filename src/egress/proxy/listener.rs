//! The listener: which requests it serves, and how it answers the others.
//!
//! It serves one browser context, which alone has its password. A page of any browser can send requests to its port, but
//! only in origin form: such a request gets a constant answer, as does one without the password. No answer contains a
//! reason or a body.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, StatusCode, Version};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use zeroize::Zeroizing;

use super::forward::{forward, tunnel};
use super::state::{ClientSlot, Shared, plain};
use super::target::{ProxyMode, Target};
use crate::system::loopback::{Hidden, only};

/// Accepts connections until the proxy is closed.
pub(super) async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let free = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let accepted = tokio::select! {
            // Once the proxy is closed, a waiting connection is not accepted.
            biased;
            () = shared.closed() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // For example, there may be no free file descriptors until other connections end.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            continue;
        };
        // One too many is closed at once.
        if let Ok(permit) = Arc::clone(&free).try_acquire_owned() {
            tokio::spawn(converse(stream, Arc::clone(&shared), permit));
        }
    }
}

/// Answers the requests of one connection, one after the other.
async fn converse(stream: TcpStream, shared: Arc<Shared>, permit: OwnedSemaphorePermit) {
    let _slower_only = stream.set_nodelay(true);
    let slot: ClientSlot = Arc::new(permit);
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        let mut request: Request<Incoming> = request;
        // A tunnel outlives this function and keeps its slot as long as it lasts.
        request.extensions_mut().insert(Arc::clone(&slot));
        async move { Ok::<_, Infallible>(answer(&shared, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.head_time)
        .max_buf_size(shared.limits.head.max(8192))
        .max_headers(shared.limits.headers)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        biased;
        () = shared.closed() => {}
        _ended = connection => {}
    }
}

async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Response {
    let target = match read(&request) {
        Some(target) => target,
        None => return plain(StatusCode::BAD_REQUEST),
    };
    if !is_ours(request.headers(), &shared.credential) {
        let mut response = plain(StatusCode::PROXY_AUTHENTICATION_REQUIRED);
        let challenge = HeaderValue::from_static("Basic realm=\"proxy\"");
        response.headers_mut().insert(header::PROXY_AUTHENTICATE, challenge);
        return response;
    }
    match target.mode() {
        ProxyMode::Tunnel => tunnel(shared, &target, request).await,
        ProxyMode::Forward if target.host() == shared.greeting => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        ProxyMode::Forward => forward(shared, &target, request).await,
    }
}

/// The target of a request; none where it is not a request to a proxy, or is ambiguous.
fn read(request: &Request<Incoming>) -> Option<Target> {
    let headers = request.headers();
    if request.version() != Version::HTTP_11 || headers.get_all(header::HOST).iter().count() != 1 {
        return None;
    }
    if request.method() == Method::CONNECT {
        let framed =
            [header::CONTENT_LENGTH, header::TRANSFER_ENCODING].iter().any(|it| headers.contains_key(it));
        return if framed { None } else { Target::of_tunnel(request.uri()) };
    }
    // Hyper refuses contradictory lengths. Where a length and chunks are given it reads the chunks and ends the connection
    // after them. In both cases the server gets the body with framing of our own.
    Target::of_forward(request.uri())
}

/// Whether a request has the container's password.
fn is_ours(headers: &HeaderMap, credential: &Hidden) -> bool {
    let Some(given) = only(headers, &header::PROXY_AUTHORIZATION) else { return false };
    let Some((scheme, given)) = given.split_once(' ') else { return false };
    let decoded = STANDARD.decode(given.trim()).ok().map(Zeroizing::new);
    let given = decoded.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok());
    scheme.eq_ignore_ascii_case("basic") && given.is_some_and(|given| credential.is(given))
}
