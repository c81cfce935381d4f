//! A temporary folder that is removed even if its owner was killed: by the next process that makes one.
//!
//! A process that is killed removes nothing. Each folder holds a file that its owner keeps locked; the system releases
//! the lock when the process ends in any way. The next process that makes a folder removes those whose lock is free, and
//! old ones that never got a lock.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use tempfile::TempDir;

/// The beginning of each folder's name.
const PREFIX: &str = "portcullis-";

/// The locked file.
const LOCK: &str = "portcullis.lock";

/// Its name before it is locked.
const NEW: &str = "new.lock";

/// The age from which on a folder without a lock is one of a dead process.
const MADE_WITHIN: Duration = Duration::from_secs(3600);

/// A folder of this process alone. Dropping it removes it with its contents.
pub struct ThrowawayFolder {
    // The field order matters: the folder is removed before the lock is released.
    folder: TempDir,
    _lock: File,
}

impl ThrowawayFolder {
    /// Makes a folder among the system's temporary files, and removes those that killed processes of the same user left.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn new() -> io::Result<ThrowawayFolder> {
        ThrowawayFolder::among(&std::env::temp_dir())
    }

    fn among(place: &Path) -> io::Result<ThrowawayFolder> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        // The file gets its name once it is locked: an unlocked file of that name is one of a dead process.
        let unnamed = folder.path().join(NEW);
        let lock = File::create(&unnamed)?;
        lock.try_lock()?;
        fs::rename(&unnamed, folder.path().join(LOCK))?;
        sweep(place, folder.path().metadata()?.uid());
        Ok(ThrowawayFolder { folder, _lock: lock })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders that killed processes of this user left. One that cannot be removed is left for the next process.
fn sweep(place: &Path, user: u32) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            // Links are not followed: they could lead anywhere.
            && entry.metadata().is_ok_and(|folder| folder.is_dir() && folder.uid() == user);
        if !ours {
            continue;
        }
        if let Some(_lock) = abandoned(&entry.path().join(LOCK)) {
            let _left_for_the_next = fs::remove_dir_all(entry.path());
        } else if is_old(&entry) {
            // Its owner was killed before it had a lock. A folder with other contents is not empty, and stays.
            let _lock = abandoned(&entry.path().join(NEW)).map(|_| fs::remove_file(entry.path().join(NEW)));
            let _is_in_use = fs::remove_dir(entry.path());
        }
    }
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let made = entry.metadata().and_then(|folder| folder.modified()).ok();
    made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > MADE_WITHIN)
}

/// The lock file, if its owner is gone.
fn abandoned(lock: &Path) -> Option<File> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).ok()?;
    let lock = File::options().read(true).custom_flags(no_link).open(lock).ok()?;
    lock.try_lock().ok()?;
    Some(lock)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn folders_of_dead_processes_are_removed_and_no_others() {
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
        // Killed between making the folder and locking it: known by its age, which here the test gives it.
        let begun =
            ["portcullis-a", "portcullis-b", "portcullis-c", "portcullis-d"].map(|it| place.path().join(it));
        for folder in &begun {
            fs::create_dir(folder).unwrap();
        }
        let [empty, unnamed, alive, young] = &begun;
        fs::write(unnamed.join(NEW), "").unwrap();
        let held = File::create(alive.join(NEW)).unwrap();
        held.try_lock().unwrap();
        for folder in [empty, unnamed, alive] {
            let long_ago = std::time::SystemTime::now() - 2 * MADE_WITHIN;
            File::open(folder).unwrap().set_modified(long_ago).unwrap();
        }
        let another = ThrowawayFolder::among(place.path()).unwrap();
        assert!(!empty.exists() && !unnamed.exists());
        for kept in [alive, young, &another.path().to_owned(), &next.path().to_owned()] {
            assert!(kept.exists(), "{}", kept.display());
        }
        let gone = mine.path().to_owned();
        drop(mine);
        assert!(!gone.exists());
    }
}
