//! The trait of an audit log, and a log in memory.

use std::io;
use std::sync::{Arc, Mutex};

use super::chain::Chain;
use super::event::AuditEvent;
use super::head::{HeadSigner, SignedHead};
use super::record::SessionId;

/// An audit log. An error means that nothing may be released (I9).
pub trait AuditLog: Send {
    /// Appends one record; with `sync`, it and all before it are on disk when this returns.
    ///
    /// # Errors
    /// Those of the system, or `InvalidInput` for a release that ends without having begun, begins twice, or names no
    /// session. The record then counts as not written.
    fn append(&mut self, session: SessionId, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()>;

    /// Signs the head of the log and stores the note with the log. The caller stores the note as well, out of reach of
    /// other writers of the log: that copy reveals a truncated log.
    ///
    /// It returns none for a log without heads, and where the signer has no key at the moment.
    ///
    /// # Errors
    /// Those of the system.
    fn sign_head(&mut self, _signer: &dyn HeadSigner, _unix_ms: u64) -> io::Result<Option<SignedHead>> {
        Ok(None)
    }

    /// Checks the log against the newest head in its vault, and the signatures of that head and of the one with the log.
    /// Returns the generation of the vault's file in the newest head: a vault of an earlier generation is an old copy. A
    /// log without heads passes.
    ///
    /// # Errors
    /// The problem, as a text for the user.
    fn check(&self, _known: Option<&SignedHead>, _key: [u8; 32]) -> Result<Option<u64>, String> {
        Ok(None)
    }
}

impl<L: AuditLog + ?Sized> AuditLog for Box<L> {
    fn append(&mut self, session: SessionId, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()> {
        (**self).append(session, event, unix_ms, sync)
    }

    fn sign_head(&mut self, signer: &dyn HeadSigner, unix_ms: u64) -> io::Result<Option<SignedHead>> {
        (**self).sign_head(signer, unix_ms)
    }

    fn check(&self, known: Option<&SignedHead>, key: [u8; 32]) -> Result<Option<u64>, String> {
        (**self).check(known, key)
    }
}

/// Concurrent sessions share a log.
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

/// The error after a thread panicked while it wrote: the content of the log is unknown.
fn broken_lock() -> io::Error {
    io::Error::other("the audit log's lock is broken")
}

/// A log in memory, for runs without a file. Clones share the records.
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

/// The error of a record that does not fit those before it.
pub(super) fn out_of_step(problem: super::problem::Problem) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}
