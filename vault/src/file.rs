//! The layout of a vault file, as `spec/vault.md` lays it down byte by byte.

mod header;
mod manifest;
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use header::Header;
pub(crate) use manifest::{Contents, MOST_RECORDS, read, write};
