//! The layout of a vault file, as `spec/vault.md` lays it down byte by byte.

mod field_code;
mod header;
mod list;
mod manifest;
mod migrate;
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use header::Header;
pub(crate) use manifest::{Contents, MOST_RECORDS, read, write};
pub(crate) use migrate::{Migrated, migrate};
