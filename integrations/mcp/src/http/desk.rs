//! The guard, which serves the session of one client at a time.
//!
//! A guard has one vault, one record and one memory of what agents read and guessed. Sessions that run one after the other
//! share all of it, so that a client gains nothing by a further session; sessions at the same time would each have their own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::asking::CurrentClient;
use super::tokens::ClientLabel;
use crate::worker::Lasting;

/// The longest time that a client waits for the end of another one's session.
const TURN: Duration = Duration::from_secs(10);

/// Why a client is not served now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeskError {
    /// Another client is served.
    #[error("the guard serves one client at a time, and `{0}` uses it; end the session of that client first")]
    InUse(ClientLabel),
    /// The session that has just ended is still being closed.
    #[error("the guard is still closing the last session; try again")]
    Closing,
    /// The guard was lost in a failure.
    #[error("the guard has stopped; start it again")]
    Stopped,
}

/// The guard's place.
#[derive(Clone)]
pub struct Desk {
    guard: Arc<Mutex<Option<Lasting>>>,
    client: CurrentClient,
}

/// A client's turn at the guard, until it is dropped.
pub struct Turn {
    guard: OwnedMutexGuard<Option<Lasting>>,
    client: CurrentClient,
}

impl Desk {
    pub fn new(lasting: Lasting, client: CurrentClient) -> Desk {
        Desk { guard: Arc::new(Mutex::new(Some(lasting))), client }
    }

    /// Waits a short time for the guard, and takes it.
    ///
    /// # Errors
    /// [`DeskError`].
    pub async fn turn_of(&self, label: &ClientLabel) -> Result<(Turn, Lasting), DeskError> {
        let waited = tokio::time::timeout(TURN, self.guard.clone().lock_owned()).await;
        let mut guard = waited.map_err(|_| match self.client.label() {
            Some(label) => DeskError::InUse(label),
            None => DeskError::Closing,
        })?;
        let lasting = guard.take().ok_or(DeskError::Stopped)?;
        self.client.set(Some(label.clone()));
        Ok((Turn { guard, client: self.client.clone() }, lasting))
    }

    /// Waits until no session is open.
    pub async fn is_free(&self) {
        drop(self.guard.lock().await);
    }
}

impl Turn {
    /// Gives the guard back for the next client.
    pub fn ends(mut self, lasting: Lasting) {
        *self.guard = Some(lasting);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.client.set(None);
    }
}
