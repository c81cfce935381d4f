//! The state that all connections of one proxy share, its limits, and its constant answers.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{self, HeaderValue};
use axum::response::Response;
use browser_signals::Origin;
use browser_signals::this_machine::{ReachedSites, is_loopback_ip};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::failures::{ConnectFailure, Failures};
use super::gate::Gate;
use super::names::{HostRules, Resolver};
use super::target::Target;
use crate::system::loopback::Hidden;
use crate::system::own_ports::is_own_port;

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
    /// The sites of this machine without TLS that the user listed.
    pub sites_on_this_machine: Vec<Origin>,
    /// The origins of the guard's payment handler, the only listener of the guard that a container reaches.
    pub payment: Vec<Origin>,
    /// The sites of this machine that were reached on a loopback address.
    pub reached: ReachedSites,
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

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether an address is a listener of the guard that the target may not reach. The proxy itself is one.
    pub fn is_off_limits(&self, target: &Target, address: SocketAddr) -> bool {
        let own = is_loopback_ip(address.ip()) && is_own_port(address.port());
        address == self.address || (own && !self.payment.iter().any(|origin| target.is_of(origin)))
    }

    /// Notes a connection that was made to a site of this machine that the user listed.
    pub fn note_reached(&self, target: &Target, address: IpAddr) {
        let site = self.sites_on_this_machine.iter().find(|site| target.is_of(site));
        if let Some(site) = site.filter(|_| is_loopback_ip(address)) {
            self.reached.note(site);
        }
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
