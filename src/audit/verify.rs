//! Whether a log is whole.

use std::path::Path;

use super::chain::{Chain, Unfinished};
use super::head::{LONGEST_NOTE, SignedHead};
use super::problem::{Broken, LogError, Place, Problem};
use super::record::{LogId, Record};
use super::segment::{self, HEAD, walk};
use crate::storage::{Disk, SystemDisk};

/// What a whole log holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The log's id; a single file of an earlier version has none.
    pub log: Option<LogId>,
    /// How many records.
    pub records: u64,
    /// In how many segments.
    pub segments: u32,
    /// The hash of the last record.
    pub head: [u8; 32],
    /// The signed head that lies beside it.
    pub signed: Option<SignedHead>,
    /// Releases that were begun and whose end is not on record: of sessions that are under way, or that were
    /// killed and not yet closed by opening the log.
    pub unfinished: Vec<Unfinished>,
}

/// Checks a log: a folder of segments, or a single file of an earlier version.
///
/// Names the first thing that is wrong. An edit, a gap, a swap, a copy of a record is found in any log. That
/// records at the end are missing, or that the whole log was written anew, shows only against a signed head
/// that lies elsewhere: `known`. With `key`, the signatures of that head and of the one beside the log are
/// checked. Nothing is changed, and no lock is taken: beside a running guard, the last line may be half
/// written.
///
/// # Errors
/// [`LogError::Broken`] with the first finding, [`LogError::File`] where a file cannot be read.
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
    let beside = read_head(disk, log)?;
    let mut heads = Heads::new(beside.as_ref(), known);
    let walked = walk(disk, log, &segments, &mut |segment, record| heads.see(segment, record))?;
    if let Some((_, torn)) = walked.torn {
        return Err(damaged(torn));
    }
    heads.judge(&walked.chain, key).map_err(damaged)?;
    Ok(Report {
        log: walked.chain.log(),
        records: walked.chain.length(),
        segments: walked.segments,
        head: walked.chain.head(),
        unfinished: walked.chain.open().cloned().collect(),
        signed: beside,
    })
}

/// Checks the text of one log that lies in one piece, such as that of a
/// [`MemoryLog`](super::MemoryLog). Gives its records and the chain's end.
///
/// # Errors
/// The first bad record.
pub fn verify_text(text: &str) -> Result<(Vec<Record>, Chain), (Place, Problem)> {
    let mut chain = Chain::default();
    let mut records = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let place = Place { line: index + 1, record: chain.length() };
        let line = line.strip_suffix('\n').ok_or((place, Problem::Torn))?;
        records.push(chain.follow(line).map_err(|problem| (place, problem))?);
    }
    Ok((records, chain))
}

/// The head beside the segments, if there is one.
pub(super) fn read_head(disk: &dyn Disk, log: &Path) -> Result<Option<SignedHead>, LogError> {
    if log.is_file() {
        return Ok(None);
    }
    let path = log.join(HEAD);
    let bytes = match disk.read(&path, LONGEST_NOTE) {
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

/// The heads that a log is held against, and what its records say about them.
pub(super) struct Heads<'a> {
    beside: Option<&'a SignedHead>,
    all: Vec<Held<'a>>,
}

struct Held<'a> {
    file: &'static str,
    head: &'a SignedHead,
    /// The hash and the segment of the record under the head, once it was seen.
    found: Option<([u8; 32], u32)>,
}

impl<'a> Heads<'a> {
    pub(super) fn new(beside: Option<&'a SignedHead>, known: Option<&'a SignedHead>) -> Heads<'a> {
        let beside_first = beside.map(|head| Held { file: HEAD, head, found: None });
        let known = known.map(|head| Held { file: "the known head", head, found: None });
        Heads { beside, all: beside_first.into_iter().chain(known).collect() }
    }

    /// Notes what the log has where a head says something.
    pub(super) fn see(&mut self, segment: u32, record: &Record) {
        for held in &mut self.all {
            if held.head.records == record.number + 1 {
                held.found = Some((record.hash, segment));
            }
        }
    }

    /// Holds the log against the heads.
    pub(super) fn judge(&self, chain: &Chain, key: Option<[u8; 32]>) -> Result<(), Broken> {
        let broken = |file: &str, problem| Broken { file: file.to_owned(), place: None, problem };
        for held in &self.all {
            held.judge(chain, key).map_err(|problem| broken(held.file, problem))?;
        }
        let newest = self.all.iter().map(|held| held.head.records).max().unwrap_or(0);
        match self.beside {
            Some(beside) if beside.records < newest => Err(broken(HEAD, Problem::Older)),
            None if chain.was_signed() => Err(broken(HEAD, Problem::NoNote)),
            _ => Ok(()),
        }
    }
}

impl Held<'_> {
    fn judge(&self, chain: &Chain, key: Option<[u8; 32]>) -> Result<(), Problem> {
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
