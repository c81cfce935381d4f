//! A file that is replaced as a whole, with two backups.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Disk;

/// The number of backups.
pub const BACKUPS: u8 = 2;

/// A file that has a complete content at every moment once it was made: the one before a save or the one after it. The
/// two contents before that are stored as `NAME.backup-1` (the newer) and `NAME.backup-2`.
///
/// One program at a time may use it ([`Lock`](super::Lock)), and calls [`AtomicFile::recover`] first. `spec/storage.md`
/// lists the order of the calls and the state that a crash after each one leaves.
///
/// ```
/// use std::sync::Arc;
/// use portcullis::storage::{AtomicFile, SystemDisk};
///
/// let folder = tempfile::tempdir()?;
/// let file = AtomicFile::new(Arc::new(SystemDisk), folder.path(), "notes", 1 << 20)?;
/// file.create(b"one")?;
/// file.save(b"two")?;
/// assert_eq!((file.read()?, file.read_backup(1)?), (b"two".to_vec(), b"one".to_vec()));
/// file.restore(1)?;
/// assert_eq!((file.read()?, file.read_backup(1)?), (b"one".to_vec(), b"two".to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AtomicFile {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    name: String,
    limit: u64,
}

/// Why an atomic file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AtomicFileError {
    /// The name is that of a backup, a lock or a draft of another file.
    #[error("`{name}` cannot be the file's name: {why}")]
    Name {
        /// The name.
        name: String,
        /// The problem with it.
        why: &'static str,
    },
    /// The file that was to be made exists.
    #[error("{path} exists already; nothing was changed")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is gone, and backups of it exist.
    #[error("{path} is gone and {count} of its backups are there; restore one, or move them away")]
    OnlyBackups {
        /// The file.
        path: PathBuf,
        /// The number of backups.
        count: usize,
    },
    /// Neither the file nor a backup exists.
    #[error("{path} does not exist")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The backup does not exist.
    #[error("{path} has no backup {number}")]
    NoBackup {
        /// The file.
        path: PathBuf,
        /// The number that was asked for.
        number: u8,
    },
    /// The content is longer than the limit for reading.
    #[error("{path} would be {length} bytes long, and {limit} is the most that is kept")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The length of the content, in bytes.
        length: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The file system failed. The new content may be saved or not; the file is complete.
    #[error("{path} cannot be {doing}: {error}")]
    System {
        /// The file.
        path: PathBuf,
        /// `read`, `saved` and the like.
        doing: &'static str,
        /// The error of the system.
        error: io::Error,
    },
}

impl AtomicFile {
    /// The file `name` of `folder`, of at most `limit` bytes, whether it exists or not.
    ///
    /// # Errors
    /// [`AtomicFileError::Name`] for an empty name, one with a slash, or one that this module uses itself.
    pub fn new(
        disk: Arc<dyn Disk>,
        folder: &Path,
        name: &str,
        limit: u64,
    ) -> Result<AtomicFile, AtomicFileError> {
        let why = if Path::new(name).file_name().is_none_or(|only| only != name) {
            "it is not the name of a file"
        } else if is_taken(name) {
            "it ends like a backup, a lock or a draft; name the file that it belongs to"
        } else {
            return Ok(AtomicFile { disk, folder: folder.to_owned(), name: name.to_owned(), limit });
        };
        Err(AtomicFileError::Name { name: name.to_owned(), why })
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// The path of a backup: 1 is the newest.
    pub fn backup(&self, number: u8) -> PathBuf {
        self.with_ending(&format!("backup-{number}"))
    }

    /// The path of the replaced content during a save, until it becomes a backup.
    pub fn replaced(&self) -> PathBuf {
        self.with_ending("replaced")
    }

    /// The name of the lock file, which a program holds while it uses this file.
    pub fn lock_name(&self) -> String {
        format!("{}.lock", self.name)
    }

    fn with_ending(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }

    /// Removes the drafts that a crash left, and finishes a save that a crash interrupted after the new content was in
    /// place.
    ///
    /// # Errors
    /// Those of the file system; no content is lost, and the call may be repeated.
    pub fn recover(&self) -> Result<(), AtomicFileError> {
        let failed = self.failed("recovered");
        for path in self.disk.list(&self.folder).map_err(&failed)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.strip_prefix(&self.name).is_some_and(is_draft) {
                self.disk.remove(&path).map_err(&failed)?;
            }
        }
        self.settle().map_err(failed)
    }

    /// Makes the file.
    ///
    /// # Errors
    /// [`AtomicFileError::Exists`], [`AtomicFileError::OnlyBackups`] where a file of that name existed before, a content
    /// that is too long, or those of the file system. After [`AtomicFileError::System`] the file may exist.
    pub fn create(&self, bytes: &[u8]) -> Result<(), AtomicFileError> {
        self.fits(bytes)?;
        let failed = self.failed("made");
        let count = self.backups()?.len();
        if count > 0 {
            return Err(AtomicFileError::OnlyBackups { path: self.path(), count });
        }
        let draft = self.draft(bytes).map_err(&failed)?;
        let made = self.disk.link(&draft, &self.path());
        // A draft that stays is removed by the next `recover`.
        let _ = self.disk.remove(&draft);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(AtomicFileError::Exists { path: self.path() })
            }
            made => made.and_then(|()| self.disk.sync_folder(&self.folder)).map_err(failed),
        }
    }

    /// The content.
    ///
    /// # Errors
    /// [`AtomicFileError::Missing`] or [`AtomicFileError::OnlyBackups`], a file that is too long, or those of the file
    /// system.
    pub fn read(&self) -> Result<Vec<u8>, AtomicFileError> {
        match self.disk.read(&self.path(), self.limit) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(match self.backups()?.len() {
                0 => AtomicFileError::Missing { path: self.path() },
                count => AtomicFileError::OnlyBackups { path: self.path(), count },
            }),
            read => read.map_err(self.failed("read")),
        }
    }

    /// Replaces the content. When this returns, the new content is durable, and the old one is the newest backup or
    /// becomes it at the next call or the next [`AtomicFile::recover`]. A file that was removed is made again.
    ///
    /// # Errors
    /// A content that is too long, or those of the file system; then the file holds the old content or the new.
    pub fn save(&self, bytes: &[u8]) -> Result<(), AtomicFileError> {
        self.fits(bytes)?;
        self.replace(bytes).map_err(self.failed("saved"))
    }

    /// Replaces the content as durably as [`AtomicFile::save`] but makes no backup. It is for frequent saves, which would
    /// push out the backups that a user may want.
    ///
    /// # Errors
    /// As [`AtomicFile::save`].
    pub fn refresh(&self, bytes: &[u8]) -> Result<(), AtomicFileError> {
        self.fits(bytes)?;
        let refreshed = self.settle().and_then(|()| {
            let draft = self.draft(bytes)?;
            let moved = self.disk.rename(&draft, &self.path());
            if moved.is_err() {
                let _ = self.disk.remove(&draft);
            }
            moved.and_then(|()| self.disk.sync_folder(&self.folder))
        });
        refreshed.map_err(self.failed("saved"))
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        self.settle()?;
        let draft = self.draft(bytes)?;
        let moved = match self.disk.link(&self.path(), &self.replaced()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.disk.rename(&draft, &self.path()),
        };
        if let Err(error) = moved {
            let _ = self.disk.remove(&draft);
            let _ = self.settle();
            return Err(error);
        }
        self.disk.sync_folder(&self.folder)?;
        // The new content and the name of the old one are durable; a failure here is made good at the next call.
        let _ = self.settle();
        Ok(())
    }

    /// The numbers of the existing backups, the newest first.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn backups(&self) -> Result<Vec<u8>, AtomicFileError> {
        let files = self.disk.list(&self.folder).map_err(self.failed("searched for backups"))?;
        Ok((1..=BACKUPS).filter(|number| files.contains(&self.backup(*number))).collect())
    }

    /// The content of a backup.
    ///
    /// # Errors
    /// [`AtomicFileError::NoBackup`], or those of the file system.
    pub fn read_backup(&self, number: u8) -> Result<Vec<u8>, AtomicFileError> {
        let none = AtomicFileError::NoBackup { path: self.path(), number };
        if !(1..=BACKUPS).contains(&number) {
            return Err(none);
        }
        match self.disk.read(&self.backup(number), self.limit) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(none),
            read => read.map_err(self.failed("restored")),
        }
    }

    /// Restores a backup's content and returns it. The present content becomes the newest backup, and the other backup
    /// stays: restoring loses no content.
    ///
    /// # Errors
    /// [`AtomicFileError::NoBackup`], or as [`AtomicFile::save`].
    pub fn restore(&self, number: u8) -> Result<Vec<u8>, AtomicFileError> {
        self.settle().map_err(self.failed("restored"))?;
        let bytes = self.read_backup(number)?;
        self.save(&bytes)?;
        Ok(bytes)
    }

    /// Stores the present content as `NAME.LABEL` permanently, such as the `v1` of a file that is about to be written in a
    /// newer format. Returns whether it did: an existing file of that name is not changed.
    ///
    /// # Errors
    /// [`AtomicFileError::Name`] for a label that is not 1 to 16 of `a-z 0-9`, or is taken; those of the file system.
    pub fn keep_original(&self, label: &str) -> Result<bool, AtomicFileError> {
        let plain = label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let name = format!("{}.{label}", self.name);
        if !plain || label.is_empty() || label.len() > 16 || is_taken(&name) {
            return Err(AtomicFileError::Name { name, why: "a label is 1 to 16 of a-z and 0-9, such as v1" });
        }
        let failed = self.failed("kept as it is");
        let kept = match self.disk.link(&self.path(), &self.folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            linked => linked.map(|()| true).map_err(&failed)?,
        };
        self.disk.sync_folder(&self.folder).map_err(failed)?;
        Ok(kept)
    }

    fn failed(&self, doing: &'static str) -> impl Fn(io::Error) -> AtomicFileError + use<> {
        let path = self.path();
        move |error| AtomicFileError::System { path: path.clone(), doing, error }
    }

    fn fits(&self, bytes: &[u8]) -> Result<(), AtomicFileError> {
        let (length, limit) = (bytes.len() as u64, self.limit);
        if length > limit {
            Err(AtomicFileError::TooLong { path: self.path(), length, limit })
        } else {
            Ok(())
        }
    }

    /// Writes a synced file with a unique name.
    fn draft(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let path = self.with_ending(&format!("draft-{:016x}", u64::from_le_bytes(random)));
        let written = self.disk.write_new(&path, bytes).and_then(|()| self.disk.sync(&path));
        match written {
            Ok(()) => Ok(path),
            Err(error) => {
                let _ = self.disk.remove(&path);
                Err(error)
            }
        }
    }

    /// Makes the content that a save replaced the newest backup. A call that is interrupted after any step can be
    /// repeated with the same result.
    fn settle(&self) -> io::Result<()> {
        let Some(replaced) = self.content(&self.replaced())? else { return Ok(()) };
        let main = self.content(&self.path())?;
        let newest = self.content(&self.backup(1))?;
        let replaced = Some(replaced);
        if replaced == main || replaced == newest {
            // The save did not happen, or an earlier call was interrupted before its last step.
            return self.disk.remove(&self.replaced());
        }
        // A backup that was restored is the file's content now, so it need not push out the other backup.
        if newest.is_some() && newest != main {
            self.disk.rename(&self.backup(1), &self.backup(2))?;
        }
        self.disk.rename(&self.replaced(), &self.backup(1))
    }

    /// A file's content for comparison. A file that is too long was not written here, and differs from every content
    /// within the limit.
    fn content(&self, path: &Path) -> io::Result<Option<Content>> {
        match self.disk.read(path, self.limit) {
            Ok(bytes) => Ok(Some(Content::Whole(bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(Some(Content::TooLong)),
            Err(error) => Err(error),
        }
    }
}

#[derive(PartialEq)]
enum Content {
    Whole(Vec<u8>),
    TooLong,
}

/// Whether the rest of a name, after a file's name, marks a draft of that file.
fn is_draft(ending: &str) -> bool {
    let digits = ending.strip_prefix(".draft-").unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Whether this module uses the name itself.
fn is_taken(name: &str) -> bool {
    let Some((_, ending)) = name.rsplit_once('.') else { return false };
    let backup = ending.strip_prefix("backup-").is_some_and(|number| number.parse::<u8>().is_ok());
    backup || matches!(ending, "lock" | "replaced") || is_draft(&format!(".{ending}"))
}
