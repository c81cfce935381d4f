//! A file that one program at a time has open.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};

/// An open file with the operating system's exclusive lock (`flock` on Linux), until this is dropped or the process ends
/// in any way.
///
/// The lock is advisory: it excludes only those that take it too.
#[derive(Debug)]
pub struct ExclusiveFile(File);

impl ExclusiveFile {
    /// Locks an open file. It does not wait.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] where another holds the lock, or an error of the file system.
    ///
    /// # Examples
    /// ```
    /// use portcullis::storage::ExclusiveFile;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("journal");
    /// let first = ExclusiveFile::lock(std::fs::File::create(&path)?)?;
    /// assert!(ExclusiveFile::lock(std::fs::File::open(&path)?).is_err());
    /// drop(first);
    /// assert!(ExclusiveFile::lock(std::fs::File::open(&path)?).is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn lock(file: File) -> Result<ExclusiveFile, TryLockError> {
        file.try_lock()?;
        Ok(ExclusiveFile(file))
    }
}

impl Drop for ExclusiveFile {
    fn drop(&mut self) {
        // Closing alone is not enough: a child process that another thread is just starting would hold the lock until
        // its `exec`.
        let _ = self.0.unlock();
    }
}

impl Deref for ExclusiveFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for ExclusiveFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_child_process_that_is_just_started_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let file = File::create(&path).unwrap();
        // What a child process has until its `exec`: another descriptor of the same open file.
        let _inherited = file.try_clone().unwrap();
        drop(ExclusiveFile::lock(file).unwrap());
        ExclusiveFile::lock(File::open(&path).unwrap()).unwrap();
    }
}
