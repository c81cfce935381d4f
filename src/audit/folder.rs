//! A log in a folder of segments.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chain::{Chain, UnfinishedRelease};
use super::event::{AuditEvent, LogEvent};
use super::head::{HeadSigner, SignedHead};
use super::log::{AuditLog, out_of_step};
use super::opening;
use super::problem::LogError;
use super::record::{LogId, SessionId};
use super::segment::{HEAD, file_name};
use super::verify::verify_on;
use crate::storage::{Disk, ExclusiveFile, SystemDisk};
use crate::system::SystemEntropy;

/// The options for opening a log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The number of records after which a new segment begins.
    pub segment_records: u64,
    /// The number of bytes after which a new segment begins.
    pub segment_bytes: u64,
    /// The id of the log, if it has to be made.
    pub log: LogId,
    /// The newest signed head that is stored elsewhere. A log that lacks records under it is refused.
    pub known: Option<SignedHead>,
    /// The time, in milliseconds since 1970.
    pub unix_ms: u64,
}

impl LogOptions {
    /// Segments of 10,000 records or 4 MiB, a random id, no head, and the time of this machine's clock.
    pub fn now() -> LogOptions {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        LogOptions {
            segment_records: 10_000,
            segment_bytes: 4 << 20,
            log: LogId::random(&mut SystemEntropy),
            known: None,
            unix_ms: since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

/// An opened log, and the state in which it was found.
pub struct OpenedLog {
    /// The log, to append to.
    pub log: FolderLog,
    /// The releases without a recorded outcome: the guard was killed in between. They are now closed as unknown. Inform
    /// the user, since each may have taken place.
    pub unfinished: Vec<UnfinishedRelease>,
    /// The number of bytes of a torn last line that were cut off: the end of a record that was not yet synced.
    pub cut: u64,
}

/// A log in a private folder: segments `000001.jsonl` and so on, and the signed head `head.note`. It has one writer at a
/// time.
///
/// A synced record survives a power cut; an unsynced one may be missing afterwards, with all that follow it. After an
/// error the log holds no incomplete record: either the record is removed again, or the log accepts no more.
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
    options: LogOptions,
    chain: Chain,
    /// The number of the last segment; 0 before there is one.
    segment: u32,
    /// The number of its records.
    records: u64,
    /// The number of its bytes.
    bytes: u64,
    /// Whether all of it is on disk.
    synced: bool,
    /// A write failed and left the content of the disk unknown: the log accepts no more.
    broken: bool,
    _lock: Option<ExclusiveFile>,
}

impl FolderLog {
    /// Opens a log to append to it, or starts a new one. See [`FolderLog::open_with`].
    ///
    /// # Errors
    /// As [`FolderLog::open_with`].
    pub fn open(folder: &Path) -> Result<OpenedLog, LogError> {
        FolderLog::open_with(folder, LogOptions::now())
    }

    /// Opens a log to append to it, or starts a new one.
    ///
    /// A torn last line is cut off, releases without an outcome are closed as unknown, and both are on disk,
    /// with a record of the opening, before this returns.
    ///
    /// # Errors
    /// [`LogError::InUse`], [`LogError::NotPrivate`], [`LogError::Broken`] for a log that is damaged or lacks records
    /// under a signed head, [`LogError::File`]. A damaged log is not changed.
    pub fn open_with(folder: &Path, options: LogOptions) -> Result<OpenedLog, LogError> {
        opening::private_folder(folder)?;
        let lock = opening::take(folder)?;
        let mut opened = FolderLog::open_on(Arc::new(SystemDisk), folder, options)?;
        opened.log._lock = Some(lock);
        Ok(opened)
    }

    /// As [`FolderLog::open_with`], on another disk, without making the folder and without a lock: the caller makes sure
    /// that there is no other writer.
    ///
    /// # Errors
    /// As [`FolderLog::open_with`], except for those of the lock and the folder.
    pub fn open_on(disk: Arc<dyn Disk>, folder: &Path, options: LogOptions) -> Result<OpenedLog, LogError> {
        let found = opening::read(disk.as_ref(), folder, options.known.as_ref())?;
        let mut log = FolderLog {
            disk,
            folder: folder.to_owned(),
            chain: found.chain,
            segment: found.segment,
            records: found.records,
            bytes: found.whole.len() as u64,
            synced: false,
            broken: false,
            options,
            _lock: None,
        };
        let failed = |error| LogError::File { path: folder.to_owned(), error };
        let (next, lines) = log.closing(&found.unfinished, found.torn).map_err(failed)?;
        let count = found.unfinished.len() as u64 + 1;
        if found.torn > 0 {
            // The cut and its record are written in one step: a cut alone would leave no trace.
            let path = log.path(log.segment);
            let mut bytes = found.whole;
            bytes.extend_from_slice(lines.as_bytes());
            opening::replace(log.disk.as_ref(), &path, &bytes).map_err(failed)?;
            (log.records, log.bytes, log.synced) = (log.records + count, bytes.len() as u64, true);
        } else {
            log.write(&lines, count, true).map_err(failed)?;
            log.disk.sync_folder(folder).map_err(failed)?;
        }
        log.chain = next;
        Ok(OpenedLog { log, unfinished: found.unfinished, cut: found.torn })
    }

    /// The log's id.
    pub fn id(&self) -> LogId {
        self.chain.log().unwrap_or(self.options.log)
    }

    /// The chain up to the last record.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    fn path(&self, segment: u32) -> PathBuf {
        self.folder.join(file_name(segment))
    }

    /// The records that opening the log adds, and the chain after them.
    fn closing(&self, unfinished: &[UnfinishedRelease], cut: u64) -> io::Result<(Chain, String)> {
        let (mut next, mut lines) = (self.chain.clone(), String::new());
        let opened = LogEvent::Opened { log: self.id(), cut };
        let closed = unfinished.iter().map(|open| {
            let event = LogEvent::UnknownOutcome { request: open.request, intent: open.record };
            (open.session, event)
        });
        for (session, event) in std::iter::once((SessionId::LOG, opened)).chain(closed) {
            let line = next.link(session, event.to_json(), self.options.unix_ms).map_err(out_of_step)?;
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

    /// Writes complete lines. After an error, none of them is in the log, or the log is broken.
    fn write(&mut self, lines: &str, count: u64, sync: bool) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("the audit log could not be written before; open it again"));
        }
        let full = self.records >= self.options.segment_records || self.bytes >= self.options.segment_bytes;
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

    /// Begins the next segment with its first records. The caller has synced the one before: otherwise a power cut could
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

    /// Syncs all that was written. After a failure the content of the disk is unknown, and a second sync would not
    /// reveal it.
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

    /// When this returns, the head is in `head.note` and its signing is recorded. Only synced records are signed: after a
    /// power cut the log holds at least the records under each of its heads.
    fn sign_head(&mut self, signer: &dyn HeadSigner, unix_ms: u64) -> io::Result<Option<SignedHead>> {
        if self.broken {
            return Err(io::Error::other("the audit log could not be written before; open it again"));
        }
        self.sync()?;
        let Some(head) = SignedHead::sign(&self.chain, self.segment, unix_ms, signer) else {
            return Ok(None);
        };
        opening::replace(self.disk.as_ref(), &self.folder.join(HEAD), head.to_text().as_bytes())?;
        let event = LogEvent::HeadSigned { records: head.records, key: head.key_hash() };
        self.add(SessionId::LOG, event.to_json(), unix_ms, true)?;
        Ok(Some(head))
    }
}
