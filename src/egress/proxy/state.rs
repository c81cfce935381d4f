//! The state that all connections of one proxy share, its limits, and its constant answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{self, HeaderValue};
use axum::response::Response;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::failures::{ConnectFailure, Failures};
use super::gate::Gate;
use super::names::{HostRules, Resolver};
use super::target::Target;
use crate::system::loopback::Hidden;

/// The limits of one proxy. A connection needs at most `head` bytes for its request, and a tunnel two buffers of 16 KiB:
/// with the defaults a container takes up less than 16 MiB of the guard's memory.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most connections of clients at a time. Further ones are closed at once. Chromium opens 32 to one proxy, and
    /// as many again for sockets.
    pub connections: usize,
    /// The most bytes of a request's head, at least 8192.
    pub head: usize,
    /// The most header lines of a request.
    pub headers: usize,
    /// The timeout for a request's head, and for the next request of a connection.
    pub head_time: Duration,
    /// The timeout for a name lookup and a connection attempt.
    pub connect_time: Duration,
    /// The time without traffic in either direction after which a connection to a server is closed.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 256,
            head: 16 * 1024,
            headers: 100,
            head_time: Duration::from_secs(10),
            connect_time: Duration::from_secs(15),
            idle: Duration::from_secs(300),
        }
    }
}

/// Counts a connection as long as any part of it lasts.
pub(super) type ClientSlot = Arc<OwnedSemaphorePermit>;

/// The state that all connections of one proxy share.
pub(super) struct Shared {
    pub address: SocketAddr,
    pub credential: Hidden,
    pub greeting: String,
    pub gate: Arc<Gate>,
    pub failures: Arc<Failures>,
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

    /// The one answer to a failure, whose cause is remembered for the guard.
    pub fn failed_to(&self, target: &Target, failure: ConnectFailure) -> Response {
        self.failures.note(target, failure);
        failed()
    }

    /// Waits until the proxy is closed.
    pub async fn closed(&self) {
        let mut closing = self.closing.clone();
        // Nothing is ever sent; the loop ends when the sender is dropped.
        while closing.changed().await.is_ok() {}
    }
}

/// The one answer to every failure: refused, unknown and unreachable targets look alike.
pub(super) fn failed() -> Response {
    plain(StatusCode::BAD_GATEWAY)
}

/// An answer without a body.
pub(super) fn plain(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
