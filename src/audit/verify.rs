//! Checking that a log is complete and unchanged.

use std::path::Path;

use super::chain::{Chain, UnfinishedRelease};
use super::head::{MAX_NOTE_BYTES, SignedHead};
use super::problem::{Broken, LogError, Problem, RecordPosition};
use super::record::{LogId, Record};
use super::segment::{self, HEAD, walk};
use crate::storage::{Disk, SystemDisk};

/// The content of a log that passed the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The log's id; a single file of an earlier version has none.
    pub log: Option<LogId>,
    /// The number of records.
    pub records: u64,
    /// The number of segments.
    pub segments: u32,
    /// The hash of the last record.
    pub head: [u8; 32],
    /// The signed head in the log's folder.
    pub signed: Option<SignedHead>,
    /// The releases without a recorded outcome: of running sessions, or of killed ones that opening the log has not closed
    /// yet.
    pub unfinished: Vec<UnfinishedRelease>,
}

/// Checks a log: a folder of segments, or a single file of an earlier version.
///
/// It reports the first problem. An edit, a gap, a swap or a copy of a record is found in any log. Missing records at the
/// end, or a log that was written anew, are found only with a signed head that is stored elsewhere: `known`. With `key`,
/// the signatures of that head and of the one in the log's folder are checked. The check changes nothing and takes no
/// lock: while a guard runs, the last line may be incomplete.
///
/// # Errors
/// [`LogError::Broken`] with the first problem, [`LogError::File`] where a file cannot be read.
pub fn verify(log: &Path, known: Option<&SignedHead>, key: Option<[u8; 32]>) -> Result<Report, LogError> {
    verify_on(&SystemDisk, log, known, key)
}

/// As [`verify`], on another disk.
///
/// # Errors
/// As [`verify`].
pub fn verify_on(
    disk: &dyn Disk,
    log: &Path,
    known: Option<&SignedHead>,
    key: Option<[u8; 32]>,
) -> Result<Report, LogError> {
    let segments = segment::segments(disk, log)?;
    let damaged = |broken| LogError::Broken { folder: log.to_owned(), broken };
    let in_folder = read_head(disk, log)?;
    let mut heads = Heads::new(in_folder.as_ref(), known);
    let walked = walk(disk, log, &segments, &mut |segment, record| heads.note(segment, record))?;
    if let Some((_, torn)) = walked.torn {
        return Err(damaged(torn));
    }
    heads.compare(&walked.chain, key).map_err(damaged)?;
    Ok(Report {
        log: walked.chain.log(),
        records: walked.chain.length(),
        segments: walked.segments,
        head: walked.chain.head(),
        unfinished: walked.chain.open().cloned().collect(),
        signed: in_folder,
    })
}

/// Checks the text of a log in one piece, such as that of a [`MemoryLog`](super::MemoryLog). Returns its records and the
/// end of the chain.
///
/// # Errors
/// The first problem, with its position.
pub fn verify_text(text: &str) -> Result<(Vec<Record>, Chain), (RecordPosition, Problem)> {
    let mut chain = Chain::default();
    let mut records = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let position = RecordPosition { line: index + 1, record: chain.length() };
        let line = line.strip_suffix('\n').ok_or((position, Problem::Torn))?;
        records.push(chain.follow(line).map_err(|problem| (position, problem))?);
    }
    Ok((records, chain))
}

/// The head in the log's folder, if there is one.
pub(super) fn read_head(disk: &dyn Disk, log: &Path) -> Result<Option<SignedHead>, LogError> {
    if log.is_file() {
        return Ok(None);
    }
    let path = log.join(HEAD);
    let bytes = match disk.read(&path, MAX_NOTE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Vec::new(),
        Err(error) => return Err(LogError::File { path, error }),
    };
    let text = String::from_utf8(bytes).map_err(|_| Problem::NotAHead);
    let head = text.and_then(|text| SignedHead::parse(&text)).map_err(|problem| LogError::Broken {
        folder: log.to_owned(),
        broken: Broken { file: HEAD.to_owned(), place: None, problem },
    })?;
    Ok(Some(head))
}

/// The heads that a log is compared with, and the log's records at their positions.
pub(super) struct Heads<'a> {
    in_folder: Option<&'a SignedHead>,
    all: Vec<ComparedHead<'a>>,
}

struct ComparedHead<'a> {
    file: &'static str,
    head: &'a SignedHead,
    /// The hash and the segment of the log's last record under the head, once it was read.
    found: Option<([u8; 32], u32)>,
}

impl<'a> Heads<'a> {
    pub(super) fn new(in_folder: Option<&'a SignedHead>, known: Option<&'a SignedHead>) -> Heads<'a> {
        let first = in_folder.map(|head| ComparedHead { file: HEAD, head, found: None });
        let known = known.map(|head| ComparedHead { file: "the known head", head, found: None });
        Heads { in_folder, all: first.into_iter().chain(known).collect() }
    }

    /// Notes a record of the log that is the last one under a head.
    pub(super) fn note(&mut self, segment: u32, record: &Record) {
        for compared in &mut self.all {
            if compared.head.records == record.number + 1 {
                compared.found = Some((record.hash, segment));
            }
        }
    }

    /// Compares the log with the heads.
    pub(super) fn compare(&self, chain: &Chain, key: Option<[u8; 32]>) -> Result<(), Broken> {
        let broken = |file: &str, problem| Broken { file: file.to_owned(), place: None, problem };
        for compared in &self.all {
            compared.compare(chain, key).map_err(|problem| broken(compared.file, problem))?;
        }
        let newest = self.all.iter().map(|compared| compared.head.records).max().unwrap_or(0);
        match self.in_folder {
            Some(head) if head.records < newest => Err(broken(HEAD, Problem::Older)),
            None if chain.was_signed() => Err(broken(HEAD, Problem::NoNote)),
            _ => Ok(()),
        }
    }
}

impl ComparedHead<'_> {
    fn compare(&self, chain: &Chain, key: Option<[u8; 32]>) -> Result<(), Problem> {
        let head = self.head;
        if key.is_some_and(|key| !head.is_signed_by(key)) {
            return Err(Problem::Signature);
        }
        if chain.log() != Some(head.log) {
            return Err(Problem::HeadOfOther);
        }
        match self.found {
            None => Err(Problem::Shorter { has: chain.length(), had: head.records }),
            Some(found) if found != (head.hash, head.segment) => {
                Err(Problem::Differs(head.records.saturating_sub(1)))
            }
            Some(_) => Ok(()),
        }
    }
}
