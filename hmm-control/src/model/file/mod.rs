//! Model files: our own form, and the two published ones.
//!
//! All are safetensors: a header that names tensors, then their numbers. Ours (`spec/hmm-file.md`) holds the
//! matrices as a decode step reads them, so that a mapped file is used in place. The published ones are converted
//! once. The library reads bytes and writes to a writer; the caller opens the files.

mod error;
mod format;
mod header;
#[cfg(feature = "map")]
mod map;
mod published;
mod source;

pub use error::{FileError, Form};
pub use format::ModelFile;
#[cfg(feature = "map")]
pub use map::{MapError, map_file};
pub use published::{ImportOptions, ImportReport, Renormalised};
