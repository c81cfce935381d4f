//! The vault's file: private, locked by one program at a time, complete after every crash, with two backups.
//!
//! The crate `vault` defines the file's bytes: the owner of the [`Vault`](crate::vault::Vault) turns it into bytes and
//! saves them here. This module handles no passphrase and no value.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vault::Meta;

use super::{AtomicFile, AtomicFileError, Disk, FolderError, Lock, LockError, SafeFolder, SystemDisk};

/// The most bytes of a vault file: many times the size of a full vault.
pub const MAX_BYTES: u64 = 64 << 20;

/// The place where a guard stores the bytes of its vault.
pub trait VaultKeeper: Send {
    /// Replaces the stored bytes as a whole, or not at all, so that they survive a power cut. A session changes no stored value: it
    /// adds the passwords that it makes, and else only standing consents and the head of the audit log differ.
    ///
    /// # Errors
    /// Those of the storage. The old bytes are then still stored.
    fn save(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// An open vault file. No other program can open it for changes until this is dropped or the process ends in any way.
///
/// The file is in a folder of mode 0700. Reading without changing ([`VaultFile::read_only`]) takes no lock.
///
/// ```
/// use portcullis::storage::vault_file::VaultFile;
///
/// let home = tempfile::tempdir()?;
/// let path = home.path().join("private/my.vault");
/// VaultFile::create(&path, b"the bytes of a vault")?;
/// let mut file = VaultFile::open(&path)?;
/// file.save(b"the bytes of the changed vault")?;
/// assert_eq!(file.backups()?, [1]);
/// file.restore(1)?;
/// assert_eq!(file.bytes(), b"the bytes of a vault");
/// assert!(VaultFile::open(&path).is_err(), "it is in use");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VaultFile {
    file: AtomicFile,
    bytes: Vec<u8>,
    _lock: Lock,
}

/// Why a vault file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultFileError {
    /// The folder or a file in it is not safe.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another program has it open, or the lock cannot be acquired.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file cannot be made, read or saved.
    #[error(transparent)]
    File(#[from] AtomicFileError),
}

impl VaultFile {
    /// Makes the file, with its folder where that is missing, and opens it.
    ///
    /// # Errors
    /// [`AtomicFileError::Exists`] and [`AtomicFileError::OnlyBackups`] where a content would be lost; a folder that is
    /// open to others. A folder for the vault alone avoids that, such as `private/my.vault` in place of `my.vault`.
    pub fn create(path: &Path, bytes: &[u8]) -> Result<VaultFile, VaultFileError> {
        VaultFile::create_on(Arc::new(SystemDisk), path, bytes)
    }

    /// As [`VaultFile::create`], on a given disk: for tests in which its calls fail.
    ///
    /// # Errors
    /// As [`VaultFile::create`].
    pub fn create_on(disk: Arc<dyn Disk>, path: &Path, bytes: &[u8]) -> Result<VaultFile, VaultFileError> {
        let (folder, name) = parts(path)?;
        let folder = SafeFolder::open_or_make(folder)?;
        let mut opened = VaultFile::take(disk, &folder, name)?;
        opened.file.create(bytes)?;
        opened.bytes = bytes.to_owned();
        Ok(opened)
    }

    /// Opens the file for changes. An operation that a crash interrupted is finished or undone first.
    ///
    /// # Errors
    /// [`LockError::InUse`], a file that is missing, unsafe or too long, or those of the file system.
    pub fn open(path: &Path) -> Result<VaultFile, VaultFileError> {
        VaultFile::open_on(Arc::new(SystemDisk), path)
    }

    /// As [`VaultFile::open`], on a given disk: for tests in which its calls fail.
    ///
    /// # Errors
    /// As [`VaultFile::open`].
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path) -> Result<VaultFile, VaultFileError> {
        let (folder, name) = parts(path)?;
        let folder = SafeFolder::open(folder)?;
        // A mistyped name must not leave a lock file.
        existing(&disk, &folder, name)?;
        let mut opened = VaultFile::take(disk, &folder, name)?;
        opened.bytes = opened.file.read()?;
        Ok(opened)
    }

    /// Opens the file to restore a backup. The file itself may be gone or unreadable; then [`VaultFile::bytes`] is empty.
    ///
    /// # Errors
    /// As [`VaultFile::open`], except for those of the file itself.
    pub fn open_to_restore(path: &Path) -> Result<VaultFile, VaultFileError> {
        let (folder, name) = parts(path)?;
        let mut opened = VaultFile::take(Arc::new(SystemDisk), &SafeFolder::open(folder)?, name)?;
        opened.bytes = opened.file.read().unwrap_or_default();
        Ok(opened)
    }

    /// The file's bytes at this moment, also while another program has it open: a save replaces the file in one step, so
    /// the bytes are those before or after the save.
    ///
    /// # Errors
    /// A file that is missing, unsafe or too long, or those of the file system.
    pub fn read_only(path: &Path) -> Result<Vec<u8>, VaultFileError> {
        let (folder, name) = parts(path)?;
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        Ok(existing(&disk, &SafeFolder::open(folder)?, name)?.read()?)
    }

    /// Returns the process that has the file open, as [`Lock::holder`] does.
    ///
    /// # Errors
    /// A folder or lock file that is not safe.
    pub fn holder(path: &Path) -> Result<Option<Option<u32>>, VaultFileError> {
        let (folder, name) = parts(path)?;
        let folder = SafeFolder::open(folder)?;
        let file = AtomicFile::new(Arc::new(SystemDisk), folder.path(), name, MAX_BYTES)?;
        Ok(Lock::holder(&folder, &file.lock_name())?)
    }

    fn take(disk: Arc<dyn Disk>, folder: &SafeFolder, name: &str) -> Result<VaultFile, VaultFileError> {
        let file = AtomicFile::new(disk, folder.path(), name, MAX_BYTES)?;
        let lock = Lock::acquire(folder, &file.lock_name())?;
        for path in [file.path(), file.replaced(), file.backup(1), file.backup(2)] {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match folder.check_file(name) {
                Err(error) if error.is_missing() => {}
                checked => checked?,
            }
        }
        file.recover()?;
        Ok(VaultFile { file, bytes: Vec::new(), _lock: lock })
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// The bytes that were read, saved or restored last.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Replaces the file. The old bytes become the newest backup; a file of an older format is also stored permanently, as
    /// `NAME.v1`.
    ///
    /// # Errors
    /// Those of [`AtomicFile::save`]. The file then holds the old bytes or the new ones, complete; [`VaultFile::bytes`]
    /// has the old ones, and saving may be repeated.
    pub fn save(&mut self, bytes: &[u8]) -> Result<(), VaultFileError> {
        self.keep_older_format(bytes)?;
        self.file.save(bytes)?;
        self.bytes = bytes.to_owned();
        Ok(())
    }

    /// Replaces the file without a backup, for a change that replaces no value, such as a standing consent, the head of the
    /// audit log or a new password. Each task makes such changes, which would soon push out both backups.
    ///
    /// # Errors
    /// As [`VaultFile::save`].
    pub fn refresh(&mut self, bytes: &[u8]) -> Result<(), VaultFileError> {
        self.keep_older_format(bytes)?;
        self.file.refresh(bytes)?;
        self.bytes = bytes.to_owned();
        Ok(())
    }

    fn keep_older_format(&mut self, bytes: &[u8]) -> Result<(), VaultFileError> {
        if let (Ok(old), Ok(new)) = (Meta::read(&self.bytes), Meta::read(bytes))
            && old.format < new.format
        {
            self.keep_original(&format!("v{}", old.format))?;
        }
        Ok(())
    }

    /// Stores the present file as `NAME.LABEL` permanently. Returns whether it did: an existing file of that name is not
    /// changed.
    ///
    /// # Errors
    /// A label that is not 1 to 16 of `a-z 0-9`, or those of the file system.
    pub fn keep_original(&mut self, label: &str) -> Result<bool, VaultFileError> {
        Ok(self.file.keep_original(label)?)
    }

    /// The numbers of the existing backups, the newest first.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn backups(&self) -> Result<Vec<u8>, VaultFileError> {
        self.file.recover()?;
        Ok(self.file.backups()?)
    }

    /// The bytes of a backup, to examine before it is restored.
    ///
    /// # Errors
    /// [`AtomicFileError::NoBackup`], or those of the file system.
    pub fn read_backup(&self, number: u8) -> Result<Vec<u8>, VaultFileError> {
        self.file.recover()?;
        Ok(self.file.read_backup(number)?)
    }

    /// Restores a backup. The present content becomes the newest backup, and the other backup stays.
    ///
    /// # Errors
    /// [`AtomicFileError::NoBackup`], or as [`VaultFile::save`].
    pub fn restore(&mut self, number: u8) -> Result<(), VaultFileError> {
        self.bytes = self.file.restore(number)?;
        Ok(())
    }
}

/// Checks an existing file and changes nothing.
fn existing(disk: &Arc<dyn Disk>, folder: &SafeFolder, name: &str) -> Result<AtomicFile, VaultFileError> {
    let file = AtomicFile::new(disk.clone(), folder.path(), name, MAX_BYTES)?;
    match folder.check_file(name) {
        // The error of reading tells a file that has only backups from one that never existed.
        Err(error) if error.is_missing() => file.read().map(drop)?,
        checked => checked?,
    }
    Ok(file)
}

/// Splits a path into folder and name.
fn parts(path: &Path) -> Result<(&Path, &str), AtomicFileError> {
    let no_name = |why| AtomicFileError::Name { name: path.display().to_string(), why };
    let name = path.file_name().ok_or_else(|| no_name("it is not the name of a file"))?;
    let name = name.to_str().ok_or_else(|| no_name("it is not in UTF-8"))?;
    Ok((path.parent().unwrap_or(Path::new("")), name))
}

impl VaultKeeper for VaultFile {
    fn save(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.refresh(bytes).map_err(io::Error::other)
    }
}
