//! Requests in clear, passed on: to the host that the address names, whatever the header `Host` says.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{StatusCode, Version};
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::connect::connect;
use super::listener::{Shared, failed};
use super::target::Target;
use super::watched::Watched;

/// Headers that are for one connection and not for the whole way, by RFC 9110, 7.6.1, and those that speak to a
/// proxy. The lengths are set anew from the body, so that two that contradict each other cannot both arrive.
const OF_ONE_CONNECTION: [HeaderName; 10] = [
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Sends a request on over a connection of its own, and passes the answer back.
pub(super) async fn forward(shared: &Arc<Shared>, target: &Target, request: Request<Incoming>) -> Response {
    let Some(request) = onward(target, request) else { return failed() };
    let Ok(mut pass) = shared.gate().open(target) else { return failed() };
    let Some(server) = connect(shared, &mut pass, target).await else { return failed() };
    let (server, movement) = Watched::new(server);
    let limits = shared.limits();
    let handshake = http1::Builder::new()
        .max_buf_size(limits.head.max(64 * 1024))
        .handshake::<_, Incoming>(TokioIo::new(server));
    let Ok((mut sender, connection)) = handshake.await else { return failed() };
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let idle = shared.limits().idle;
        tokio::select! {
            biased;
            () = pass.cut() => {}
            () = shared.closed() => {}
            () = movement.silence(idle) => {}
            // Its connection goes with the future, before the way does.
            _ended = connection => {}
        }
        drop(pass);
    });
    match sender.send_request(request).await {
        Ok(response) => back(response),
        Err(_) => failed(),
    }
}

/// The request as the server gets it.
fn onward(target: &Target, request: Request<Incoming>) -> Option<Request<Incoming>> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    let host = if target.port() == 80 {
        target.host().to_owned()
    } else {
        format!("{}:{}", target.host(), target.port())
    };
    head.uri = Uri::from(path);
    head.version = Version::HTTP_11;
    strip(&mut head.headers);
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::HOST, HeaderValue::from_str(&host).ok()?);
    head.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    head.extensions.clear();
    Some(Request::from_parts(head, body))
}

/// The answer as the client gets it. A server that claims to be a proxy would be asked for, or cost the
/// container, the password of this one; and none may change the protocol.
fn back(response: hyper::Response<Incoming>) -> Response {
    let (mut head, body) = response.into_parts();
    if head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED || head.status.is_informational() {
        return failed();
    }
    if head.headers.contains_key(header::TRANSFER_ENCODING) {
        head.headers.remove(header::CONTENT_LENGTH);
    }
    strip(&mut head.headers);
    head.version = Version::HTTP_11;
    head.extensions.clear();
    Response::from_parts(head, Body::new(body))
}

fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_ONE_CONNECTION) {
        headers.remove(name);
    }
}
