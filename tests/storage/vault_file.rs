//! The vault's file on a real disk: permissions, lock, backups, errors of the file system, and a true vault.
#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use portcullis::guard::SystemEntropy;
use portcullis::policy::{Policy, Verifier, authority};
use portcullis::storage::vault_file::{MAX_BYTES, VaultFile, VaultFileError};
use portcullis::storage::{AtomicFileError, Disk, FolderError, LockError, SystemDisk};
use portcullis::vault::{KdfParams, Secret, Vault};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("private/my.vault");
    (home, path)
}

/// A vault file that was saved twice: `three`, and before it `two` and `one`.
fn saved() -> (TempDir, PathBuf) {
    let (home, path) = place();
    let mut file = VaultFile::create(&path, b"one").unwrap();
    file.save(b"two").unwrap();
    file.save(b"three").unwrap();
    (home, path)
}

fn names(path: &Path) -> Vec<String> {
    let list = SystemDisk.list(path.parent().unwrap()).unwrap();
    list.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    path.with_file_name(format!("my.vault{ending}"))
}

#[test]
fn everything_is_private() {
    let (_home, path) = saved();
    let mut file = VaultFile::open(&path).unwrap();
    assert!(file.keep_original("v1").unwrap());
    file.save(b"four").unwrap();
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o7777, 0o700);
    let all = ["my.vault", "my.vault.backup-1", "my.vault.backup-2", "my.vault.lock", "my.vault.v1"];
    assert_eq!(names(&path), all);
    for name in all {
        assert_eq!(fs::metadata(path.with_file_name(name)).unwrap().mode() & 0o7777, 0o600, "{name}");
    }
}

#[test]
fn an_open_folder_is_refused_with_what_to_do() {
    let (home, path) = place();
    let folder = home.path().join("shared");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let message = VaultFile::create(&folder.join("my.vault"), b"one").err().unwrap().to_string();
    assert!(message.contains(&format!("run `chmod 700 {}`", folder.display())), "{message}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    VaultFile::create(&folder.join("private/my.vault"), b"one").unwrap();
    drop(VaultFile::create(&path, b"one").unwrap());
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o750)).unwrap();
    let refused =
        [VaultFile::open(&path).err(), VaultFile::read_only(&path).err(), VaultFile::holder(&path).err()];
    for refused in refused {
        assert!(matches!(refused, Some(VaultFileError::Folder(FolderError::Open { mode: 0o750, .. }))));
    }
}

#[test]
fn any_file_of_the_vault_that_is_not_private_is_refused() {
    for ending in ["", ".backup-1", ".backup-2", ".lock"] {
        let (home, path) = saved();
        let target = beside(&path, ending);
        let refused = |what: &str| {
            let of = VaultFile::open(&path).err();
            let is_unsafe =
                matches!(of, Some(VaultFileError::Folder(_) | VaultFileError::Lock(LockError::Unsafe(_))));
            assert!(is_unsafe, "{ending} {what}: {of:?}");
            assert!(VaultFile::open_to_restore(&path).is_err(), "{ending} {what}");
        };
        fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
        refused("readable by its group");
        fs::set_permissions(&target, Permissions::from_mode(0o600)).unwrap();
        fs::hard_link(&target, home.path().join("elsewhere")).unwrap();
        refused("linked");
        fs::remove_file(home.path().join("elsewhere")).unwrap();
        VaultFile::open(&path).unwrap();
        fs::rename(&target, home.path().join("moved")).unwrap();
        symlink(home.path().join("moved"), &target).unwrap();
        refused("a symbolic link");
    }
}

#[test]
fn a_second_program_gets_the_holders_process_id() {
    let (_home, path) = place();
    let file = VaultFile::create(&path, b"one").unwrap();
    let us = std::process::id();
    for second in [VaultFile::open(&path), VaultFile::create(&path, b"x"), VaultFile::open_to_restore(&path)]
    {
        let Err(VaultFileError::Lock(error)) = second else { panic!("two holders") };
        let LockError::InUse { pid, .. } = &error else { panic!("{error}") };
        assert_eq!(*pid, Some(us));
        assert!(error.to_string().ends_with(&format!("is in use by process {us}; end that program first")));
    }
    assert_eq!(VaultFile::holder(&path).unwrap(), Some(Some(us)));
    assert_eq!(VaultFile::read_only(&path).unwrap(), b"one");
    drop(file);
    assert_eq!(VaultFile::holder(&path).unwrap(), None);
    assert_eq!(VaultFile::open(&path).unwrap().bytes(), b"one");
}

#[test]
fn a_holder_without_a_process_id_is_not_guessed() {
    let (_home, path) = place();
    let file = VaultFile::create(&path, b"one").unwrap();
    for text in ["", "0\n", "12", "-3\n", "99999999999\n", "x\n", "1 2\n"] {
        fs::write(beside(&path, ".lock"), text).unwrap();
        assert_eq!(VaultFile::holder(&path).unwrap(), Some(None), "{text:?}");
    }
    drop(file);
    // The process id of a dead holder is ignored.
    fs::write(beside(&path, ".lock"), "1\n").unwrap();
    assert_eq!(VaultFile::holder(&path).unwrap(), None);
}

#[test]
fn many_threads_get_the_file_one_after_the_other() {
    let (_home, path) = place();
    drop(VaultFile::create(&path, &0_u64.to_le_bytes()).unwrap());
    let add = || {
        for _ in 0..20 {
            let mut file = loop {
                match VaultFile::open(&path) {
                    Ok(file) => break file,
                    Err(VaultFileError::Lock(LockError::InUse { .. })) => {}
                    Err(error) => panic!("{error}"),
                }
            };
            let count = u64::from_le_bytes(file.bytes().try_into().unwrap());
            file.save(&(count + 1).to_le_bytes()).unwrap();
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(add))));
    assert_eq!(VaultFile::read_only(&path).unwrap(), 80_u64.to_le_bytes());
}

/// A save gives the file a second name for a moment, within its folder.
#[test]
fn a_reader_without_a_lock_finds_a_whole_file_at_any_moment() {
    let (_home, path) = place();
    let mut file = VaultFile::create(&path, &[0; 9000]).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let bytes = VaultFile::read_only(&path).unwrap();
                assert!(bytes.len() == 9000 && bytes.iter().all(|byte| *byte == bytes[0]));
            }
        });
        (1..=250_u8).for_each(|round| file.save(&[round; 9000]).unwrap());
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_missing_file_leaves_no_lock_file() {
    let (_home, path) = saved();
    let before = names(&path);
    let other = path.with_file_name("other.vault");
    for result in [VaultFile::open(&other).map(drop), VaultFile::read_only(&other).map(drop)] {
        assert!(matches!(result, Err(VaultFileError::File(AtomicFileError::Missing { .. }))));
    }
    assert_eq!(VaultFile::holder(&other).unwrap(), None);
    assert_eq!(names(&path), before);
    for name in ["..", "/", "", "my.vault.backup-1", "my.vault.lock"] {
        assert!(VaultFile::create(&path.with_file_name(name), b"x").is_err(), "{name}");
    }
    assert_eq!(names(&path), before);
}

#[test]
fn drafts_of_a_crash_go_and_other_files_stay() {
    let (_home, path) = saved();
    let stays =
        ["my.vault.draft-12", "my.vault.draft-0123456789abcdeg", "other.draft-0123456789abcdef", "my.vault2"];
    for name in stays.iter().chain(&["my.vault.draft-0123456789abcdef"]) {
        fs::write(path.with_file_name(name), "x").unwrap();
    }
    drop(VaultFile::open(&path).unwrap());
    let left = names(&path);
    assert!(stays.iter().all(|name| left.contains(&(*name).to_owned())));
    assert!(!left.contains(&"my.vault.draft-0123456789abcdef".to_owned()));
}

#[test]
fn a_file_that_is_gone_comes_back_from_its_backup() {
    let (_home, path) = saved();
    fs::remove_file(&path).unwrap();
    for result in [VaultFile::open(&path), VaultFile::create(&path, b"x")] {
        let Err(VaultFileError::File(error)) = result else { panic!("made or opened") };
        assert!(matches!(error, AtomicFileError::OnlyBackups { count: 2, .. }), "{error}");
    }
    let mut file = VaultFile::open_to_restore(&path).unwrap();
    assert_eq!((file.bytes(), file.backups().unwrap()), (b"".as_slice(), vec![1, 2]));
    assert_eq!(file.read_backup(2).unwrap(), b"one");
    file.restore(1).unwrap();
    drop(file);
    assert_eq!(VaultFile::open(&path).unwrap().bytes(), b"two");
}

#[test]
fn a_file_that_is_too_long_is_neither_read_nor_written() {
    let (_home, path) = saved();
    let much = vec![0; usize::try_from(MAX_BYTES).unwrap() + 1];
    let mut file = VaultFile::open(&path).unwrap();
    assert!(matches!(file.save(&much), Err(VaultFileError::File(AtomicFileError::TooLong { .. }))));
    file.save(&much[1..]).unwrap();
    drop(file);
    assert_eq!(VaultFile::open(&path).unwrap().bytes().len() as u64, MAX_BYTES);
    File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
    assert!(matches!(VaultFile::open(&path), Err(VaultFileError::File(AtomicFileError::System { .. }))));
    assert!(VaultFile::read_only(&path).is_err());
    let mut file = VaultFile::open_to_restore(&path).unwrap();
    file.restore(1).unwrap();
    assert_eq!(file.bytes(), b"three");
    drop(file);
    assert_eq!(VaultFile::open(&path).unwrap().bytes(), b"three");
}

/// The operating system's disk, one call of which fails.
struct Failing {
    calls: AtomicUsize,
    at: usize,
    kind: ErrorKind,
}

impl Failing {
    fn next(&self) -> io::Result<()> {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at { Err(self.kind.into()) } else { Ok(()) }
    }
}

impl Disk for Failing {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.next().and_then(|()| SystemDisk.read(path, limit))
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.next().and_then(|()| SystemDisk.list(folder))
    }
    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self.next() {
            Ok(()) => SystemDisk.write_new(path, bytes),
            // The part that fitted on the full disk is written.
            failed => SystemDisk.write_new(path, &bytes[..bytes.len() / 2]).and(failed),
        }
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.next().and_then(|()| SystemDisk.append(path, bytes))
    }
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        self.next().and_then(|()| SystemDisk.truncate(path, length))
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.next().and_then(|()| SystemDisk.sync(path))
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.next().and_then(|()| SystemDisk.sync_folder(folder))
    }
    fn link(&self, path: &Path, second: &Path) -> io::Result<()> {
        self.next().and_then(|()| SystemDisk.link(path, second))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.next().and_then(|()| SystemDisk.rename(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.next().and_then(|()| SystemDisk.remove(path))
    }
}

#[test]
fn a_call_that_fails_leaves_the_file_usable_here_and_after_reopening() {
    for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
        let mut errors = 0;
        for at in 0.. {
            let (_home, path) = saved();
            let disk = Arc::new(Failing { calls: AtomicUsize::new(0), at, kind });
            let opened = VaultFile::open_on(disk.clone(), &path);
            let mut came = disk.calls.load(Ordering::Relaxed) > at;
            errors += usize::from(opened.is_err());
            if let Ok(mut file) = opened {
                let result = file.save(b"four");
                errors += usize::from(result.is_err());
                came = disk.calls.swap(usize::MAX / 2, Ordering::Relaxed) > at;
                let held = VaultFile::read_only(&path).unwrap();
                assert!(held == b"four" || (held == b"three" && result.is_err()), "{held:?}");
                assert_eq!(file.bytes(), if result.is_ok() { b"four".as_slice() } else { b"three" });
                file.save(b"five").unwrap();
                assert_eq!(file.read_backup(1).unwrap(), held);
            }
            let last = VaultFile::open(&path).unwrap().bytes().to_owned();
            assert!(last == b"five" || last == b"three");
            assert!(names(&path).iter().all(|name| !name.contains("draft") && !name.contains("replaced")));
            if !came {
                break;
            }
        }
        // Opening lists and reads twice; a save reads, writes, syncs, links, renames and syncs the folder.
        assert_eq!(errors, 3 + 6);
    }
}

fn verifier() -> Verifier {
    let policy = Policy::parse(portcullis::DEFAULT_POLICY).unwrap();
    authority(policy.compile().unwrap().check().unwrap(), [1; 16]).1
}

#[test]
fn a_vault_is_made_saved_restored_and_kept_in_its_old_format() {
    let (_home, path) = place();
    let passphrase = Secret::new("correct horse battery staple");
    let vault = Vault::create(&passphrase, &mut SystemEntropy, KdfParams::FLOOR, verifier()).unwrap();
    let first = vault.to_bytes(&mut SystemEntropy).unwrap();
    drop(VaultFile::create(&path, &first).unwrap());
    let mut file = VaultFile::open(&path).unwrap();
    let vault = Vault::unlock(file.bytes(), &passphrase, verifier()).unwrap();
    assert!(file.keep_original("v1").unwrap());
    file.save(&vault.to_bytes(&mut SystemEntropy).unwrap()).unwrap();
    assert!(file.bytes() != first);
    file.restore(1).unwrap();
    drop(file);
    let bytes = VaultFile::read_only(&path).unwrap();
    assert_eq!(bytes, first);
    assert_eq!(fs::read(beside(&path, ".v1")).unwrap(), first);
    assert_eq!(Vault::unlock(&bytes, &passphrase, verifier()).unwrap().id(), vault.id());
}
