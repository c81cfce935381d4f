//! A folder that nobody but its owner can read.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// A folder that belongs to the user who runs the program and is closed to everybody else (mode 0700), for
/// files that are likewise (0600).
///
/// There is no option that makes the rule laxer: who wants a vault in a shared folder makes a folder in it.
/// Only the last part of the path is judged. Whoever may rename the folders above it can put another folder
/// in its place, though none that is owned by the user and closed, unless the user made it.
///
/// On systems without Unix permissions (Windows) only symbolic links and things that are not folders or files
/// are refused; there the user's profile folder keeps others out.
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
pub enum FolderError {
    /// It is a symbolic link.
    #[error("{path} is a symbolic link; name what it points to")]
    Symlink {
        /// The folder or file.
        path: PathBuf,
    },
    /// Something else has the name.
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
        /// Who owns it.
        owner: u32,
        /// Who we are.
        user: u32,
    },
    /// Its group or everybody else may use it.
    #[error("{path} is open to others (mode {mode:04o}); run `chmod {mend:o} {path}`, or use a new folder")]
    Open {
        /// The folder or file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// The permissions it should have.
        mend: u32,
    },
    /// The file has a name outside of the folder.
    #[error(
        "{path} is also reachable from outside of its folder ({names} names, {here} here); put a copy in its \
         place: `cp -p {path} {path}.copy && mv {path}.copy {path}`"
    )]
    Linked {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        names: u64,
        /// How many of them are in its folder.
        here: u64,
    },
    /// It is not there, or cannot be looked at.
    #[error("{path} cannot be used: {error}")]
    System {
        /// The folder or file.
        path: PathBuf,
        /// The system's word for it.
        error: io::Error,
    },
}

impl FolderError {
    fn system(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
        |error| FolderError::System { path: path.to_owned(), error }
    }

    /// Whether the folder or file is simply not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, FolderError::System { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

impl SafeFolder {
    /// Opens a folder that exists. An empty path is the current folder.
    ///
    /// # Errors
    /// [`FolderError`], which says what was found and what to do.
    pub fn open(path: &Path) -> Result<SafeFolder, FolderError> {
        let path = plain(path);
        check(&path, &look(&path)?, Wanted::Folder)?;
        Ok(SafeFolder { path })
    }

    /// Opens a folder, or makes it and those above it that are missing, all closed to others and durable.
    ///
    /// # Errors
    /// As [`SafeFolder::open`]. A folder that is there already is not changed.
    pub fn open_or_make(path: &Path) -> Result<SafeFolder, FolderError> {
        let path = plain(path);
        make(&path).map_err(FolderError::system(&path))?;
        SafeFolder::open(&path)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a file of this folder that is a symbolic link or no regular file, belongs to another user, may
    /// be used by others, or has a further name outside of the folder.
    ///
    /// # Errors
    /// [`FolderError`]; [`FolderError::is_missing`] tells a file that is not there.
    pub fn check_file(&self, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let mut about = look(&path)?;
        loop {
            check(&path, &about, Wanted::File)?;
            let Err(outside) = self.check_names(&path, &about) else { return Ok(()) };
            // A program that makes or saves the file at this moment moves its names while they are counted.
            // The name is another file's then, or the file has fewer names.
            let now = look(&path)?;
            if same(&about, &now) && names(&about) == names(&now) {
                return Err(outside);
            }
            about = now;
        }
    }

    /// Backups are second names of one file, so a number of names says nothing until those here are counted.
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

/// Whether both are one file.
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

/// Without a trailing slash or dot, behind which a symbolic link would be followed.
fn plain(path: &Path) -> PathBuf {
    let path: PathBuf = path.components().collect();
    if path.as_os_str().is_empty() { PathBuf::from(Component::CurDir.as_os_str()) } else { path }
}

fn make(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        there_or_not_to_be_seen => return there_or_not_to_be_seen.map(drop),
    }
    let above = path.parent().map_or_else(|| PathBuf::from(Component::CurDir.as_os_str()), plain);
    make(&above)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process was quicker; what it made is judged like any other.
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

/// The rules that a folder and a file share.
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
