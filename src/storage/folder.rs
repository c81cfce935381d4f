//! A folder that only its owner can read.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// A folder that belongs to the user who runs the program and is closed to all others (mode 0700), for files that are
/// closed too (0600).
///
/// There is no option for a laxer rule: a vault in a shared folder needs a private folder in that folder. Only the last
/// part of the path is checked. A user who may rename the folders above it can put another folder in its place, but only
/// one that passes these checks, which means that the user of this program made it.
///
/// On systems without Unix permissions (Windows) only symbolic links and things that are not folders or files are
/// refused; there the user's profile folder keeps others out.
///
/// ```
/// use portcullis::storage::SafeFolder;
///
/// let home = tempfile::tempdir()?;
/// let folder = SafeFolder::open_or_make(&home.path().join("private"))?;
/// assert!(folder.check_file("my.vault").is_err(), "there is none");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeFolder {
    path: PathBuf,
}

/// Why a folder or a file in it is not safe to use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It is a symbolic link.
    #[error("{path} is a symbolic link; name what it points to")]
    Symlink {
        /// The folder or file.
        path: PathBuf,
    },
    /// The name belongs to something else.
    #[error("{path} is not a {wanted}")]
    Kind {
        /// The folder or file.
        path: PathBuf,
        /// `folder` or `regular file`.
        wanted: &'static str,
    },
    /// Another user owns it.
    #[error("{path} belongs to user {owner}, and this program runs as user {user}; use one of your own")]
    Owner {
        /// The folder or file.
        path: PathBuf,
        /// The owner's user id.
        owner: u32,
        /// The user id of this program.
        user: u32,
    },
    /// Its group or all users may use it.
    #[error("{path} is open to others (mode {mode:04o}); run `chmod {mend:o} {path}`, or use a new folder")]
    Open {
        /// The folder or file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// The permissions it should have.
        mend: u32,
    },
    /// The file has a name outside the folder.
    #[error(
        "{path} is also reachable from outside of its folder ({names} names, {here} here); put a copy in its \
         place: `cp -p {path} {path}.copy && mv {path}.copy {path}`"
    )]
    Linked {
        /// The file.
        path: PathBuf,
        /// The number of its names.
        names: u64,
        /// The number of its names in its folder.
        here: u64,
    },
    /// It does not exist or cannot be examined.
    #[error("{path} cannot be used: {error}")]
    System {
        /// The folder or file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl FolderError {
    fn system(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
        |error| FolderError::System { path: path.to_owned(), error }
    }

    /// Whether the folder or file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, FolderError::System { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

impl SafeFolder {
    /// Opens a folder that exists. An empty path is the current folder.
    ///
    /// # Errors
    /// [`FolderError`] names the problem and its remedy.
    pub fn open(path: &Path) -> Result<SafeFolder, FolderError> {
        let path = plain(path);
        check(&path, &look(&path)?, Wanted::Folder)?;
        Ok(SafeFolder { path })
    }

    /// Opens a folder. A missing folder is made, with the missing folders above it, all private and durable.
    ///
    /// # Errors
    /// As [`SafeFolder::open`]. An existing folder is not changed.
    pub fn open_or_make(path: &Path) -> Result<SafeFolder, FolderError> {
        let path = plain(path);
        make(&path).map_err(FolderError::system(&path))?;
        SafeFolder::open(&path)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a file of this folder that is a symbolic link or no regular file, belongs to another user, may be used by
    /// others, or has another name outside the folder.
    ///
    /// # Errors
    /// [`FolderError`]; [`FolderError::is_missing`] recognises a file that does not exist.
    pub fn check_file(&self, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let mut about = look(&path)?;
        loop {
            check(&path, &about, Wanted::File)?;
            let Err(outside) = self.check_names(&path, &about) else { return Ok(()) };
            // A program that saves the file at this moment moves its names while they are counted. In that case the
            // name now belongs to another file, or the number of names differs, and the check is repeated.
            let now = look(&path)?;
            if same(&about, &now) && names(&about) == names(&now) {
                return Err(outside);
            }
            about = now;
        }
    }

    /// Backups are second names of one file, so the names in this folder are subtracted from all names.
    #[cfg(unix)]
    fn check_names(&self, path: &Path, about: &Metadata) -> Result<(), FolderError> {
        let names = names(about);
        if names == 1 {
            return Ok(());
        }
        let mut here = 0;
        for entry in fs::read_dir(&self.path).map_err(FolderError::system(&self.path))? {
            let entry = entry.map_err(FolderError::system(&self.path))?;
            match look(&entry.path()) {
                Err(gone) if gone.is_missing() => {}
                other => here += u64::from(same(about, &other?)),
            }
        }
        if names > here { Err(FolderError::Linked { path: path.to_owned(), names, here }) } else { Ok(()) }
    }

    #[cfg(not(unix))]
    fn check_names(&self, _: &Path, _: &Metadata) -> Result<(), FolderError> {
        Ok(())
    }
}

fn look(path: &Path) -> Result<Metadata, FolderError> {
    fs::symlink_metadata(path).map_err(FolderError::system(path))
}

/// Whether both belong to one file.
#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(unix)]
fn names(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(about)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

#[cfg(not(unix))]
fn same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Removes a trailing slash or dot, with which the system would follow a symbolic link.
fn plain(path: &Path) -> PathBuf {
    let path: PathBuf = path.components().collect();
    if path.as_os_str().is_empty() { PathBuf::from(Component::CurDir.as_os_str()) } else { path }
}

fn make(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        exists_or_failed => return exists_or_failed.map(drop),
    }
    let above = path.parent().map_or_else(|| PathBuf::from(Component::CurDir.as_os_str()), plain);
    make(&above)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process made it first; its folder is checked like any other.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        made => made?,
    }
    if cfg!(unix) { fs::File::open(&above)?.sync_all() } else { Ok(()) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Folder,
    File,
}

/// Checks the rules that a folder and a file share.
fn check(path: &Path, about: &Metadata, wanted: Wanted) -> Result<(), FolderError> {
    let path = || path.to_owned();
    let (kind, is_right) = match wanted {
        Wanted::Folder => ("folder", about.is_dir()),
        Wanted::File => ("regular file", about.is_file()),
    };
    if about.is_symlink() {
        return Err(FolderError::Symlink { path: path() });
    }
    if !is_right {
        return Err(FolderError::Kind { path: path(), wanted: kind });
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let user = rustix::process::geteuid().as_raw();
        if about.uid() != user {
            return Err(FolderError::Owner { path: path(), owner: about.uid(), user });
        }
        if about.mode() & 0o077 != 0 {
            let mend = if wanted == Wanted::Folder { 0o700 } else { 0o600 };
            return Err(FolderError::Open { path: path(), mode: about.mode() & 0o7777, mend });
        }
    }
    Ok(())
}
