//! A log's folder: private to its owner, and one writer at a time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::problem::LogError;
use crate::storage::{Disk, SystemDisk};

/// Makes the folder if it is not there, and refuses one that others could write to or that is a link.
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
    if !about.is_dir() || !is_ours_alone(&about) {
        return Err(LogError::NotPrivate { folder: folder.to_owned() });
    }
    Ok(())
}

#[cfg(unix)]
fn is_ours_alone(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.mode() & 0o077 == 0 && about.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours_alone(_: &std::fs::Metadata) -> bool {
    true
}

/// The right to write to a folder, until it is dropped or the process ends in any way.
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would leave it to a process that another thread is just starting, until that one has
        // replaced itself.
        let _ = self.0.unlock();
    }
}

/// Takes the folder for writing.
pub(super) fn take(folder: &Path) -> Result<Lock, LogError> {
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
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(LogError::InUse { folder: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}
