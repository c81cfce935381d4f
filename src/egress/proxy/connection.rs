//! A connection to a server. Its name is looked up here, so that its address is known before anything is connected; its
//! silence is measured.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::failures::ConnectFailure;
use super::gate::ConnectionPermit;
use super::rule::ConnectionRefusal;
use super::state::Shared;
use super::target::Target;

/// Connects to the first address that the rule allows and that answers. The name is looked up once, and the address that
/// was checked is the one that is connected to.
pub(super) async fn connect(
    shared: &Shared,
    permit: &mut ConnectionPermit,
    target: &Target,
) -> Result<TcpStream, ConnectFailure> {
    let gate = shared.gate();
    let connecting = async {
        let resolver = shared.resolver();
        let found = shared.rules().addresses(target.host(), target.port(), resolver).await;
        let found = found.map_err(|_| ConnectFailure::NoName)?;
        let mut failure = ConnectFailure::NoName;
        for address in found {
            // The proxy must not connect to itself, nor to another listener of the guard.
            if shared.is_off_limits(target, address) {
                failure = ConnectFailure::Refused(ConnectionRefusal::Private);
                continue;
            }
            if let Err(refusal) = gate.judge_address(target, address.ip()) {
                failure = ConnectFailure::Refused(refusal);
                continue;
            }
            failure = ConnectFailure::NoAnswer;
            if let Ok(stream) = TcpStream::connect(address).await {
                let _slower_only = stream.set_nodelay(true);
                shared.note_reached(target, address.ip());
                return Ok(stream);
            }
        }
        Err(failure)
    };
    tokio::select! {
        biased;
        () = permit.revoked() => Err(ConnectFailure::Refused(ConnectionRefusal::Released)),
        connected = tokio::time::timeout(shared.limits().connect_time, connecting) => {
            connected.unwrap_or(Err(ConnectFailure::NoAnswer))
        }
    }
}

/// Counts the transfers of a connection, in either direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity(Arc<AtomicU64>);

impl Activity {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until the connection was silent for at least `time`, and less than twice as long.
    pub async fn silence(&self, time: Duration) {
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            tokio::time::sleep(time).await;
            let now = self.0.load(Ordering::Relaxed);
            if now == seen {
                return;
            }
            seen = now;
        }
    }
}

/// A stream that counts its transfers.
pub(super) struct MonitoredStream<T> {
    inner: T,
    activity: Activity,
}

impl<T> MonitoredStream<T> {
    pub fn new(inner: T) -> (MonitoredStream<T>, Activity) {
        let activity = Activity::default();
        (MonitoredStream { inner, activity: activity.clone() }, activity)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for MonitoredStream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.count();
        }
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for MonitoredStream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(context, bytes);
        if polled.is_ready() {
            self.activity.count();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
