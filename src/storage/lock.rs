//! One program at a time: an exclusive lock on a file beside the one that is changed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{FolderError, SafeFolder};

/// How long a lock is seen held before its holder is named. A holder that died may have left its number in
/// the file, and the next one needs a moment to write its own over it.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// An exclusive lock, held until it is dropped or the process ends in whatever way.
///
/// The lock is the operating system's (`flock` on Linux), so a killed holder leaves none behind. Its file stays:
/// one that is removed while it is held would let in a second holder. The file names the holder's process, which
/// is true only while the lock is held, and on this machine.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another program, or another part of this one, has it.
    #[error("{path} is in use{}; end that program first", by(*pid))]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// The holder's process, where it could be read for certain.
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
        /// The system's word for it.
        error: io::Error,
    },
}

fn by(pid: Option<u32>) -> String {
    pid.map_or_else(|| " by another program".to_owned(), |pid| format!(" by process {pid}"))
}

impl Lock {
    /// Takes the lock on the file `name` of `folder`, which is made where it is missing. Waits some
    /// milliseconds, no longer.
    ///
    /// # Errors
    /// [`LockError::InUse`], or a lock file that is not ours alone.
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
        // On a full disk a lock without a name still locks, and what it guards can be read.
        let _ = writeln!(file, "{}", std::process::id());
        Ok(Lock { file })
    }

    /// Whether somebody has the lock, and which process: `None` where nobody has it, `Some(None)` where the
    /// holder cannot be named for certain.
    ///
    /// # Errors
    /// A lock file that is not ours alone, or cannot be opened.
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
        // A number that no longer holds is of no use; where it stays, the lock being free says as much.
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

/// Takes the lock (`None`), or tells who has it. Looking takes a free lock for an instant, hence the second
/// look: somebody else's look is over by then.
fn held(file: &File, path: &Path) -> Result<Option<Option<u32>>, LockError> {
    if try_lock(file, path)? {
        return Ok(None);
    }
    let first = number(path);
    thread::sleep(LOOK_AGAIN);
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
