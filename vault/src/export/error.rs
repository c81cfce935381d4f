//! The errors of an import.

use crate::error::VaultError;

/// An error of an import. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The bytes are no age file, or one that no passphrase opens.
    #[error("this is not an export: it is not an age file with a passphrase")]
    NotAnExport,
    /// The passphrase is wrong.
    #[error("the passphrase does not open this export")]
    WrongPassphrase,
    /// Opening the export would take too long.
    #[error("opening this export costs more than is accepted; make it anew with a lower cost")]
    TooCostly,
    /// The file was changed or cut.
    #[error("the export is damaged; make it anew")]
    Damaged,
    /// The document inside is not of the form in `spec/vault.md`.
    #[error("the document in the export is not one of values, in line {line}, column {column}")]
    NotADocument {
        /// The line, counted from 1; 0 if the document as a whole is another one.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// One value cannot be imported.
    #[error("value {place} of the export cannot be imported: {error}")]
    Value {
        /// Its place in the document, counted from 1.
        place: usize,
        /// The error of the vault.
        error: VaultError,
    },
    /// The field or the binding does not exist, or the value is no text.
    #[error("value {place} of the export has {what} that this program does not know")]
    Unknown {
        /// Its place in the document, counted from 1.
        place: usize,
        /// `a field`, `a binding` or `a text`.
        what: &'static str,
    },
    /// The handle and field occur twice.
    #[error("value {place} of the export has the handle and field of one before it")]
    Twice {
        /// Its place in the document, counted from 1.
        place: usize,
    },
    /// The vault is locked or full.
    #[error(transparent)]
    Vault(#[from] VaultError),
}
