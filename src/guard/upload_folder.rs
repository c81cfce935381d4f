//! The folder whose files the user offers for uploads, and the copies that a page gets.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use browser_signals::playwright::ThrowawayFolder;
use rustix::fs::{FileType, Mode, OFlags};
use sha2::{Digest, Sha256};

use crate::consent::{AskedFile, shows_whole};

/// The most files of one upload.
const MOST_FILES: usize = 10;
/// The largest file, in bytes.
const LARGEST: u64 = 100 << 20;
/// The most names that are listed.
const MOST_NAMES: usize = 100;

/// A folder whose files a page may get, each after a question of its own. Folders within it, hidden files and links are not part of it.
pub struct UploadFolder {
    /// The folder itself: whoever puts another one in its place later changes nothing.
    folder: OwnedFd,
    path: PathBuf,
}

/// Why files cannot be uploaded. No name is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileRefused {
    /// The user offers no files.
    #[error("the user offers no files for uploads: they do with `--files FOLDER`")]
    NoFolder,
    /// The page asks for no file.
    #[error("the page asks for no file: click what opens its file chooser first")]
    NoChooser,
    /// There is no plain file of that name in the folder.
    #[error(
        "the user's folder for uploads has no plain file of one of these names; portcullis_status lists those that it has"
    )]
    NoSuchFile,
    /// A name that a question cannot show whole.
    #[error(
        "one of these names has quotes, invisible characters or more than 80: the user would not see which file it is"
    )]
    Unshowable,
    /// The page's input takes one file.
    #[error("the page takes one file here")]
    OnlyOne,
    /// More files than an upload may have.
    #[error("an upload has between one and ten files")]
    Count,
    /// A file that is too large.
    #[error("a file of an upload has 100 MiB at most")]
    TooLarge,
    /// The file could not be read or copied.
    #[error("one of the files could not be read")]
    Unreadable,
}

/// Copies of the user's files, as they were when the user was asked. They are removed when this is dropped.
pub(crate) struct CopiedFiles {
    /// What the question says of each.
    pub(crate) asked: Vec<AskedFile>,
    /// Where each is.
    pub(crate) paths: Vec<PathBuf>,
    _folder: ThrowawayFolder,
}

impl UploadFolder {
    /// The folder at a path.
    ///
    /// # Errors
    /// It cannot be opened, or is no folder.
    pub fn open(path: &Path) -> io::Result<UploadFolder> {
        let path = path.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(UploadFolder { folder: rustix::fs::open(&path, flags, Mode::empty())?, path })
    }

    /// Whether this folder is, holds or is within another one. What pages download there could be uploaded from here.
    pub fn overlaps(&self, other: &Path) -> bool {
        let other = other.canonicalize().unwrap_or_else(|_| other.to_owned());
        self.path.starts_with(&other) || other.starts_with(&self.path)
    }

    /// The names of the files that can be uploaded, at most a hundred, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        // The folder itself is read, and not what its path leads to by now.
        let entries = rustix::fs::Dir::read_from(&self.folder).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_type() == FileType::RegularFile);
        let names = files.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        let mut names: Vec<String> =
            names.filter(|name| !name.starts_with('.') && shows_whole(name)).collect();
        names.sort_unstable();
        names.truncate(MOST_NAMES);
        names
    }

    /// Copies these files, given by their names or by their paths in this folder.
    pub(crate) fn copy(&self, named: &[String]) -> Result<CopiedFiles, FileRefused> {
        if named.is_empty() || named.len() > MOST_FILES {
            return Err(FileRefused::Count);
        }
        let folder = ThrowawayFolder::new().map_err(|_| FileRefused::Unreadable)?;
        let mut copies = CopiedFiles { asked: Vec::new(), paths: Vec::new(), _folder: folder };
        for (number, named) in named.iter().enumerate() {
            let name = self.name_of(named)?;
            let file = self.file(name)?;
            // Each has a folder of its own, so that each keeps its name.
            let place = copies._folder.path().join(number.to_string());
            DirBuilder::new().mode(0o700).create(&place).map_err(|_| FileRefused::Unreadable)?;
            let path = place.join(name);
            let (bytes, sha256) = copy(file, &path)?;
            copies.asked.push(AskedFile { name: name.to_owned(), bytes, sha256 });
            copies.paths.push(path);
        }
        Ok(copies)
    }

    /// The name of a file directly in the folder.
    fn name_of<'a>(&self, named: &'a str) -> Result<&'a str, FileRefused> {
        let path = Path::new(named);
        let name = path.file_name().and_then(|name| name.to_str()).ok_or(FileRefused::NoSuchFile)?;
        let is_here = named == name
            || path.parent().and_then(|parent| parent.canonicalize().ok()).as_ref() == Some(&self.path);
        match is_here {
            _ if name.starts_with('.') => Err(FileRefused::NoSuchFile),
            true if shows_whole(name) => Ok(name),
            true => Err(FileRefused::Unshowable),
            false => Err(FileRefused::NoSuchFile),
        }
    }

    /// Opens a plain file, and follows no link.
    fn file(&self, name: &str) -> Result<File, FileRefused> {
        // A pipe would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.folder, name, flags, Mode::empty());
        let file = File::from(opened.map_err(|error| match error {
            rustix::io::Errno::ACCESS | rustix::io::Errno::IO => FileRefused::Unreadable,
            _ => FileRefused::NoSuchFile,
        })?);
        let about = file.metadata().map_err(|_| FileRefused::Unreadable)?;
        match about.is_file() {
            true if about.len() > LARGEST => Err(FileRefused::TooLarge),
            true => Ok(file),
            false => Err(FileRefused::NoSuchFile),
        }
    }
}

/// Copies a file for this user alone, and returns the number of its bytes and their hash.
fn copy(from: File, to: &Path) -> Result<(u64, [u8; 32]), FileRefused> {
    let copied = || {
        let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        // It may grow while it is read.
        let mut from = from.take(LARGEST + 1);
        let mut hash = Sha256::new();
        let mut bytes = 0;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = from.read(&mut buffer)?;
            let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else { break };
            hash.update(part);
            to.write_all(part)?;
            bytes += read as u64;
        }
        Ok::<_, io::Error>((bytes, hash.finalize().into()))
    };
    match copied() {
        Ok((bytes, _)) if bytes > LARGEST => Err(FileRefused::TooLarge),
        Ok(copied) => Ok(copied),
        Err(_) => Err(FileRefused::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn copied(folder: &UploadFolder, names: &[&str]) -> Result<CopiedFiles, FileRefused> {
        folder.copy(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn only_plain_files_of_the_folder_itself_are_copied() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("offered");
        fs::create_dir_all(path.join("inner")).unwrap();
        fs::write(place.path().join("secret.txt"), "secret").unwrap();
        fs::write(path.join("inner/deep.txt"), "deep").unwrap();
        fs::write(path.join("invoice.pdf"), "abc").unwrap();
        fs::write(path.join("\u{202E}fdp.exe"), "x").unwrap();
        fs::write(path.join(".hidden"), "x").unwrap();
        symlink(place.path().join("secret.txt"), path.join("link.txt")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path.join("pipe"), Mode::RUSR).unwrap();
        let folder = UploadFolder::open(&path).unwrap();
        assert_eq!(folder.names(), ["invoice.pdf"]);
        let whole = path.join("invoice.pdf");
        for name in ["invoice.pdf", whole.to_str().unwrap()] {
            let copies = copied(&folder, &[name]).unwrap();
            let expected =
                AskedFile { name: "invoice.pdf".to_owned(), bytes: 3, sha256: Sha256::digest("abc").into() };
            assert_eq!(copies.asked, [expected]);
            let copy = copies.paths.first().unwrap().clone();
            assert_eq!(fs::read_to_string(&copy).unwrap(), "abc");
            assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            // What the user changes after the question does not change the copy.
            fs::write(&whole, "other").unwrap();
            assert_eq!(fs::read_to_string(&copy).unwrap(), "abc");
            fs::write(&whole, "abc").unwrap();
            drop(copies);
            assert!(!copy.exists());
        }
        let outside = place.path().join("secret.txt");
        for name in [
            "link.txt",
            "pipe",
            "inner",
            "inner/deep.txt",
            "../secret.txt",
            outside.to_str().unwrap(),
            "absent.pdf",
            ".hidden",
            "..",
            "",
        ] {
            assert_eq!(copied(&folder, &[name]).err(), Some(FileRefused::NoSuchFile), "{name}");
        }
        assert_eq!(copied(&folder, &["\u{202E}fdp.exe"]).err(), Some(FileRefused::Unshowable));
        assert_eq!(copied(&folder, &[]).err(), Some(FileRefused::Count));
        assert_eq!(copied(&folder, &["invoice.pdf"; 11]).err(), Some(FileRefused::Count));
        assert_eq!(copied(&folder, &["invoice.pdf"; 2]).unwrap().paths.len(), 2);
    }

    #[test]
    fn a_folder_put_in_its_place_later_is_another_one() {
        let place = tempfile::tempdir().unwrap();
        let (path, other) = (place.path().join("offered"), place.path().join("other"));
        fs::create_dir(&path).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("secret.txt"), "secret").unwrap();
        let folder = UploadFolder::open(&path).unwrap();
        fs::rename(&path, place.path().join("moved")).unwrap();
        symlink(&other, &path).unwrap();
        assert_eq!(copied(&folder, &["secret.txt"]).err(), Some(FileRefused::NoSuchFile));
        assert!(folder.names().is_empty());
    }

    #[test]
    fn a_file_has_100_mebibytes_at_most() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes| File::create(place.path().join(name)).unwrap().set_len(bytes).unwrap();
        file("large", LARGEST + 1);
        let folder = UploadFolder::open(place.path()).unwrap();
        assert_eq!(copied(&folder, &["large"]).err(), Some(FileRefused::TooLarge));
    }

    #[test]
    fn a_folder_for_downloads_is_apart() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        fs::create_dir_all(inner.join("deep")).unwrap();
        fs::create_dir(place.path().join("inner2")).unwrap();
        symlink(&inner, place.path().join("link")).unwrap();
        let folder = UploadFolder::open(&inner).unwrap();
        for (other, overlaps) in [
            (place.path().to_owned(), true),
            (inner.join("deep"), true),
            (place.path().join("link"), true),
            (place.path().join("inner2"), false),
        ] {
            assert_eq!(folder.overlaps(&other), overlaps, "{other:?}");
        }
    }
}
