//! An exclusive lock file next to the file that is changed: it admits one program at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{FolderError, SafeFolder};

/// The delay before a held lock is examined again and its holder named. A holder that died may have left its process id
/// in the file, and the next holder needs a moment to overwrite it.
const RECHECK_AFTER: Duration = Duration::from_millis(10);

/// An exclusive lock, held until it is dropped or the process ends in any way.
///
/// It is a lock of the operating system (`flock` on Linux), so a killed holder leaves none behind. Its file stays:
/// removing it while the lock is held would admit a second holder. The file contains the holder's process id, which is
/// valid only while the lock is held, and on this machine.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Why a lock was not acquired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another program, or another part of this one, holds it.
    #[error("{path} is in use{}; end that program first", by(*pid))]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// The holder's process id, where it is certain.
        pid: Option<u32>,
    },
    /// The lock file is not safe to use.
    #[error(transparent)]
    Unsafe(#[from] FolderError),
    /// The lock file cannot be opened or locked.
    #[error("{path} cannot be locked: {error}")]
    System {
        /// The lock file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

fn by(pid: Option<u32>) -> String {
    pid.map_or_else(|| " by another program".to_owned(), |pid| format!(" by process {pid}"))
}

impl Lock {
    /// Acquires the lock on the file `name` of `folder`, which is made where it is missing. It waits some milliseconds at
    /// most.
    ///
    /// # Errors
    /// [`LockError::InUse`], or a lock file that is not private.
    pub fn acquire(folder: &SafeFolder, name: &str) -> Result<Lock, LockError> {
        let path = folder.path().join(name);
        let system = |error| LockError::System { path: path.clone(), error };
        match folder.check_file(name) {
            Err(error) if error.is_missing() => {}
            checked => checked?,
        }
        let mut file = open(&path, true).map_err(system)?;
        if let Some(pid) = held(&file, &path)? {
            return Err(LockError::InUse { path, pid });
        }
        file.set_len(0).map_err(system)?;
        // The lock holds without the process id too. On a full disk the locked file stays readable.
        let _ = writeln!(file, "{}", std::process::id());
        Ok(Lock { file })
    }

    /// Returns the process that holds the lock: `None` for a free lock, `Some(None)` where the holder's process id is not
    /// certain.
    ///
    /// # Errors
    /// A lock file that is not private or cannot be opened.
    pub fn holder(folder: &SafeFolder, name: &str) -> Result<Option<Option<u32>>, LockError> {
        let path = folder.path().join(name);
        match folder.check_file(name) {
            Err(error) if error.is_missing() => return Ok(None),
            checked => checked?,
        }
        match open(&path, false) {
            Err(error) => Err(LockError::System { path, error }),
            Ok(file) => held(&file, &path),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A stale process id does no harm where this fails, since nobody reads it from a free lock.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn open(path: &Path, make: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(make).truncate(false);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// Takes the lock (`None`) or returns its holder. [`Lock::holder`] takes a free lock for an instant, hence the second
/// attempt: another program's check is over by then.
fn held(file: &File, path: &Path) -> Result<Option<Option<u32>>, LockError> {
    if try_lock(file, path)? {
        return Ok(None);
    }
    let first = number(path);
    thread::sleep(RECHECK_AFTER);
    if try_lock(file, path)? {
        return Ok(None);
    }
    Ok(Some(first.filter(|_| first == number(path))))
}

fn try_lock(file: &File, path: &Path) -> Result<bool, LockError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(LockError::System { path: path.to_owned(), error }),
    }
}

fn number(path: &Path) -> Option<u32> {
    let mut text = String::new();
    open(path, false).ok()?.take(16).read_to_string(&mut text).ok()?;
    text.strip_suffix('\n')?.parse().ok().filter(|pid| *pid != 0)
}
