//! The folder with the service's socket and auth tokens.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use vault::Entropy;
use zeroize::Zeroizing;

use super::protocol::Role;
use crate::storage::{FolderError, Lock, LockError, SafeFolder};
use crate::system::loopback::Hidden;

/// Why a service's folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceFolderError {
    /// The folder is not private to the user.
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
        /// The system's error.
        error: io::Error,
    },
    /// A file that is no socket has the socket's name.
    #[error("{0} is no socket; move it away")]
    NoSocket(PathBuf),
    /// The environment names no place for the folder.
    #[error("neither XDG_RUNTIME_DIR nor HOME is set; name a folder with `--folder`")]
    NoHome,
}

/// The folder of one service.
#[derive(Debug, Clone)]
pub struct ServiceFolder {
    folder: SafeFolder,
}

/// The auth tokens of one start of the service, compared by hash.
pub(super) struct AuthTokens {
    by_role: Vec<(Role, Hidden)>,
    _lock: Lock,
}

impl ServiceFolder {
    /// The default folder for a service of this user: `portcullis` in `XDG_RUNTIME_DIR`, else
    /// `.portcullis/run` in the home folder.
    ///
    /// # Errors
    /// [`ServiceFolderError::NoHome`].
    pub fn usual() -> Result<PathBuf, ServiceFolderError> {
        let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let runtime = from("XDG_RUNTIME_DIR").map(|folder| folder.join("portcullis"));
        runtime
            .or_else(|| from("HOME").map(|home| home.join(".portcullis/run")))
            .ok_or(ServiceFolderError::NoHome)
    }

    /// Opens an existing folder. It must belong to the user and be closed to others.
    ///
    /// # Errors
    /// [`ServiceFolderError::Folder`].
    pub fn open(folder: &Path) -> Result<ServiceFolder, ServiceFolderError> {
        Ok(ServiceFolder { folder: SafeFolder::open(folder)? })
    }

    /// Opens a folder, and makes it if there is none.
    ///
    /// # Errors
    /// [`ServiceFolderError::Folder`].
    pub fn open_or_make(folder: &Path) -> Result<ServiceFolder, ServiceFolderError> {
        Ok(ServiceFolder { folder: SafeFolder::open_or_make(folder)? })
    }

    /// The path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// The auth token of a role, as the running service wrote it.
    ///
    /// # Errors
    /// [`ServiceFolderError`]; [`FolderError::is_missing`] tells that no service has used the folder.
    pub fn auth_token(&self, role: Role) -> Result<Zeroizing<String>, ServiceFolderError> {
        let name = role.as_str();
        self.folder.check_file(name)?;
        let path = self.folder.path().join(name);
        match fs::read_to_string(&path) {
            Ok(token) => Ok(Zeroizing::new(token)),
            Err(error) => Err(ServiceFolderError::File { path, error }),
        }
    }

    /// Claims the folder for a service that starts: makes new auth tokens, and removes an earlier service's socket.
    pub(super) fn claim(&self, entropy: &mut dyn Entropy) -> Result<AuthTokens, ServiceFolderError> {
        let lock = Lock::acquire(&self.folder, "service.lock")?;
        let socket = self.socket();
        match fs::symlink_metadata(&socket) {
            Ok(about) if about.file_type().is_socket() => self.remove("socket")?,
            Ok(_) => return Err(ServiceFolderError::NoSocket(socket)),
            Err(_) => {}
        }
        let mut by_role = Vec::new();
        for role in Role::ALL {
            let mut random = Zeroizing::new([0; 32]);
            entropy.fill(random.as_mut());
            let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            self.remove(role.as_str())?;
            self.write(role.as_str(), &token)?;
            by_role.push((role, Hidden::new(token)));
        }
        Ok(AuthTokens { by_role, _lock: lock })
    }

    fn remove(&self, name: &str) -> Result<(), ServiceFolderError> {
        let path = self.folder.path().join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ServiceFolderError::File { path, error })
            }
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), ServiceFolderError> {
        let path = self.folder.path().join(name);
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        written
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| ServiceFolderError::File { path, error })
    }
}

impl AuthTokens {
    /// Whether this is the auth token of a role.
    pub(super) fn matches(&self, role: Role, token: &str) -> bool {
        self.by_role.iter().any(|(known, hidden)| *known == role && hidden.is(token))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::guard::SystemEntropy;

    #[test]
    fn auth_tokens_are_new_with_every_start_and_each_is_for_one_role() {
        let home = tempfile::tempdir().unwrap();
        let folder = ServiceFolder::open_or_make(&home.path().join("run")).unwrap();
        assert!(
            matches!(folder.auth_token(Role::Agent), Err(ServiceFolderError::Folder(error)) if error.is_missing())
        );
        let tokens = folder.claim(&mut SystemEntropy).unwrap();
        let agent = folder.auth_token(Role::Agent).unwrap();
        assert!(tokens.matches(Role::Agent, &agent));
        assert!(!tokens.matches(Role::User, &agent) && !tokens.matches(Role::Extension, &agent));
        assert!(!tokens.matches(Role::Agent, "") && !tokens.matches(Role::Agent, agent.get(1..).unwrap()));
        assert!(
            matches!(folder.claim(&mut SystemEntropy), Err(ServiceFolderError::Busy(_))),
            "one service at a time"
        );
        drop(tokens);
        let tokens = folder.claim(&mut SystemEntropy).unwrap();
        assert!(!tokens.matches(Role::Agent, &agent), "the token of the earlier start");
    }

    #[test]
    fn a_folder_that_others_reach_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("run");
        ServiceFolder::open_or_make(&own).unwrap();
        let link = home.path().join("link");
        symlink(&own, &link).unwrap();
        assert!(matches!(
            ServiceFolder::open_or_make(&link),
            Err(ServiceFolderError::Folder(FolderError::Symlink { .. }))
        ));
        fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(
            ServiceFolder::open_or_make(&own),
            Err(ServiceFolderError::Folder(FolderError::Open { .. }))
        ));
        assert!(ServiceFolder::open(&own).is_err());
    }

    #[test]
    fn a_file_that_is_no_socket_is_not_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = ServiceFolder::open_or_make(&home.path().join("run")).unwrap();
        fs::write(folder.socket(), "a letter").unwrap();
        assert!(matches!(folder.claim(&mut SystemEntropy), Err(ServiceFolderError::NoSocket(_))));
        assert!(folder.socket().exists());
    }
}
