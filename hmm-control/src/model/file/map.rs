//! Files mapped into memory. Apart from the kernel this is the only unsafe code, and the only access to files.

use crate::SharedBytes;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a file was not mapped.
#[derive(Debug, thiserror::Error)]
#[error("cannot map {}: {source}", path.display())]
pub struct MapError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

/// Maps a file, so that [`crate::ModelFile::read`] uses its numbers in place: pages are loaded as they are read, several
/// processes share them, and the system may drop them again.
///
/// # The file must not change
/// As long as the map lives, the file must not be written or truncated, and the system does not prevent it. Numbers that
/// change after they were checked give wrong probabilities, and reading after a new end kills the process (a `SIGBUS` on
/// Unix). To replace a model, write a new file in the same folder and rename it over the old name: the map keeps the old
/// contents. Where others may write to the file, read it into memory instead: a `Vec<u8>` in an `Arc` works the same.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// std::fs::write(&path, b"bytes")?;
/// let bytes = hmm_control::map_file(&path)?;
/// assert_eq!((*bytes).as_ref(), b"bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the path is no regular file, or the system refuses to open or to map it. The error names the path.
pub fn map_file(path: impl AsRef<Path>) -> Result<SharedBytes, MapError> {
    let path = path.as_ref();
    map(path).map_err(|source| MapError { path: path.to_owned(), source })
}

#[allow(
    unsafe_code,
    reason = "a map is memory that others can change; what that asks of the caller is documented"
)]
fn map(path: &Path) -> io::Result<SharedBytes> {
    // Checked before the file is opened: opening a pipe would wait for a writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let file = File::open(path)?;
    // SAFETY: the map is read-only and lives as long as the shared bytes that own it. No system can enforce that the
    // file does not change meanwhile; the documentation requires it of the caller. The bytes are only read as plain
    // numbers, for which every bit pattern is valid.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Arc::new(map))
}
