//! Files that a crash or a power cut leaves at the old or the new state, never between (I10).
//!
//! | module | subject |
//! |---|---|
//! | [`disk`] | the file-system calls that a durable write is made of |

pub mod disk;

pub use disk::{Disk, SystemDisk};
