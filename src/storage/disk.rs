//! The file-system calls of a durable write, one method a call, so that a test can simulate a crash before any of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file system. Written content is durable once [`Disk::sync`] returned, and a name that was made, moved or removed
/// once [`Disk::sync_folder`] returned.
///
/// No call follows a symbolic link in the last part of a path or opens anything but a regular file. Files are readable
/// by their owner alone.
pub trait Disk: Send + Sync {
    /// The content of a file of at most `limit` bytes; a longer one is an error
    /// ([`io::ErrorKind::FileTooLarge`]).
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// The paths of the files in a folder, sorted by name; folders in it are left out, links are not.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes a file that must not exist, and writes it.
    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Adds to the end of a file that exists.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file that exists to a length.
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()>;

    /// Makes the content of a file durable.
    fn sync(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Gives a file a second name, which must be free. Some file systems (FAT) have no such call and return an error.
    fn link(&self, path: &Path, second: &Path) -> io::Result<()>;

    /// Moves a file in one step; a file of the new name is replaced. If both are names of one file, both may stay.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The operating system's file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // Without this flag, opening a named pipe would wait for its other end.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

impl Disk for SystemDisk {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        use std::io::Read;
        let file = open(path, OpenOptions::new().read(true))?;
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {limit} bytes")));
        }
        Ok(bytes)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                paths.push(entry.path());
            }
        }
        paths.sort();
        Ok(paths)
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        open(path, OpenOptions::new().write(true).create_new(true))?.write_all(bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        open(path, OpenOptions::new().append(true))?.write_all(bytes)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        open(path, OpenOptions::new().write(true))?.set_len(length)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        open(path, OpenOptions::new().read(true))?.sync_all()
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            use std::os::unix::fs::OpenOptionsExt;
            let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(flags.bits().cast_signed());
            options.open(folder)?.sync_all()
        }
        // Windows has no such call: a rename cannot be made more durable there.
        #[cfg(not(unix))]
        {
            let _ = folder;
            Ok(())
        }
    }

    fn link(&self, path: &Path, second: &Path) -> io::Result<()> {
        std::fs::hard_link(path, second)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}
