//! What a log holds when it is opened to go on.

use std::io;
use std::path::{Path, PathBuf};

use super::chain::{Chain, Unfinished};
use super::head::SignedHead;
use super::problem::{Broken, LogError};
use super::segment::{HEAD, file_name, in_folder, walk};
use super::verify::{Heads, read_head};
use crate::storage::Disk;

/// What was found.
pub(super) struct Found {
    /// The chain up to the last whole line.
    pub chain: Chain,
    /// The last segment's number; 0 for a log that is new.
    pub segment: u32,
    /// Its records.
    pub records: u64,
    /// Its whole lines.
    pub whole: Vec<u8>,
    /// How long the torn line behind them is.
    pub torn: u64,
    /// The releases that are open.
    pub unfinished: Vec<Unfinished>,
}

/// Reads a log to go on with it. Changes nothing, but for drafts of files that a crash left.
///
/// A last line without an end is torn: it was not synced, since a record is synced with its line end. What a
/// signed head covers was synced, so that a torn line there is no accident, and refused like all else that
/// is wrong.
pub(super) fn read(disk: &dyn Disk, folder: &Path, known: Option<&SignedHead>) -> Result<Found, LogError> {
    let failed = |error| LogError::File { path: folder.to_owned(), error };
    let damaged = |broken: Broken| LogError::Broken { folder: folder.to_owned(), broken };
    let segments = in_folder(disk, folder).map_err(failed)?;
    let beside = read_head(disk, folder)?;
    let mut heads = Heads::new(beside.as_ref(), known);
    let walked = walk(disk, folder, &segments, &mut |segment, record| heads.see(segment, record))?;
    heads.judge(&walked.chain, None).map_err(damaged)?;
    remove_drafts(disk, folder, walked.segments).map_err(failed)?;
    Ok(Found {
        unfinished: walked.chain.open().cloned().collect(),
        chain: walked.chain,
        segment: walked.segments,
        records: walked.records,
        whole: walked.whole,
        torn: walked.torn.map_or(0, |(bytes, _)| bytes),
    })
}

fn draft(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

fn remove_drafts(disk: &dyn Disk, folder: &Path, segment: u32) -> io::Result<()> {
    let drafts = [draft(&folder.join(HEAD)), draft(&folder.join(file_name(segment)))];
    for path in disk.list(folder)?.into_iter().filter(|path| drafts.contains(path)) {
        disk.remove(&path)?;
    }
    Ok(())
}

/// Puts a file in the place of another, or of none: after a crash it is the old or the new one.
pub(super) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft(path);
    let written = disk
        .write_new(&draft, bytes)
        .and_then(|()| disk.sync(&draft))
        .and_then(|()| disk.rename(&draft, path));
    if let Err(error) = written {
        // Left behind it would be in the way of the next one; a draft that cannot be removed is removed when
        // the log is opened.
        let _ = disk.remove(&draft);
        return Err(error);
    }
    disk.sync_folder(path.parent().unwrap_or(Path::new(".")))
}
