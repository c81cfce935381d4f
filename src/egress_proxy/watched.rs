//! A connection whose silence can be measured.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How many times bytes went through a connection, in either direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Movement(Arc<AtomicU64>);

impl Movement {
    fn moved(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until nothing has moved for at least `time`, and less than twice as long.
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

/// Passes everything on, and notes that it did.
pub(super) struct Watched<T> {
    inner: T,
    movement: Movement,
}

impl<T> Watched<T> {
    pub fn new(inner: T) -> (Watched<T>, Movement) {
        let movement = Movement::default();
        (Watched { inner, movement: movement.clone() }, movement)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.movement.moved();
        }
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(context, bytes);
        if polled.is_ready() {
            self.movement.moved();
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
