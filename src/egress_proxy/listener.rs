//! Who is answered, and with what.
//!
//! The listener is for one browser context, which alone has its password. A page, of this browser or of any
//! other, that sends a request to its port sends one in origin form: such a request gets a constant answer, as
//! does one without the password. No answer of the proxy says why, and none has a body.

use std::convert::Infallible;
use std::net::SocketAddr;
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
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use zeroize::Zeroizing;

use super::forward::forward;
use super::gate::Gate;
use super::limits::Limits;
use super::names::{HostRules, Resolver};
use super::target::{Target, Way};
use super::tunnel::tunnel;
use crate::loopback::{Hidden, only};

/// Counts a connection for as long as anything of it lasts.
pub(super) type Permit = Arc<OwnedSemaphorePermit>;

/// What all connections of one proxy share.
pub(super) struct Shared {
    pub address: SocketAddr,
    pub credential: Hidden,
    pub greeting: String,
    pub gate: Arc<Gate>,
    pub rules: HostRules,
    pub resolver: Arc<dyn Resolver>,
    pub limits: Limits,
    pub closing: watch::Receiver<()>,
}

impl Shared {
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    pub fn rules(&self) -> &HostRules {
        &self.rules
    }

    pub fn resolver(&self) -> &dyn Resolver {
        self.resolver.as_ref()
    }

    pub fn own_address(&self) -> SocketAddr {
        self.address
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Waits until the proxy is closed.
    pub async fn closed(&self) {
        let mut closing = self.closing.clone();
        // Nothing is ever sent: it ends when the sender is dropped.
        while closing.changed().await.is_ok() {}
    }
}

/// Accepts connections until the proxy is closed.
pub(super) async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let free = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let accepted = tokio::select! {
            // Whoever waits to be accepted when it is closed is not.
            biased;
            () = shared.closed() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, for one: others have to end first.
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
    let permit: Permit = Arc::new(permit);
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        let mut request: Request<Incoming> = request;
        // A tunnel outlives the conversation, and counts as long as it lasts.
        request.extensions_mut().insert(Arc::clone(&permit));
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
    match target.way() {
        Way::Tunnel => tunnel(shared, &target, request).await,
        Way::Forward if target.host() == shared.greeting => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        Way::Forward => forward(shared, &target, request).await,
    }
}

/// Where a request wants to go; none where it is no request to a proxy, or could be read in two ways.
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
    // Lengths that contradict each other hyper refuses; of a length and chunks the chunks count, and the
    // connection ends after them. Either way the server gets the body in a frame of our own.
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

/// The one answer for all that does not go: refused, unknown and unreachable look alike.
pub(super) fn failed() -> Response {
    plain(StatusCode::BAD_GATEWAY)
}

fn plain(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
