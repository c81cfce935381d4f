//! Where records go: the trait, and a log in memory.

use std::io;
use std::sync::{Arc, Mutex};

use super::chain::Chain;
use super::event::AuditEvent;
use super::head::{HeadSigner, SignedHead};
use super::record::SessionId;

/// Where records go. An error means that nothing may be released (I9).
pub trait AuditLog: Send {
    /// Appends one record; with `sync`, it and all before it are on disk when this returns.
    ///
    /// # Errors
    /// The system's, or `InvalidInput` for a release that ends without having begun, is begun twice, or is of
    /// no session. The record then counts as not written.
    fn append(&mut self, session: SessionId, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()>;

    /// Signs the head of the log and keeps the note beside it. The caller keeps the note as well, where
    /// whoever can write to the log cannot: that copy is what shows a log that was cut.
    ///
    /// Gives none for a log that has no heads, and where the signer has no key at the moment.
    ///
    /// # Errors
    /// The system's.
    fn sign_head(&mut self, _signer: &dyn HeadSigner, _unix_ms: u64) -> io::Result<Option<SignedHead>> {
        Ok(None)
    }

    /// Checks the log against the newest head that its vault kept, and the signatures of both that head and
    /// the one beside the log. Gives the generation of the vault's file that the newest head knew: a vault of
    /// an earlier one was put back from a copy. A log that has no heads has nothing to check.
    ///
    /// # Errors
    /// What is wrong, in words for the user.
    fn check(&self, _known: Option<&SignedHead>, _key: [u8; 32]) -> Result<Option<u64>, String> {
        Ok(None)
    }
}

/// Sessions side by side share a log.
impl<L: AuditLog> AuditLog for Arc<Mutex<L>> {
    fn append(&mut self, session: SessionId, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()> {
        let mut log = self.lock().map_err(|_| broken_lock())?;
        log.append(session, event, unix_ms, sync)
    }

    fn sign_head(&mut self, signer: &dyn HeadSigner, unix_ms: u64) -> io::Result<Option<SignedHead>> {
        self.lock().map_err(|_| broken_lock())?.sign_head(signer, unix_ms)
    }

    fn check(&self, known: Option<&SignedHead>, key: [u8; 32]) -> Result<Option<u64>, String> {
        self.lock().map_err(|_| broken_lock().to_string())?.check(known, key)
    }
}

/// A thread ended while it wrote: what the log holds is not known.
fn broken_lock() -> io::Error {
    io::Error::other("the audit log's lock is broken")
}

/// A log in memory, for runs that keep no file. Clones share the same records.
///
/// ```
/// use portcullis::audit::{AuditEvent, AuditLog, MemoryLog, SessionId, verify_text};
///
/// let mut log = MemoryLog::default();
/// log.append(SessionId::new([7; 8]), &AuditEvent::Ended, 1, false)?;
/// assert_eq!(verify_text(&log.text()).unwrap().0.len(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryLog {
    inner: Arc<Mutex<(Chain, String)>>,
}

impl MemoryLog {
    /// The whole log as text.
    pub fn text(&self) -> String {
        self.inner.lock().map(|inner| inner.1.clone()).unwrap_or_default()
    }
}

impl AuditLog for MemoryLog {
    fn append(
        &mut self,
        session: SessionId,
        event: &AuditEvent,
        unix_ms: u64,
        _sync: bool,
    ) -> io::Result<()> {
        let mut inner = self.inner.lock().map_err(|_| broken_lock())?;
        let (chain, text) = &mut *inner;
        let line = chain.link(session, event.to_json(), unix_ms).map_err(out_of_step)?;
        text.push_str(&line);
        text.push('\n');
        Ok(())
    }
}

/// The error of a record that would not fit those before it.
pub(super) fn out_of_step(problem: super::problem::Problem) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}
