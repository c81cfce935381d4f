//! The files of a log: their names, and following the chain through all of them.

use std::io;
use std::path::{Path, PathBuf};

use super::chain::Chain;
use super::problem::{Broken, LogError, Problem, RecordPosition};
use super::record::Record;
use crate::storage::Disk;

/// The signed head's file.
pub(super) const HEAD: &str = "head.note";

/// The most bytes of a file that is read as a segment. The log itself makes far smaller ones.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// The name of a segment's file.
pub(super) fn file_name(number: u32) -> String {
    format!("{number:06}.jsonl")
}

/// One file of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its number, from 1.
    pub number: u32,
    /// Its path.
    pub path: PathBuf,
}

impl Segment {
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its content.
    ///
    /// # Errors
    /// [`LogError::File`].
    pub fn read(&self, disk: &dyn Disk) -> Result<Vec<u8>, LogError> {
        disk.read(&self.path, MAX_BYTES).map_err(|error| LogError::File { path: self.path.clone(), error })
    }
}

/// The segments of a log, in order: those of a folder, or a single file. Files with other names do not belong to the log.
///
/// # Errors
/// [`LogError::File`] where the file or folder does not exist, or the folder has no segment.
pub fn segments(disk: &dyn Disk, log: &Path) -> Result<Vec<Segment>, LogError> {
    let failed = |error| LogError::File { path: log.to_owned(), error };
    if log.is_file() {
        return Ok(vec![Segment { number: 1, path: log.to_owned() }]);
    }
    let found = in_folder(disk, log).map_err(failed)?;
    if found.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "no audit log")));
    }
    Ok(found)
}

/// The segments in a folder, in order.
pub(super) fn in_folder(disk: &dyn Disk, folder: &Path) -> io::Result<Vec<Segment>> {
    let mut found = Vec::new();
    for path in disk.list(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let digits = name.strip_suffix(".jsonl").unwrap_or_default();
        let Ok(number) = digits.parse::<u32>() else { continue };
        if number > 0 && file_name(number) == name {
            found.push(Segment { number, path });
        }
    }
    found.sort_by_key(|segment| segment.number);
    Ok(found)
}

/// The result of reading all segments.
pub(super) struct Walked {
    /// The end of the chain.
    pub chain: Chain,
    /// The number of segments.
    pub segments: u32,
    /// The number of records in the last segment.
    pub records: u64,
    /// The complete lines of the last segment.
    pub whole: Vec<u8>,
    /// A last line without an end: its length, and its position.
    pub torn: Option<(u64, Broken)>,
}

/// Follows the chain through all segments; `visit` gets each record with its segment's number.
pub(super) fn walk(
    disk: &dyn Disk,
    log: &Path,
    segments: &[Segment],
    visit: &mut dyn FnMut(u32, &Record),
) -> Result<Walked, LogError> {
    let damaged = |broken| LogError::Broken { folder: log.to_owned(), broken };
    let mut walked =
        Walked { chain: Chain::default(), segments: 0, records: 0, whole: Vec::new(), torn: None };
    for (index, segment) in segments.iter().enumerate() {
        let last = index + 1 == segments.len();
        walked.segments += 1;
        if segment.number != walked.segments {
            let file = file_name(walked.segments);
            return Err(damaged(Broken { file, place: None, problem: Problem::Missing }));
        }
        let mut bytes = segment.read(disk)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let broken = |line, record, problem| Broken {
            file: segment.name(),
            place: Some(RecordPosition { line, record }),
            problem,
        };
        let mut lines = 0;
        for line in bytes.get(..whole).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            lines += 1;
            let text = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
            let number = walked.chain.length();
            let record = text.ok_or(Problem::NotARecord).and_then(|text| walked.chain.follow(text));
            let record = record.map_err(|problem| damaged(broken(lines, number, problem)))?;
            visit(segment.number, &record);
        }
        if whole < bytes.len() {
            let torn = broken(lines + 1, walked.chain.length(), Problem::Torn);
            if !last {
                return Err(damaged(torn));
            }
            walked.torn = Some(((bytes.len() - whole) as u64, torn));
        }
        if lines == 0 && !last {
            return Err(damaged(Broken { file: segment.name(), place: None, problem: Problem::Empty }));
        }
        bytes.truncate(whole);
        (walked.records, walked.whole) = (lines as u64, bytes);
    }
    Ok(walked)
}
