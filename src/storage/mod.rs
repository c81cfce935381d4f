//! Files that a crash or a power cut leaves at the old or the new state, never between (I10), and that
//! nobody else can read.
//!
//! | module | subject |
//! |---|---|
//! | [`disk`] | the file-system calls that a durable write is made of |
//! | [`folder`] | a folder closed to everybody else |

pub mod disk;
pub mod folder;

pub use disk::{Disk, SystemDisk};
pub use folder::{FolderError, SafeFolder};
