//! An export of the stored values that other programs can read: one JSON document in an age file, under a
//! passphrase of its own (`age -d` opens it). It is no backup, since states and the signing key are not in it.
//!
//! It needs the feature `export`, because `age` reads the system's clock to measure the machine's speed, though the
//! cost is then set here, and draws its own random bytes. Nothing else in this crate does either.
//!
//! | module | subject |
//! |---|---|
//! | [`copy`] | writing an export, and importing one |
//! | [`error`] | the errors of an import |
//!
//! Inside: `document` (the JSON document, and the age file around it).

mod copy;
mod document;
pub mod error;
#[cfg(test)]
mod tests;

pub use copy::{ExportCost, Imported};
pub use error::ImportError;
