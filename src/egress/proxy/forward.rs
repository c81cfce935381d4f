//! Passing data on to a server: tunnels (`CONNECT`) and requests in clear.

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
use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::TcpStream;

use super::connection::{MonitoredStream, connect};
use super::failures::ConnectFailure;
use super::gate::ConnectionPermit;
use super::state::{ClientSlot, Shared, failed};
use super::target::Target;

/// The buffer of one direction, in bytes.
const BUFFER_BYTES: usize = 16 * 1024;

/// A permitted connection to a target.
async fn reach(shared: &Shared, target: &Target) -> Result<(ConnectionPermit, TcpStream), ConnectFailure> {
    let mut permit = shared.gate().open(target).map_err(ConnectFailure::Refused)?;
    let server = connect(shared, &mut permit, target).await?;
    Ok((permit, server))
}

/// Opens a tunnel: connects to the target, answers, and then passes bytes in both directions in a task of its own, until
/// one side ends it or its permit is revoked.
pub(super) async fn tunnel(
    shared: &Arc<Shared>,
    target: &Target,
    mut request: Request<Incoming>,
) -> Response {
    let (mut permit, server) = match reach(shared, target).await {
        Ok(reached) => reached,
        Err(failure) => return shared.failed_to(target, failure),
    };
    let upgraded = hyper::upgrade::on(&mut request);
    let client_slot = request.extensions_mut().remove::<ClientSlot>();
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let (mut server, activity) = MonitoredStream::new(server);
        let copying = async {
            let Ok(client) = upgraded.await else { return };
            let mut client = TokioIo::new(client);
            let _ended =
                copy_bidirectional_with_sizes(&mut client, &mut server, BUFFER_BYTES, BUFFER_BYTES).await;
        };
        tokio::select! {
            biased;
            () = permit.revoked() => {}
            () = shared.closed() => {}
            () = activity.silence(shared.limits().idle) => {}
            () = copying => {}
        }
        // The permit must outlive the connection.
        drop(server);
        drop(permit);
        drop(client_slot);
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::OK;
    response
}

/// Hop-by-hop headers (RFC 9110, 7.6.1), and headers for a proxy. Lengths are set anew from the body, so that two
/// contradictory ones cannot both arrive.
const HOP_BY_HOP: [HeaderName; 10] = [
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

/// Forwards a request over a connection of its own, and passes the answer back. The server is the host of the request's
/// address; the header `Host` is replaced.
pub(super) async fn forward(shared: &Arc<Shared>, target: &Target, request: Request<Incoming>) -> Response {
    let Some(request) = onward(target, request) else { return failed() };
    let (mut permit, server) = match reach(shared, target).await {
        Ok(reached) => reached,
        Err(failure) => return shared.failed_to(target, failure),
    };
    let (server, activity) = MonitoredStream::new(server);
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
            () = permit.revoked() => {}
            () = shared.closed() => {}
            () = activity.silence(idle) => {}
            // The connection is dropped with the future, before the permit.
            _ended = connection => {}
        }
        drop(permit);
    });
    match sender.send_request(request).await {
        Ok(response) => back(response),
        Err(_) => failed(),
    }
}

/// The request for the server.
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

/// The answer for the client. An answer with a proxy status fails: the browser would react with this proxy's password or
/// give the proxy up. So does one that changes the protocol.
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
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}
