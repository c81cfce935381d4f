//! The vault's file: closed to others, one program at a time, whole after every crash, with two backups.
//!
//! The file's bytes are the crate `vault`'s business: whoever holds the [`Vault`](crate::vault::Vault) turns it
//! into bytes and saves them here. No passphrase or value comes by.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use vault::Meta;

use crate::guard::VaultKeeper;
use crate::storage::{Disk, FolderError, KeepError, KeptFile, Lock, LockError, SafeFolder, SystemDisk};

/// The longest vault file that is read or saved, in bytes: many times what a full vault needs.
pub const LONGEST: u64 = 64 << 20;

/// An open vault file. Nobody else can open it for changes until this is dropped; a process that ends in
/// whatever way drops it.
///
/// The file lies in a folder of mode 0700. Reading without changing ([`VaultFile::read_only`]) takes no lock.
///
/// ```
/// use portcullis::vault_file::VaultFile;
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
    kept: KeptFile,
    bytes: Vec<u8>,
    _lock: Lock,
}

/// Why a vault file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VaultFileError {
    /// The folder or a file in it is not safe.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another program has it open, or the lock cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file cannot be made, read or saved.
    #[error(transparent)]
    Keep(#[from] KeepError),
}

impl VaultFile {
    /// Makes the file, and its folder where that is missing, and keeps it open.
    ///
    /// # Errors
    /// [`KeepError::Exists`] and [`KeepError::OnlyBackups`] where something would be lost; a folder that is open
    /// to others: one for the vault alone mends it, such as `private/my.vault` in place of `my.vault`.
    pub fn create(path: &Path, bytes: &[u8]) -> Result<VaultFile, VaultFileError> {
        VaultFile::create_on(Arc::new(SystemDisk), path, bytes)
    }

    /// As [`VaultFile::create`], by way of a given disk: for tests that let its calls fail.
    ///
    /// # Errors
    /// As [`VaultFile::create`].
    pub fn create_on(disk: Arc<dyn Disk>, path: &Path, bytes: &[u8]) -> Result<VaultFile, VaultFileError> {
        let (folder, name) = parts(path)?;
        let folder = SafeFolder::open_or_make(folder)?;
        let mut file = VaultFile::take(disk, &folder, name)?;
        file.kept.create(bytes)?;
        file.bytes = bytes.to_owned();
        Ok(file)
    }

    /// Opens the file for changes. What a crash left half done is finished or taken back first.
    ///
    /// # Errors
    /// [`LockError::InUse`], a file that is missing, unsafe or too long, or that of the file system.
    pub fn open(path: &Path) -> Result<VaultFile, VaultFileError> {
        VaultFile::open_on(Arc::new(SystemDisk), path)
    }

    /// As [`VaultFile::open`], by way of a given disk: for tests that let its calls fail.
    ///
    /// # Errors
    /// As [`VaultFile::open`].
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path) -> Result<VaultFile, VaultFileError> {
        let (folder, name) = parts(path)?;
        let folder = SafeFolder::open(folder)?;
        // A name that was mistyped must not leave a lock file.
        look(&disk, &folder, name)?;
        let mut file = VaultFile::take(disk, &folder, name)?;
        file.bytes = file.kept.read()?;
        Ok(file)
    }

    /// Opens the file to put back a backup, where the file itself is gone or cannot be read; then
    /// [`VaultFile::bytes`] is empty.
    ///
    /// # Errors
    /// As [`VaultFile::open`], but for the file itself.
    pub fn open_to_restore(path: &Path) -> Result<VaultFile, VaultFileError> {
        let (folder, name) = parts(path)?;
        let mut file = VaultFile::take(Arc::new(SystemDisk), &SafeFolder::open(folder)?, name)?;
        file.bytes = file.kept.read().unwrap_or_default();
        Ok(file)
    }

    /// The file's bytes at this moment, whether somebody has it open or not: a save replaces it in one step, so
    /// they are those of before a save or after it.
    ///
    /// # Errors
    /// A file that is missing, unsafe or too long, or that of the file system.
    pub fn read_only(path: &Path) -> Result<Vec<u8>, VaultFileError> {
        let (folder, name) = parts(path)?;
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        Ok(look(&disk, &SafeFolder::open(folder)?, name)?.read()?)
    }

    /// Whether somebody has the file open, and which process, as [`Lock::holder`] says it.
    ///
    /// # Errors
    /// A folder or lock file that is not safe.
    pub fn holder(path: &Path) -> Result<Option<Option<u32>>, VaultFileError> {
        let (folder, name) = parts(path)?;
        let folder = SafeFolder::open(folder)?;
        let kept = KeptFile::new(Arc::new(SystemDisk), folder.path(), name, LONGEST)?;
        Ok(Lock::holder(&folder, &kept.lock_name())?)
    }

    fn take(disk: Arc<dyn Disk>, folder: &SafeFolder, name: &str) -> Result<VaultFile, VaultFileError> {
        let kept = KeptFile::new(disk, folder.path(), name, LONGEST)?;
        let lock = Lock::acquire(folder, &kept.lock_name())?;
        for path in [kept.path(), kept.replaced(), kept.backup(1), kept.backup(2)] {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match folder.check_file(name) {
                Err(error) if error.is_missing() => {}
                checked => checked?,
            }
        }
        kept.recover()?;
        Ok(VaultFile { kept, bytes: Vec::new(), _lock: lock })
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.kept.path()
    }

    /// The bytes that were read, saved or restored last.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Replaces the file. The bytes before become the newest backup; a file of an older format is also kept for
    /// good, as `NAME.v1`.
    ///
    /// # Errors
    /// Then the file holds the old bytes or the new, whole; [`VaultFile::bytes`] has the old ones, and saving
    /// may be tried again.
    pub fn save(&mut self, bytes: &[u8]) -> Result<(), VaultFileError> {
        self.keep_older_format(bytes)?;
        self.kept.save(bytes)?;
        self.bytes = bytes.to_owned();
        Ok(())
    }

    /// Replaces the file and keeps no backup of the bytes before: for a change that touches no value, such as an
    /// answer that stands or the head of the audit log. Each task makes some, and two backups are soon pushed out.
    ///
    /// # Errors
    /// As [`VaultFile::save`].
    pub fn refresh(&mut self, bytes: &[u8]) -> Result<(), VaultFileError> {
        self.keep_older_format(bytes)?;
        self.kept.refresh(bytes)?;
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

    /// Keeps the file as it is under the name `NAME.LABEL` for good, and says whether it did; one that has the
    /// name is left alone.
    ///
    /// # Errors
    /// A label that is not 1 to 16 of `a-z 0-9`, or that of the file system.
    pub fn keep_original(&mut self, label: &str) -> Result<bool, VaultFileError> {
        Ok(self.kept.keep_original(label)?)
    }

    /// The numbers of the backups that there are, the newest first.
    ///
    /// # Errors
    /// That of the file system.
    pub fn backups(&self) -> Result<Vec<u8>, VaultFileError> {
        self.kept.recover()?;
        Ok(self.kept.backups()?)
    }

    /// The bytes of a backup, to look at before it is put back.
    ///
    /// # Errors
    /// [`KeepError::NoBackup`], or that of the file system.
    pub fn read_backup(&self, number: u8) -> Result<Vec<u8>, VaultFileError> {
        self.kept.recover()?;
        Ok(self.kept.read_backup(number)?)
    }

    /// Puts a backup back. What the file held becomes the newest backup, and the other backup stays.
    ///
    /// # Errors
    /// [`KeepError::NoBackup`], or as [`VaultFile::save`].
    pub fn restore(&mut self, number: u8) -> Result<(), VaultFileError> {
        self.bytes = self.kept.restore(number)?;
        Ok(())
    }
}

/// The file as it lies there, without changing anything.
fn look(disk: &Arc<dyn Disk>, folder: &SafeFolder, name: &str) -> Result<KeptFile, VaultFileError> {
    let kept = KeptFile::new(disk.clone(), folder.path(), name, LONGEST)?;
    match folder.check_file(name) {
        // Reading tells whether there are backups.
        Err(error) if error.is_missing() => kept.read().map(drop)?,
        checked => checked?,
    }
    Ok(kept)
}

/// A file's folder and name.
fn parts(path: &Path) -> Result<(&Path, &str), KeepError> {
    let no_name = |why| KeepError::Name { name: path.display().to_string(), why };
    let name = path.file_name().ok_or_else(|| no_name("it is not the name of a file"))?;
    let name = name.to_str().ok_or_else(|| no_name("it is not in UTF-8"))?;
    Ok((path.parent().unwrap_or(Path::new("")), name))
}

impl VaultKeeper for VaultFile {
    fn save(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.refresh(bytes).map_err(std::io::Error::other)
    }
}
