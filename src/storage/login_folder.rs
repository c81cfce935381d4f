//! The files of saved logins, in a folder beside the vault's file.
//!
//! Each file is written once and never changed: a renewed login has a new one. The vault says which file is a login's, so the order of a
//! save is: the new file, the vault, and then the old file is removed. A crash between them leaves a file that no login has, which the next
//! save removes.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use vault::logins::{LoginFile, LoginId};

use super::{Disk, FolderError, SafeFolder, SystemDisk};

/// The most bytes of a file: a state of 8 MiB, padded.
const MAX_BYTES: u64 = 17 << 20;

/// The ending of the files' names.
const ENDING: &str = "login";

/// The folder `NAME.logins` of a vault's file `NAME`. It is made with the first login.
#[derive(Clone)]
pub struct LoginFolder {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The logins that a container of this process uses.
    in_use: Arc<Mutex<BTreeSet<LoginId>>>,
}

/// A login that one container uses. Until this is dropped no other container of the process gets it: many sites end a login that is used in
/// two places at once.
pub struct LoginInUse {
    id: LoginId,
    in_use: Arc<Mutex<BTreeSet<LoginId>>>,
}

impl Drop for LoginInUse {
    fn drop(&mut self) {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl LoginFolder {
    /// The folder that belongs to a vault's file, whether it exists or not.
    pub fn beside(vault: &Path) -> LoginFolder {
        LoginFolder::beside_on(Arc::new(SystemDisk), vault)
    }

    /// As [`LoginFolder::beside`], on a given disk: for tests in which its calls fail.
    pub fn beside_on(disk: Arc<dyn Disk>, vault: &Path) -> LoginFolder {
        let mut name = vault.file_name().unwrap_or_default().to_owned();
        name.push(".logins");
        LoginFolder { disk, path: vault.with_file_name(name), in_use: Arc::default() }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins to use a login; none if another container uses it.
    pub fn begin_to_use(&self, id: LoginId) -> Option<LoginInUse> {
        let is_free = self.in_use.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        is_free.then(|| LoginInUse { id, in_use: Arc::clone(&self.in_use) })
    }

    /// Writes a new file. When this returns it is durable; the vault that names it is to be written next.
    ///
    /// # Errors
    /// Those of the file system, and a folder that is open to others.
    pub fn write(&self, file: LoginFile, bytes: &[u8]) -> io::Result<()> {
        SafeFolder::open_or_make(&self.path).map_err(unsafe_folder)?;
        let path = self.file(file);
        let written = self.disk.write_new(&path, bytes).and_then(|()| self.disk.sync(&path));
        match written {
            // The file that is there belongs to a login.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(error) => {
                let _not_named_by_the_vault = self.disk.remove(&path);
                Err(error)
            }
            Ok(()) => self.disk.sync_folder(&self.path),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn read(&self, file: LoginFile) -> io::Result<Vec<u8>> {
        self.disk.read(&self.file(file), MAX_BYTES)
    }

    /// Removes every file that is none of these, once the vault that names these is durable. Files of other programs stay.
    ///
    /// # Errors
    /// Those of the file system; then a file without a login stays, which nothing opens any more.
    pub fn keep_only(&self, files: &[LoginFile]) -> io::Result<()> {
        let kept: Vec<PathBuf> = files.iter().map(|file| self.file(*file)).collect();
        let all = match self.disk.list(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => listed?,
        };
        let is_own = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
        for path in all.iter().filter(is_own).filter(|path| !kept.contains(path)) {
            self.disk.remove(path)?;
        }
        self.disk.sync_folder(&self.path)
    }

    fn file(&self, file: LoginFile) -> PathBuf {
        let name: String = file.0.iter().map(|byte| format!("{byte:02x}")).collect();
        self.path.join(format!("{name}.{ENDING}"))
    }
}

fn unsafe_folder(error: FolderError) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, error.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn files_are_private_and_those_without_a_login_go() {
        let home = tempfile::tempdir().unwrap();
        let folder = LoginFolder::beside(&home.path().join("my.vault"));
        assert!(folder.path().ends_with("my.vault.logins") && !folder.path().exists());
        folder.keep_only(&[]).unwrap();
        let [one, two] = [LoginFile([1; 16]), LoginFile([2; 16])];
        folder.write(one, b"sealed").unwrap();
        folder.write(two, b"sealed too").unwrap();
        assert_eq!(folder.write(one, b"again").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(folder.read(one).unwrap(), b"sealed");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(folder.path()), mode(&folder.file(one))), (0o700, 0o600));
        }
        std::fs::write(folder.path().join("notes.txt"), "the user's").unwrap();
        folder.keep_only(&[two]).unwrap();
        assert!(folder.read(one).is_err() && folder.read(two).is_ok());
        assert!(folder.path().join("notes.txt").exists());
    }

    #[test]
    fn one_container_at_a_time_uses_a_login() {
        let folder = LoginFolder::beside(Path::new("/nowhere/my.vault"));
        let shared = folder.clone();
        let used = folder.begin_to_use(LoginId([1; 16])).unwrap();
        assert!(shared.begin_to_use(LoginId([1; 16])).is_none());
        assert!(shared.begin_to_use(LoginId([2; 16])).is_some());
        drop(used);
        assert!(shared.begin_to_use(LoginId([1; 16])).is_some());
    }
}
