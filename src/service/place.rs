//! The folder with the socket and the words of pairing.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use vault::Entropy;
use zeroize::Zeroizing;

use super::protocol::Role;
use crate::loopback::Hidden;
use crate::storage::{FolderError, Lock, LockError, SafeFolder};

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// It is not the user's alone.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another service uses it.
    #[error("another service is running: {0}")]
    Busy(#[from] LockError),
    /// A file in it cannot be used.
    #[error("{path} cannot be used: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's word for it.
        error: io::Error,
    },
    /// Something else has the socket's name.
    #[error("{0} is no socket; move it away")]
    NoSocket(PathBuf),
    /// There is no environment to make a folder's name from.
    #[error("neither XDG_RUNTIME_DIR nor HOME is set; name a folder with `--folder`")]
    NoHome,
}

/// A folder for one service.
#[derive(Debug, Clone)]
pub struct ServicePlace {
    folder: SafeFolder,
}

/// The words of pairing of one start, by their hashes.
pub(super) struct Words {
    by_role: Vec<(Role, Hidden)>,
    _lock: Lock,
}

impl ServicePlace {
    /// The folder where a service of this user is looked for: `portcullis` in `XDG_RUNTIME_DIR`, else
    /// `.portcullis/run` in the home folder.
    ///
    /// # Errors
    /// [`PlaceError::NoHome`].
    pub fn usual() -> Result<PathBuf, PlaceError> {
        let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let runtime = from("XDG_RUNTIME_DIR").map(|folder| folder.join("portcullis"));
        runtime.or_else(|| from("HOME").map(|home| home.join(".portcullis/run"))).ok_or(PlaceError::NoHome)
    }

    /// A folder that is there. It must be the user's own and closed to others.
    ///
    /// # Errors
    /// [`PlaceError::Folder`].
    pub fn open(folder: &Path) -> Result<ServicePlace, PlaceError> {
        Ok(ServicePlace { folder: SafeFolder::open(folder)? })
    }

    /// A folder, made where there is none.
    ///
    /// # Errors
    /// [`PlaceError::Folder`].
    pub fn open_or_make(folder: &Path) -> Result<ServicePlace, PlaceError> {
        Ok(ServicePlace { folder: SafeFolder::open_or_make(folder)? })
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// The word of pairing for a role, as the running service wrote it.
    ///
    /// # Errors
    /// [`PlaceError`]; [`FolderError::is_missing`] tells that no service has been here.
    pub fn word(&self, role: Role) -> Result<Zeroizing<String>, PlaceError> {
        let name = role.as_str();
        self.folder.check_file(name)?;
        let path = self.folder.path().join(name);
        match fs::read_to_string(&path) {
            Ok(word) => Ok(Zeroizing::new(word)),
            Err(error) => Err(PlaceError::File { path, error }),
        }
    }

    /// Takes the folder for a service that starts: new words of pairing, and no socket of an earlier one.
    pub(super) fn take(&self, entropy: &mut dyn Entropy) -> Result<Words, PlaceError> {
        let lock = Lock::acquire(&self.folder, "service.lock")?;
        let socket = self.socket();
        match fs::symlink_metadata(&socket) {
            Ok(about) if about.file_type().is_socket() => self.remove("socket")?,
            Ok(_) => return Err(PlaceError::NoSocket(socket)),
            Err(_) => {}
        }
        let mut by_role = Vec::new();
        for role in Role::ALL {
            let mut random = Zeroizing::new([0; 32]);
            entropy.fill(random.as_mut());
            let word: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            self.remove(role.as_str())?;
            self.write(role.as_str(), &word)?;
            by_role.push((role, Hidden::new(word)));
        }
        Ok(Words { by_role, _lock: lock })
    }

    fn remove(&self, name: &str) -> Result<(), PlaceError> {
        let path = self.folder.path().join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(PlaceError::File { path, error }),
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), PlaceError> {
        let path = self.folder.path().join(name);
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        written
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| PlaceError::File { path, error })
    }
}

impl Words {
    /// Whether this is the word for a role.
    pub(super) fn fit(&self, role: Role, word: &str) -> bool {
        self.by_role.iter().any(|(known, hidden)| *known == role && hidden.is(word))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::guard::SystemEntropy;

    #[test]
    fn words_are_new_with_every_start_and_each_is_for_one_role() {
        let home = tempfile::tempdir().unwrap();
        let place = ServicePlace::open_or_make(&home.path().join("run")).unwrap();
        assert!(matches!(place.word(Role::Agent), Err(PlaceError::Folder(error)) if error.is_missing()));
        let words = place.take(&mut SystemEntropy).unwrap();
        let agent = place.word(Role::Agent).unwrap();
        assert!(words.fit(Role::Agent, &agent));
        assert!(!words.fit(Role::User, &agent) && !words.fit(Role::Extension, &agent));
        assert!(!words.fit(Role::Agent, "") && !words.fit(Role::Agent, agent.get(1..).unwrap()));
        assert!(matches!(place.take(&mut SystemEntropy), Err(PlaceError::Busy(_))), "one service at a time");
        drop(words);
        let words = place.take(&mut SystemEntropy).unwrap();
        assert!(!words.fit(Role::Agent, &agent), "the word of the start before");
    }

    #[test]
    fn a_folder_that_others_reach_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("run");
        ServicePlace::open_or_make(&own).unwrap();
        let link = home.path().join("link");
        symlink(&own, &link).unwrap();
        assert!(matches!(
            ServicePlace::open_or_make(&link),
            Err(PlaceError::Folder(FolderError::Symlink { .. }))
        ));
        fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(
            ServicePlace::open_or_make(&own),
            Err(PlaceError::Folder(FolderError::Open { .. }))
        ));
        assert!(ServicePlace::open(&own).is_err());
    }

    #[test]
    fn what_is_no_socket_is_not_removed() {
        let home = tempfile::tempdir().unwrap();
        let place = ServicePlace::open_or_make(&home.path().join("run")).unwrap();
        fs::write(place.socket(), "a letter").unwrap();
        assert!(matches!(place.take(&mut SystemEntropy), Err(PlaceError::NoSocket(_))));
        assert!(place.socket().exists());
    }
}
