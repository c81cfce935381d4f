//! A folder and its files are refused unless they belong to the user and are closed to all others.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use portcullis::storage::{Disk, FolderError, SafeFolder, SystemDisk};
use tempfile::TempDir;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn place() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("private");
    (home, path)
}

#[test]
fn a_made_folder_is_private_and_so_are_those_above_it() {
    let (home, _) = place();
    let folder = SafeFolder::open_or_make(&home.path().join("one/two/three/")).unwrap();
    assert_eq!(folder.path(), home.path().join("one/two/three"));
    for made in ["one", "one/two", "one/two/three"] {
        assert_eq!(fs::metadata(home.path().join(made)).unwrap().mode() & 0o777, 0o700, "{made}");
    }
    assert_eq!(SafeFolder::open_or_make(folder.path()).unwrap(), folder);
}

#[test]
fn a_folder_that_does_not_exist_is_missing() {
    let (_home, path) = place();
    assert!(SafeFolder::open(&path).unwrap_err().is_missing());
    fs::write(&path, "").unwrap();
    let message = SafeFolder::open_or_make(&path).unwrap_err().to_string();
    assert!(message.ends_with("private is not a folder"), "{message}");
    assert!(SafeFolder::open_or_make(&path.join("below")).is_err());
}

/// Every combination of the permission bits of group and others, for a folder and for a file.
#[test]
fn any_permission_of_others_is_refused() {
    let (_home, path) = place();
    let folder = SafeFolder::open_or_make(&path).unwrap();
    let file = path.join("f");
    fs::write(&file, "").unwrap();
    for others in 0..0o100 {
        chmod(&path, 0o700 | others);
        chmod(&file, 0o600 | others);
        let found = (SafeFolder::open_or_make(&path), folder.check_file("f"));
        if others == 0 {
            assert!(found.0.is_ok() && found.1.is_ok());
            continue;
        }
        let (Err(FolderError::Open { mode, mend: 0o700, .. }), Err(at_file)) = found else {
            panic!("{others:o}");
        };
        assert_eq!(mode, 0o700 | others);
        assert!(matches!(at_file, FolderError::Open { mode, mend: 0o600, .. } if mode == 0o600 | others));
    }
    chmod(&path, 0o755);
    let message = SafeFolder::open(&path).unwrap_err().to_string();
    let advice = format!("(mode 0755); run `chmod 700 {}`, or use a new folder", path.display());
    assert!(message.ends_with(&advice), "{message}");
}

#[test]
fn a_symbolic_link_is_refused_however_it_is_written() {
    let (home, path) = place();
    let folder = SafeFolder::open_or_make(&path).unwrap();
    let link = home.path().join("link");
    symlink(&path, &link).unwrap();
    for written in [link.clone(), link.join(""), link.join(".")] {
        assert!(matches!(SafeFolder::open(&written), Err(FolderError::Symlink { .. })), "{written:?}");
        assert!(matches!(SafeFolder::open_or_make(&written), Err(FolderError::Symlink { .. })));
    }
    let dangling = home.path().join("dangling");
    symlink(home.path().join("nowhere"), &dangling).unwrap();
    assert!(matches!(SafeFolder::open_or_make(&dangling), Err(FolderError::Symlink { .. })));
    fs::write(path.join("target"), "").unwrap();
    chmod(&path.join("target"), 0o600);
    symlink("target", path.join("f")).unwrap();
    assert!(matches!(folder.check_file("f"), Err(FolderError::Symlink { .. })));
    let disk = SystemDisk;
    let linked = path.join("f");
    assert!(disk.read(&linked, 9).is_err() && disk.append(&linked, b"x").is_err());
    assert!(disk.sync(&linked).is_err() && disk.truncate(&linked, 0).is_err());
    assert!(disk.write_new(&linked, b"x").is_err() && disk.sync_folder(&link).is_err());
}

/// As root the test gives files away; as another user it finds a folder of root.
#[test]
fn files_of_another_user_are_refused() {
    let (_home, path) = place();
    let folder = SafeFolder::open_or_make(&path).unwrap();
    fs::write(path.join("f"), "").unwrap();
    chmod(&path.join("f"), 0o600);
    if chown(&path, Some(12_345), None).is_ok() {
        assert!(matches!(SafeFolder::open(&path), Err(FolderError::Owner { owner: 12_345, .. })));
        chown(path.join("f"), Some(12_345), None).unwrap();
        assert!(matches!(folder.check_file("f"), Err(FolderError::Owner { owner: 12_345, .. })));
    } else {
        assert!(matches!(SafeFolder::open(Path::new("/")), Err(FolderError::Owner { owner: 0, .. })));
    }
}

#[test]
fn other_than_regular_files_are_refused_without_waiting_for_them() {
    let (_home, path) = place();
    let folder = SafeFolder::open_or_make(&path).unwrap();
    fs::create_dir(path.join("d")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg("-m600").arg(path.join("p")).status().unwrap();
    assert!(pipe.success());
    for name in ["d", "p"] {
        assert!(matches!(folder.check_file(name), Err(FolderError::Kind { .. })), "{name}");
        assert!(SystemDisk.read(&path.join(name), 9).is_err());
        assert!(SystemDisk.sync(&path.join(name)).is_err());
    }
    assert!(folder.check_file("nothing").unwrap_err().is_missing());
    assert_eq!(SystemDisk.list(&path).unwrap(), [path.join("p")]);
}

#[test]
fn a_second_name_may_be_in_the_folder_and_nowhere_else() {
    let (home, path) = place();
    let folder = SafeFolder::open_or_make(&path).unwrap();
    SystemDisk.write_new(&path.join("f"), b"x").unwrap();
    SystemDisk.link(&path.join("f"), &path.join("f.backup-1")).unwrap();
    folder.check_file("f").unwrap();
    let elsewhere = home.path().join("elsewhere");
    SystemDisk.link(&path.join("f"), &elsewhere).unwrap();
    let refused = folder.check_file("f");
    assert!(matches!(refused, Err(FolderError::Linked { names: 3, here: 2, .. })), "{refused:?}");
    fs::remove_file(elsewhere).unwrap();
    folder.check_file("f").unwrap();
}
