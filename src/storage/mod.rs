//! Files that a crash or a power cut leaves at the old or the new state, never between (I10), and that
//! nobody else can read. `spec/storage.md` has the whole of it.
//!
//! | module | subject |
//! |---|---|
//! | [`disk`] | the file-system calls that a durable write is made of |
//! | [`folder`] | a folder closed to everybody else |
//! | [`lock`] | one program at a time |
//! | [`replace`] | a file that is replaced whole, with two backups |

pub mod disk;
pub mod folder;
pub mod lock;
pub mod replace;

pub use disk::{Disk, SystemDisk};
pub use folder::{FolderError, SafeFolder};
pub use lock::{Lock, LockError};
pub use replace::{KeepError, KeptFile};
