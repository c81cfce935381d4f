//! A folder that is thrown away in the end, and by whoever comes next where its owner had no end.
//!
//! A process that is killed removes nothing. Each folder holds a file that its owner keeps locked; the system lets go of
//! the lock when the process is gone, however it went. Whoever makes the next folder removes those that nobody locks.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::TempDir;

/// How the name of each begins.
const PREFIX: &str = "portcullis-";

/// The file that is locked.
const LOCK: &str = "portcullis.lock";

/// A folder of this process alone. Dropping it removes it with what is in it.
pub struct ThrowawayFolder {
    // Removed before the lock is let go.
    folder: TempDir,
    _lock: File,
}

impl ThrowawayFolder {
    /// A new one among the system's temporary files. Those that killed processes of the same user left are removed.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn new() -> io::Result<ThrowawayFolder> {
        ThrowawayFolder::among(&std::env::temp_dir())
    }

    fn among(place: &Path) -> io::Result<ThrowawayFolder> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        // It gets its name when it is locked: a file of that name that nobody locks is a dead process's.
        let unnamed = folder.path().join("new.lock");
        let lock = File::create(&unnamed)?;
        lock.try_lock()?;
        fs::rename(&unnamed, folder.path().join(LOCK))?;
        sweep(place, folder.path().metadata()?.uid());
        Ok(ThrowawayFolder { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what killed processes of this user left. What cannot be removed now is left for the next.
fn sweep(place: &Path, user: u32) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            // Not through a link, which could lead anywhere.
            && entry.metadata().is_ok_and(|folder| folder.is_dir() && folder.uid() == user);
        if let Some(_lock) = ours.then(|| abandoned(entry.path())).flatten() {
            let _left_for_the_next = fs::remove_dir_all(entry.path());
        }
    }
}

/// The lock of a folder whose owner is gone.
fn abandoned(folder: PathBuf) -> Option<File> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).ok()?;
    let lock = File::options().read(true).custom_flags(no_link).open(folder.join(LOCK)).ok()?;
    lock.try_lock().ok()?;
    Some(lock)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_a_dead_process_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let mine = ThrowawayFolder::among(place.path()).unwrap();
        fs::write(mine.path().join("page.png"), "x").unwrap();
        // As a killed process leaves it: the folder is there, and nobody holds the lock.
        let dead = ThrowawayFolder::among(place.path()).unwrap();
        let left = dead.path().to_owned();
        fs::create_dir(left.join("Default")).unwrap();
        let ThrowawayFolder { folder, _lock } = dead;
        let _kept = folder.keep();
        drop(_lock);
        // Not ours: of another name, without a lock, a link, and one whose lock is a link.
        let (other, unlocked) = (place.path().join("other"), place.path().join("portcullis-unlocked"));
        let (elsewhere, linked) = (tempfile::tempdir().unwrap(), place.path().join("portcullis-linked"));
        for folder in [&other, &unlocked] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(other.join(LOCK), "").unwrap();
        fs::write(elsewhere.path().join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), place.path().join("portcullis-link")).unwrap();
        fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join(LOCK), linked.join(LOCK)).unwrap();

        let next = ThrowawayFolder::among(place.path()).unwrap();
        assert!(!left.exists());
        for kept in [mine.path(), next.path(), &other, &unlocked, elsewhere.path(), &linked] {
            assert!(kept.exists(), "{}", kept.display());
        }
        let gone = mine.path().to_owned();
        drop(mine);
        assert!(!gone.exists());
    }
}
