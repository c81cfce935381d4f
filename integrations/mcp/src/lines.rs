//! The transport over a pair of streams: each message is a line.

use std::io;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::wire::{self, MAX_BYTES, Nesting, Oversized};

/// The most messages that wait to be written.
const WAITING: usize = 4;

/// The longest time for the last messages to a client that closed its stream.
const LAST_MESSAGES: Duration = Duration::from_secs(5);

/// Cuts a stream into lines. A line that is too long or too deep is refused when it becomes so, and its rest is skipped.
#[derive(Default)]
struct Framer {
    line: Vec<u8>,
    nesting: Nesting,
    skips: bool,
}

impl Framer {
    /// Takes the next bytes up to the end of a line. Returns how many it took, and the line or its refusal, if there is one.
    fn take(&mut self, bytes: &[u8]) -> (usize, Option<Result<Vec<u8>, Oversized>>) {
        let part = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let ends = part.len() < bytes.len();
        let refused = self.append(part).err();
        if refused.is_some() {
            self.line = Vec::new();
            self.skips = true;
        }
        let mut framed = refused.map(Err);
        if ends {
            let Framer { line, skips, .. } = std::mem::take(self);
            if !skips {
                framed = Some(Ok(line));
            }
        }
        (part.len() + usize::from(ends), framed)
    }

    fn append(&mut self, part: &[u8]) -> Result<(), Oversized> {
        if self.skips {
            return Ok(());
        }
        if self.line.len() + part.len() > MAX_BYTES {
            return Err(Oversized::Long);
        }
        self.nesting.read(part)?;
        self.line.extend_from_slice(part);
        Ok(())
    }
}

/// The transport of one client on a pair of streams.
pub struct LineTransport<R> {
    input: BufReader<R>,
    framer: Framer,
    /// An error for the client that is not sent yet.
    refusal: Option<Box<TxJsonRpcMessage<RoleServer>>>,
    /// `None` once the transport is closed.
    output: Option<mpsc::Sender<TxJsonRpcMessage<RoleServer>>>,
    writer: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Unpin> LineTransport<R> {
    /// A transport, with a task that writes its messages.
    pub fn new<W: AsyncWrite + Send + Unpin + 'static>(input: R, output: W) -> LineTransport<R> {
        let (sender, messages) = mpsc::channel(WAITING);
        LineTransport {
            input: BufReader::new(input),
            framer: Framer::default(),
            refusal: None,
            output: Some(sender),
            writer: Some(tokio::spawn(write(messages, output))),
        }
    }
}

/// Writes messages until all senders are dropped or the client has gone.
async fn write(
    mut messages: mpsc::Receiver<TxJsonRpcMessage<RoleServer>>,
    mut output: impl AsyncWrite + Unpin,
) {
    while let Some(message) = messages.recv().await {
        let Ok(mut line) = serde_json::to_vec(&message) else { continue };
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the client has gone")
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let output = self.output.clone();
        async move { output.ok_or_else(gone)?.send(message).await.map_err(|_| gone()) }
    }

    /// rmcp drops this future and calls again whenever something else happens, so all that it has read is in `self`.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.refusal.is_some() {
                let place = self.output.as_ref()?.reserve().await.ok()?;
                if let Some(refusal) = self.refusal.take() {
                    place.send(*refusal);
                }
                continue;
            }
            let bytes = self.input.fill_buf().await.ok()?;
            if bytes.is_empty() {
                return None;
            }
            let (taken, framed) = self.framer.take(bytes);
            self.input.consume(taken);
            match framed.map(|line| line.map(|line| wire::parse(&line))) {
                None | Some(Ok(Ok(None))) => {}
                Some(Ok(Ok(Some(message)))) => return Some(message),
                Some(Ok(Err(answer))) => self.refusal = Some(answer),
                Some(Err(oversized)) => self.refusal = Some(oversized.answer()),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output = None;
        if let Some(mut writer) = self.writer.take()
            && tokio::time::timeout(LAST_MESSAGES, &mut writer).await.is_err()
        {
            // The client closed its stream and reads nothing.
            writer.abort();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// The lines and refusals that a framer returns for these bytes, if they arrive in parts of this length.
    fn frames(bytes: &[u8], length: usize) -> Vec<Result<usize, Oversized>> {
        let (mut framer, mut found) = (Framer::default(), Vec::new());
        for mut part in bytes.chunks(length) {
            while !part.is_empty() {
                let (taken, framed) = framer.take(part);
                found.extend(framed.map(|line| line.map(|line| line.len())));
                part = part.get(taken..).unwrap();
            }
        }
        found
    }

    #[test]
    fn lines_are_cut_anywhere() {
        for length in [1, 2, 3, 100] {
            assert_eq!(frames(b"ab\n\nc\nd", length), [Ok(2), Ok(0), Ok(1)], "{length}");
        }
    }

    #[test]
    fn a_line_is_refused_once_and_the_next_one_is_read() {
        let deep = [&[b'['; 5000][..], b"\n[]\n"].concat();
        let long = [&vec![b' '; MAX_BYTES + 1][..], b"\n[]\n"].concat();
        let fits = [&vec![b' '; MAX_BYTES][..], b"\n[]\n"].concat();
        for length in [1 << 10, 1 << 30] {
            assert_eq!(frames(&deep, length), [Err(Oversized::Deep), Ok(2)]);
            assert_eq!(frames(&long, length), [Err(Oversized::Long), Ok(2)]);
            assert_eq!(frames(&fits, length), [Ok(MAX_BYTES), Ok(2)]);
        }
    }

    #[test]
    fn a_line_is_refused_before_its_end_and_not_kept() {
        let mut framer = Framer::default();
        assert_eq!(framer.take(&[b'{'; 100]), (100, Some(Err(Oversized::Deep))));
        assert_eq!(framer.take(&[b' '; 1000]), (1000, None));
        assert_eq!(framer.line.capacity(), 0);
    }
}
