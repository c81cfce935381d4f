//! Files that a crash or a power cut leaves in the old or the new state, never between (I10), and that no other user
//! can read. `spec/storage.md` is the full description.
//!
//! | module | subject |
//! |---|---|
//! | [`disk`] | the file-system calls of a durable write |
//! | [`folder`] | a folder that is private to its owner |
//! | [`exclusive_file`] | a file that one program at a time has open |
//! | [`lock`] | a lock file that admits one program at a time |
//! | [`atomic_file`] | a file that is replaced as a whole, with two backups |
//! | [`login_folder`] | the files of saved logins |
//! | [`vault_file`] | the vault's file |
//! | [`vault_lock`] | locking the vault of a running guard |

pub mod atomic_file;
pub mod disk;
pub mod exclusive_file;
pub mod folder;
pub mod lock;
#[cfg(feature = "browser")]
pub mod login_folder;
#[cfg(feature = "browser")]
pub mod vault_file;
#[cfg(feature = "browser")]
pub mod vault_lock;

pub use atomic_file::{AtomicFile, AtomicFileError};
pub use disk::{Disk, SystemDisk};
pub use exclusive_file::ExclusiveFile;
pub use folder::{FolderError, SafeFolder};
pub use lock::{Lock, LockError};
