//! The socket: JSON objects out and in, each within a deadline.

use std::collections::VecDeque;
use std::future::Future;
use std::io::ErrorKind;
use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use super::stream::{ObjectSplitter, StreamFault};
use super::{KeePassXcError, socket};

/// The bytes of one read.
const CHUNK: usize = 16 << 10;

/// A connected socket. A caller drops it after any error: what comes later belongs to an abandoned request.
pub(super) struct Wire {
    stream: UnixStream,
    splitter: ObjectSplitter,
    objects: VecDeque<Vec<u8>>,
}

impl Wire {
    /// Connects to a socket of the user's own.
    pub(super) async fn connect(socket: &Path, deadline: Instant) -> Result<Wire, KeePassXcError> {
        let path = socket::check(socket)?;
        let stream = within(deadline, UnixStream::connect(&path)).await?;
        // The socket could have been replaced since the check; the peer of a connection cannot be.
        let peer = stream.peer_cred().map_err(|_| KeePassXcError::NotRunning)?;
        if peer.uid() != rustix::process::geteuid().as_raw() {
            return Err(KeePassXcError::UnsafeSocket { path, reason: "is served by another user" });
        }
        Ok(Wire { stream, splitter: ObjectSplitter::default(), objects: VecDeque::new() })
    }

    /// Sends one object in one piece, since KeePassXC takes each of its reads for a whole one.
    pub(super) async fn send(&mut self, object: &[u8], deadline: Instant) -> Result<(), KeePassXcError> {
        within(deadline, self.stream.write_all(object)).await
    }

    /// Receives the next object.
    pub(super) async fn receive(&mut self, deadline: Instant) -> Result<Vec<u8>, KeePassXcError> {
        loop {
            if let Some(object) = self.objects.pop_front() {
                return Ok(object);
            }
            let mut chunk = [0; CHUNK];
            let length = within(deadline, self.stream.read(&mut chunk)).await?;
            let read =
                chunk.get(..length).filter(|read| !read.is_empty()).ok_or(KeePassXcError::NotRunning)?;
            self.splitter.push(read, &mut self.objects).map_err(|fault| match fault {
                StreamFault::TooLong => KeePassXcError::TooLong,
                StreamFault::TooDeep => KeePassXcError::Protocol("a deeply nested answer"),
                StreamFault::NotAnObject => KeePassXcError::Protocol("an answer that is no JSON object"),
            })?;
        }
    }
}

async fn within<T>(
    deadline: Instant,
    work: impl Future<Output = std::io::Result<T>>,
) -> Result<T, KeePassXcError> {
    match timeout_at(deadline, work).await {
        Err(_) => Err(KeePassXcError::TimedOut),
        Ok(Err(error)) if error.kind() == ErrorKind::NotFound => Err(KeePassXcError::NoSocket),
        Ok(Err(_)) => Err(KeePassXcError::NotRunning),
        Ok(Ok(done)) => Ok(done),
    }
}
