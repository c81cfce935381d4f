//! The place of KeePassXC's socket, and whose it is.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::KeePassXcError;

/// The name of the socket on every Unix system.
const NAME: &str = "org.keepassxc.KeePassXC.BrowserServer";

/// The folder of its own that the socket has on Linux since 2.7.2, also under Flatpak.
const FOLDER: &str = "app/org.keepassxc.KeePassXC";

/// Finds the socket below a runtime folder and returns its path without links.
///
/// The runtime folder is `$XDG_RUNTIME_DIR` on Linux, `$TMPDIR` on macOS, and `~/snap/keepassxc/common` for
/// KeePassXC as a snap.
///
/// # Errors
/// [`KeePassXcError::NoSocket`], or [`KeePassXcError::UnsafeSocket`].
pub fn find(runtime: &Path) -> Result<PathBuf, KeePassXcError> {
    // The second path is a link to the first on Linux, and the only one on macOS and for the snap.
    let places = [runtime.join(FOLDER).join(NAME), runtime.join(NAME)];
    let Some(place) = places.iter().find(|place| fs::symlink_metadata(place).is_ok()) else {
        return Err(KeePassXcError::NoSocket);
    };
    check(place)
}

/// Refuses a socket that another user owns or could replace, and returns its path without links.
///
/// # Errors
/// [`KeePassXcError::NoSocket`], or [`KeePassXcError::UnsafeSocket`].
pub fn check(socket: &Path) -> Result<PathBuf, KeePassXcError> {
    // A link to a socket that is gone is left behind by a KeePassXC that ended.
    let path = fs::canonicalize(socket).map_err(|_| KeePassXcError::NoSocket)?;
    let folder = path.parent().ok_or(KeePassXcError::NoSocket)?;
    let about = |path: &Path| fs::symlink_metadata(path).map_err(|_| KeePassXcError::NoSocket);
    let fault = |path: &Path, reason| Err(KeePassXcError::UnsafeSocket { path: path.to_owned(), reason });
    let user = rustix::process::geteuid().as_raw();
    // A KeePassXC with a lax umask makes folders that a group may write. Nobody reaches them in a closed folder.
    let is_closed = |about: &Metadata| about.uid() == user && about.mode() & 0o077 == 0;
    let in_closed_folder = folder.ancestors().any(|above| about(above).is_ok_and(|about| is_closed(&about)));
    if !about(&path)?.file_type().is_socket() {
        return fault(&path, "is not a socket");
    }
    for part in [&*path, folder] {
        let about = about(part)?;
        if about.uid() != user {
            return fault(part, "belongs to another user");
        }
        if about.mode() & 0o022 != 0 && !in_closed_folder {
            return fault(part, "may be written by others");
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    use super::{FOLDER, KeePassXcError, NAME, check, find};

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn reason(path: &Path) -> &'static str {
        match check(path) {
            Err(KeePassXcError::UnsafeSocket { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_socket_is_found_in_both_places() {
        let runtime = tempfile::tempdir().unwrap();
        assert_eq!(find(runtime.path()), Err(KeePassXcError::NoSocket));
        let _listener = UnixListener::bind(runtime.path().join(NAME)).unwrap();
        assert!(find(runtime.path()).unwrap().ends_with(NAME));
        fs::create_dir_all(runtime.path().join(FOLDER)).unwrap();
        let _second = UnixListener::bind(runtime.path().join(FOLDER).join(NAME)).unwrap();
        assert!(find(runtime.path()).unwrap().ends_with(Path::new(FOLDER).join(NAME)));
    }

    #[test]
    fn a_link_to_nothing_is_no_socket() {
        let runtime = tempfile::tempdir().unwrap();
        symlink(runtime.path().join("gone"), runtime.path().join(NAME)).unwrap();
        assert_eq!(find(runtime.path()), Err(KeePassXcError::NoSocket));
    }

    #[test]
    fn what_others_may_change_is_refused() {
        let open = tempfile::tempdir().unwrap();
        set(open.path(), 0o755);
        let folder = open.path().join("folder");
        fs::create_dir(&folder).unwrap();
        set(&folder, 0o755);
        let socket = folder.join(NAME);
        let _listener = UnixListener::bind(&socket).unwrap();
        set(&socket, 0o700);
        assert!(check(&socket).is_ok());
        set(&socket, 0o720);
        assert_eq!(reason(&socket), "may be written by others");
        set(&socket, 0o700);
        set(&folder, 0o777);
        assert_eq!(reason(&socket), "may be written by others");
        set(open.path(), 0o700);
        assert!(check(&socket).is_ok(), "nobody else reaches it");
        fs::write(folder.join("file"), "").unwrap();
        assert_eq!(reason(&folder.join("file")), "is not a socket");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&socket, Some(65534), None).unwrap();
            assert_eq!(reason(&socket), "belongs to another user");
        }
    }
}
