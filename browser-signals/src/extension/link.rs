//! The connection to one extension, over a socket: requests and answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use super::error::ExtensionError;
use super::framing::{self, FramingError};
use super::wire::{Failed, Numbered, Request};

/// The longest time that the extension may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The most requests of an extension that wait for an answer.
const MOST_ASKED: usize = 16;

/// The calls that wait for answers.
#[derive(Default)]
struct Waiting {
    closed: AtomicBool,
    by_id: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
}

impl Waiting {
    fn by_id(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One extension. Dropping it closes the connection.
pub struct ExtensionLink {
    writer: tokio::sync::Mutex<OwnedWriteHalf>,
    waiting: Arc<Waiting>,
    asked: AtomicU64,
    pub(super) observed: Arc<AtomicU64>,
    reading: tokio::task::JoinHandle<()>,
}

impl Drop for ExtensionLink {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl ExtensionLink {
    /// The extension at the other end of a socket, and the requests that it makes itself. `observed` numbers observations;
    /// all links of one guard share it, so that the numbers rise over all of them.
    pub fn over(stream: UnixStream, observed: Arc<AtomicU64>) -> (ExtensionLink, mpsc::Receiver<Value>) {
        let (reader, writer) = stream.into_split();
        let waiting = Arc::new(Waiting::default());
        let (sender, asks) = mpsc::channel(MOST_ASKED);
        let reading = tokio::spawn(read_all(reader, Arc::clone(&waiting), sender));
        let writer = tokio::sync::Mutex::new(writer);
        (ExtensionLink { writer, waiting, asked: AtomicU64::new(0), observed, reading }, asks)
    }

    /// Whether the other end is gone.
    pub fn is_closed(&self) -> bool {
        self.waiting.closed.load(Ordering::Acquire)
    }

    /// Sends a message that expects no answer, such as an answer itself.
    ///
    /// # Errors
    /// [`ExtensionError::Gone`].
    pub async fn say(&self, message: &Value) -> Result<(), ExtensionError> {
        self.send(message.to_string().as_bytes()).await
    }

    pub(super) async fn ask(&self, request: &Request<'_>) -> Result<Value, ExtensionError> {
        let (id, answer) = self.expect()?;
        let message = serde_json::to_vec(&Numbered { id, request }).map_err(|_| ExtensionError::Malformed)?;
        self.send(&message).await?;
        outcome(self.within(id, answer).await?)
    }

    /// A number for a request, and the receiver of its answer.
    pub(super) fn expect(&self) -> Result<(u64, oneshot::Receiver<Value>), ExtensionError> {
        let id = self.asked.fetch_add(1, Ordering::AcqRel);
        let (sender, answer) = oneshot::channel();
        self.waiting.by_id().insert(id, sender);
        if self.is_closed() { Err(ExtensionError::Gone) } else { Ok((id, answer)) }
    }

    pub(super) async fn within(
        &self,
        id: u64,
        answer: oneshot::Receiver<Value>,
    ) -> Result<Value, ExtensionError> {
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(answer) => answer.map_err(|_| ExtensionError::Gone),
            Err(_) => {
                self.waiting.by_id().remove(&id);
                Err(ExtensionError::Slow)
            }
        }
    }

    pub(super) async fn send(&self, message: &[u8]) -> Result<(), ExtensionError> {
        let mut writer = self.writer.lock().await;
        framing::write(&mut *writer, message).await.map_err(|error| match error {
            FramingError::TooLong(_) => ExtensionError::Malformed,
            FramingError::Io(_) => ExtensionError::Gone,
        })
    }
}

/// The answer in an extension's message, or its failure.
pub(super) fn outcome(mut answer: Value) -> Result<Value, ExtensionError> {
    let Some(failed) = answer.get("failed") else {
        return answer.get_mut("answer").map(Value::take).ok_or(ExtensionError::Malformed);
    };
    Err(match Failed::deserialize(failed) {
        Ok(Failed::NotOfTask) => ExtensionError::NotOfTask,
        Ok(Failed::Stale) => ExtensionError::Stale,
        Ok(Failed::TooLong | Failed::Unknown) | Err(_) => ExtensionError::Malformed,
    })
}

/// Passes answers to the calls that wait for them and requests to `asks`, until the stream ends.
async fn read_all(mut reader: OwnedReadHalf, waiting: Arc<Waiting>, asks: mpsc::Sender<Value>) {
    while let Ok(Some(message)) = framing::read(&mut reader).await {
        let Ok(message) = serde_json::from_slice::<Value>(&message) else { break };
        if message.get("ask").is_some() {
            // Requests beyond the limit are dropped.
            let _full = asks.try_send(message);
            continue;
        }
        let Some(id) = message.get("id").and_then(Value::as_u64) else { break };
        let waits = waiting.by_id().remove(&id);
        if let Some(waits) = waits {
            let _gone = waits.send(message);
        }
    }
    waiting.closed.store(true, Ordering::Release);
    waiting.by_id().clear();
}
