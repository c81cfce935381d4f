//! A log in a folder of segments.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chain::{Chain, Unfinished};
use super::event::{AuditEvent, LogEvent};
use super::head::{HeadSigner, SignedHead};
use super::log::{AuditLog, out_of_step};
use super::problem::LogError;
use super::record::{LogId, SessionId};
use super::segment::{HEAD, file_name};
use super::verify::verify_on;
use super::{lock, recovery};
use crate::entropy::SystemEntropy;
use crate::storage::{Disk, SystemDisk};

/// How a log is opened.
#[derive(Debug, Clone)]
pub struct Opening {
    /// A segment with so many records is followed by a new one.
    pub segment_records: u64,
    /// A segment of so many bytes is followed by a new one.
    pub segment_bytes: u64,
    /// The id of the log, if it has to be made.
    pub log: LogId,
    /// The newest signed head that is known from elsewhere: a log that lacks what it covers is refused.
    pub known: Option<SignedHead>,
    /// The time, in milliseconds since 1970.
    pub unix_ms: u64,
}

impl Opening {
    /// Segments of 10,000 records or 4 MiB, a random id, no head, and the time of this machine's clock.
    pub fn now() -> Opening {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Opening {
            segment_records: 10_000,
            segment_bytes: 4 << 20,
            log: LogId::random(&mut SystemEntropy),
            known: None,
            unix_ms: since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

/// A log that was opened, and what was found.
pub struct Opened {
    /// The log, to append to.
    pub log: FolderLog,
    /// Releases that were begun and whose end is not on record: the guard was killed in between. They are now
    /// closed as unknown. Tell the user: each may have taken place.
    pub unfinished: Vec<Unfinished>,
    /// How many bytes of a torn last line were cut off: the end of a record that was not yet synced.
    pub cut: u64,
}

/// A log in a folder that is its owner's alone: segments `000001.jsonl` and so on, and the signed head
/// `head.note`. One writer at a time.
///
/// A record that was synced survives a power cut; one that was not may be missing after it, with all that
/// follow. After an error the log holds no half record: either that record is taken back, or nothing is
/// accepted from then on.
///
/// ```
/// use portcullis::audit::{AuditEvent, AuditLog, FolderLog, SessionId, verify};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("audit");
/// let mut opened = FolderLog::open(&path)?;
/// assert!(opened.unfinished.is_empty());
/// opened.log.append(SessionId::new([7; 8]), &AuditEvent::Ended, 1, true)?;
/// assert_eq!(verify(&path, None, None)?.records, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FolderLog {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    opening: Opening,
    chain: Chain,
    /// The number of the last segment; 0 before there is one.
    segment: u32,
    /// How many records and bytes it has.
    records: u64,
    bytes: u64,
    /// Whether all of it is on disk.
    synced: bool,
    /// A write failed so that what the disk holds is not known: nothing is accepted any more.
    broken: bool,
    _lock: Option<lock::Lock>,
}

impl FolderLog {
    /// Opens a log to append to it, or starts a new one. See [`FolderLog::open_with`].
    ///
    /// # Errors
    /// As [`FolderLog::open_with`].
    pub fn open(folder: &Path) -> Result<Opened, LogError> {
        FolderLog::open_with(folder, Opening::now())
    }

    /// Opens a log to append to it, or starts a new one.
    ///
    /// A torn last line is cut off, releases without an outcome are closed as unknown, and both are on disk,
    /// with a record of the opening, before this returns.
    ///
    /// # Errors
    /// [`LogError::InUse`], [`LogError::NotPrivate`], [`LogError::Broken`] for a log that is damaged or lacks
    /// what a signed head covers, [`LogError::File`]. A damaged log is left as it is.
    pub fn open_with(folder: &Path, opening: Opening) -> Result<Opened, LogError> {
        lock::private_folder(folder)?;
        let lock = lock::take(folder)?;
        let mut opened = FolderLog::open_on(Arc::new(SystemDisk), folder, opening)?;
        opened.log._lock = Some(lock);
        Ok(opened)
    }

    /// As [`FolderLog::open_with`], on another disk, without making the folder and without a lock: the caller
    /// sees to it that nobody else writes.
    ///
    /// # Errors
    /// As [`FolderLog::open_with`], but for the lock and the folder.
    pub fn open_on(disk: Arc<dyn Disk>, folder: &Path, opening: Opening) -> Result<Opened, LogError> {
        let found = recovery::read(disk.as_ref(), folder, opening.known.as_ref())?;
        let mut log = FolderLog {
            disk,
            folder: folder.to_owned(),
            chain: found.chain,
            segment: found.segment,
            records: found.records,
            bytes: found.whole.len() as u64,
            synced: false,
            broken: false,
            opening,
            _lock: None,
        };
        let failed = |error| LogError::File { path: folder.to_owned(), error };
        let (next, lines) = log.closing(&found.unfinished, found.torn).map_err(failed)?;
        let count = found.unfinished.len() as u64 + 1;
        if found.torn > 0 {
            // The cut and the record of it are one step: a cut alone would leave no trace.
            let path = log.path(log.segment);
            let mut bytes = found.whole;
            bytes.extend_from_slice(lines.as_bytes());
            recovery::replace(log.disk.as_ref(), &path, &bytes).map_err(failed)?;
            (log.records, log.bytes, log.synced) = (log.records + count, bytes.len() as u64, true);
        } else {
            log.write(&lines, count, true).map_err(failed)?;
            log.disk.sync_folder(folder).map_err(failed)?;
        }
        log.chain = next;
        Ok(Opened { log, unfinished: found.unfinished, cut: found.torn })
    }

    /// The log's id.
    pub fn id(&self) -> LogId {
        self.chain.log().unwrap_or(self.opening.log)
    }

    /// The chain up to the last record.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    fn path(&self, segment: u32) -> PathBuf {
        self.folder.join(file_name(segment))
    }

    /// The records that an opening adds, and the chain behind them.
    fn closing(&self, unfinished: &[Unfinished], cut: u64) -> io::Result<(Chain, String)> {
        let (mut next, mut lines) = (self.chain.clone(), String::new());
        let opened = LogEvent::Opened { log: self.id(), cut };
        let closed = unfinished.iter().map(|open| {
            let event = LogEvent::UnknownOutcome { request: open.request, intent: open.record };
            (open.session, event)
        });
        for (session, event) in std::iter::once((SessionId::LOG, opened)).chain(closed) {
            let line = next.link(session, event.to_json(), self.opening.unix_ms).map_err(out_of_step)?;
            lines.push_str(&line);
            lines.push('\n');
        }
        Ok((next, lines))
    }

    fn add(
        &mut self,
        session: SessionId,
        body: serde_json::Value,
        unix_ms: u64,
        sync: bool,
    ) -> io::Result<()> {
        let mut next = self.chain.clone();
        let mut line = next.link(session, body, unix_ms).map_err(out_of_step)?;
        line.push('\n');
        self.write(&line, 1, sync)?;
        self.chain = next;
        Ok(())
    }

    /// Writes whole lines. After an error, none of them is in the log, or the log is broken.
    fn write(&mut self, lines: &str, count: u64, sync: bool) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("the audit log could not be written before; open it again"));
        }
        let full = self.records >= self.opening.segment_records || self.bytes >= self.opening.segment_bytes;
        if self.segment == 0 || (full && self.records > 0) {
            self.sync()?;
            self.begin_segment(lines.as_bytes())?;
            (self.records, self.bytes) = (0, 0);
        } else {
            let path = self.path(self.segment);
            if let Err(error) = self.disk.append(&path, lines.as_bytes()) {
                self.broken = self.disk.truncate(&path, self.bytes).is_err();
                return Err(error);
            }
        }
        self.synced = false;
        self.records += count;
        self.bytes += lines.len() as u64;
        if sync { self.sync() } else { Ok(()) }
    }

    /// The next segment, with its first records. The one before is on disk by now: else a power cut could
    /// leave a gap.
    fn begin_segment(&mut self, lines: &[u8]) -> io::Result<()> {
        let path = self.path(self.segment + 1);
        if let Err(error) = self.disk.write_new(&path, lines) {
            self.broken = match self.disk.remove(&path) {
                Ok(()) => false,
                Err(missing) => missing.kind() != io::ErrorKind::NotFound,
            };
            return Err(error);
        }
        self.segment += 1;
        self.disk.sync_folder(&self.folder).inspect_err(|_| self.broken = true)
    }

    /// Puts all that was written on disk. When that fails, what is on disk is not known, and trying again
    /// would not tell.
    fn sync(&mut self) -> io::Result<()> {
        if !self.synced && self.segment > 0 {
            self.disk.sync(&self.path(self.segment)).inspect_err(|_| self.broken = true)?;
            self.synced = true;
        }
        Ok(())
    }
}

impl AuditLog for FolderLog {
    fn append(&mut self, session: SessionId, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()> {
        self.add(session, event.to_json(), unix_ms, sync)
    }

    fn check(&self, known: Option<&SignedHead>, key: [u8; 32]) -> Result<Option<u64>, String> {
        let report = verify_on(self.disk.as_ref(), &self.folder, known, Some(key));
        let report = report.map_err(|error| error.to_string())?;
        Ok(report.signed.and_then(|head| head.generation))
    }

    /// The head is in `head.note` when this returns, and a record says that it was signed. Only what is on
    /// disk is signed: after a power cut the log holds at least what any of its heads covers.
    fn sign_head(&mut self, signer: &dyn HeadSigner, unix_ms: u64) -> io::Result<Option<SignedHead>> {
        if self.broken {
            return Err(io::Error::other("the audit log could not be written before; open it again"));
        }
        self.sync()?;
        let Some(head) = SignedHead::sign(&self.chain, self.segment, unix_ms, signer) else {
            return Ok(None);
        };
        recovery::replace(self.disk.as_ref(), &self.folder.join(HEAD), head.to_text().as_bytes())?;
        let event = LogEvent::HeadSigned { records: head.records, key: head.key_hash() };
        self.add(SessionId::LOG, event.to_json(), unix_ms, true)?;
        Ok(Some(head))
    }
}
