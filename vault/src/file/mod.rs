//! The layout of a vault file, byte by byte as in `spec/vault.md`.
//!
//! | module | subject |
//! |---|---|
//! | [`reader`] | bytes taken from the front of a file |
//! | [`header`] | the plain part: costs of the passphrase, wrapped data key |
//! | [`list`] | the list of the sealed parts |
//! | [`manifest`] | the encrypted list, and the parts behind it |

pub(crate) mod header;
pub(crate) mod list;
pub(crate) mod manifest;
mod reader;
#[cfg(test)]
mod tests;
