//! Files mapped into memory: the one place that touches the file system.

use crate::matrix::SharedBytes;
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
    /// What the system said.
    pub source: io::Error,
}

/// Maps a file, so that [`crate::ModelFile::read`] uses its numbers where they lie: pages come in as they are read,
/// several processes share them, and the system may drop them again.
///
/// # The file must not change
/// As long as the map lives, nobody may write to the file or cut it short; the system does not prevent it. Numbers
/// that change after they were checked give wrong probabilities, and reading behind a new end kills the process (a
/// `SIGBUS` on Unix). Replace a model by writing a new file beside it and renaming that over the old name: the map
/// keeps the old contents. Where others may write to the file, read it into memory instead: a `Vec<u8>` in an `Arc`
/// is as good as a map.
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
    // Before it is opened: opening a pipe would wait for a writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let file = File::open(path)?;
    // SAFETY: the map is read-only and lives as long as the shared bytes that own it. That nobody changes the file
    // meanwhile cannot be enforced on any system; the documentation asks it of the caller. Whatever the bytes are,
    // they are only ever read as plain numbers, for which every pattern of bits is valid.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Arc::new(map))
}
