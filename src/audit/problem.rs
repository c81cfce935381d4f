//! The problems that a check of a log finds, and their positions.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A problem with a record, a segment or a head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not JSON of the right shape.
    #[error("not a record of the log")]
    NotARecord,
    /// The data is valid, and its spelling is not the canonical one.
    #[error("not written as the log writes it")]
    NotCanonical,
    /// The hash does not match the content.
    #[error("its content does not match its hash: it was changed")]
    Changed,
    /// The hash of the record before does not match.
    #[error("it does not follow the record before it: one was removed, added or moved")]
    Unlinked,
    /// The number is not the next one.
    #[error("its number is not {0}")]
    Number(u64),
    /// A release ends that was not begun in its session, or begins twice.
    #[error("it begins a release that is open, or ends one that is not")]
    OutOfStep,
    /// The record names another log.
    #[error("it belongs to another log")]
    OtherLog,
    /// The last line has no end.
    #[error("the last line is cut short: the machine stopped while it was written")]
    Torn,
    /// A segment before the last is empty.
    #[error("the segment is empty")]
    Empty,
    /// The first segment, or one between others, is missing.
    #[error("the segment is missing")]
    Missing,
    /// The signed head cannot be read.
    #[error("not a signed head of a log")]
    NotAHead,
    /// The signature was not made by the key.
    #[error("the signature is not of the given key, or the text was changed")]
    Signature,
    /// The head is that of another log.
    #[error("the head is that of another log")]
    HeadOfOther,
    /// The log has fewer records than its head covers.
    #[error("the log has {has} records and had {had} when its head was signed: the end was cut off")]
    Shorter {
        /// The number of records now.
        has: u64,
        /// The number of records when the head was signed.
        had: u64,
    },
    /// The last record under the head differs from the one that was signed.
    #[error("record {0} is another than when the head was signed: the log was written anew")]
    Differs(u64),
    /// The head in the log's folder is older than the one that is stored elsewhere.
    #[error("the head beside the log is older than the one that is known: it was put back")]
    Older,
    /// A head was signed, and its note is missing.
    #[error("the log says that its head was signed, and the note is missing")]
    NoNote,
}

/// The position of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPosition {
    /// The line in its segment, from 1.
    pub line: usize,
    /// The number that the record should have.
    pub record: u64,
}

/// The first problem of a log, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Broken {
    /// The file's name, such as `000002.jsonl` or `head.note`.
    pub file: String,
    /// The position in it, for a record.
    pub place: Option<RecordPosition>,
    /// The problem.
    pub problem: Problem,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Broken { file, place, problem } = self;
        match place {
            Some(RecordPosition { line, record }) => {
                write!(f, "{file}: record {record} (line {line}): {problem}")
            }
            None => write!(f, "{file}: {problem}"),
        }
    }
}

/// Why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A file cannot be read or written.
    #[error("{path} cannot be used: {error}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Another program writes to the log.
    #[error("the audit log {folder} is in use by another guard; end that one first")]
    InUse {
        /// The log.
        folder: PathBuf,
    },
    /// Others could write to the folder.
    #[error("the audit log {folder} is not a folder of yours alone; `chmod 700` it, or choose another")]
    NotPrivate {
        /// The folder.
        folder: PathBuf,
    },
    /// The log is damaged; nothing is added to it.
    #[error(
        "the audit log {folder} is damaged, and nothing is added to it: {broken}; look at it with `portcullis audit verify`, then move it away"
    )]
    Broken {
        /// The log.
        folder: PathBuf,
        /// The first problem.
        broken: Broken,
    },
}
