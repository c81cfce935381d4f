//! Opening a log: its private folder, the writer's lock, and the state that a crash left.

use std::fs::{DirBuilder, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::chain::{Chain, UnfinishedRelease};
use super::head::SignedHead;
use super::problem::{Broken, LogError};
use super::segment::{HEAD, file_name, in_folder, walk};
use super::verify::{Heads, read_head};
use crate::storage::{Disk, ExclusiveFile, SystemDisk};

/// Makes the folder if it does not exist, and refuses one that others could write to or that is a link.
pub(super) fn private_folder(folder: &Path) -> Result<(), LogError> {
    let failed = |error| LogError::File { path: folder.to_owned(), error };
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => {
            let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
            SystemDisk.sync_folder(parent.unwrap_or(Path::new("."))).map_err(failed)?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    let about = std::fs::symlink_metadata(folder).map_err(failed)?;
    if !about.is_dir() || !is_private(&about) {
        return Err(LogError::NotPrivate { folder: folder.to_owned() });
    }
    Ok(())
}

#[cfg(unix)]
fn is_private(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.mode() & 0o077 == 0 && about.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_private(_: &std::fs::Metadata) -> bool {
    true
}

/// Locks the folder for writing.
pub(super) fn take(folder: &Path) -> Result<ExclusiveFile, LogError> {
    let path = folder.join("lock");
    let failed = |error| LogError::File { path: path.clone(), error };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    let file = options.open(&path).map_err(failed)?;
    ExclusiveFile::lock(file).map_err(|error| match error {
        TryLockError::WouldBlock => LogError::InUse { folder: folder.to_owned() },
        TryLockError::Error(error) => failed(error),
    })
}

/// The content of a log that is opened.
pub(super) struct Found {
    /// The chain up to the last complete line.
    pub chain: Chain,
    /// The last segment's number; 0 for a new log.
    pub segment: u32,
    /// The number of its records.
    pub records: u64,
    /// Its complete lines.
    pub whole: Vec<u8>,
    /// The length of the torn line after them.
    pub torn: u64,
    /// The releases that are open.
    pub unfinished: Vec<UnfinishedRelease>,
}

/// Reads a log to continue it. It changes nothing except that it removes drafts of files that a crash left.
///
/// A last line without an end is torn: it was not synced, since a record is synced with its line end. Records under a
/// signed head were synced, so a torn line there is no accident and is refused as damage.
pub(super) fn read(disk: &dyn Disk, folder: &Path, known: Option<&SignedHead>) -> Result<Found, LogError> {
    let failed = |error| LogError::File { path: folder.to_owned(), error };
    let damaged = |broken: Broken| LogError::Broken { folder: folder.to_owned(), broken };
    let segments = in_folder(disk, folder).map_err(failed)?;
    let in_folder = read_head(disk, folder)?;
    let mut heads = Heads::new(in_folder.as_ref(), known);
    let walked = walk(disk, folder, &segments, &mut |segment, record| heads.note(segment, record))?;
    heads.compare(&walked.chain, None).map_err(damaged)?;
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

/// Replaces a file or makes it: after a crash it is the old or the new one.
pub(super) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft(path);
    let written = disk
        .write_new(&draft, bytes)
        .and_then(|()| disk.sync(&draft))
        .and_then(|()| disk.rename(&draft, path));
    if let Err(error) = written {
        // A draft that stays would block the next one. If it cannot be removed now, opening the log removes it.
        let _ = disk.remove(&draft);
        return Err(error);
    }
    disk.sync_folder(path.parent().unwrap_or(Path::new(".")))
}
