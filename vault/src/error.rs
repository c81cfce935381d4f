//! What can go wrong with a vault. No message holds a value.

use sirl::Field;

/// A part of the vault file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The first 144 bytes: version, costs of the passphrase, wrapped key.
    Header,
    /// The encrypted list of the records.
    Manifest,
    /// The record at this place, counted from 1.
    Record(usize),
    /// What follows the last record: nothing may.
    End,
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Section::Header => f.write_str("the header"),
            Section::Manifest => f.write_str("the manifest"),
            Section::Record(place) => write!(f, "record {place}"),
            Section::End => f.write_str("the end"),
        }
    }
}

/// Why a vault could not be made, unlocked, changed or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The bytes do not start as a vault file does.
    #[error("this is not a vault file")]
    NotAVault,
    /// Written by a later program.
    #[error("the vault file has format version {found}, and this program reads version 1")]
    UnsupportedVersion {
        /// The version in the file.
        found: u16,
    },
    /// A cipher suite or a passphrase function that this program does not have.
    #[error(
        "the vault file uses cipher suite {suite} and passphrase function {kdf}, and this program knows only 1 and 1"
    )]
    UnsupportedSuite {
        /// The suite in the file.
        suite: u8,
        /// The passphrase function in the file.
        kdf: u8,
    },
    /// A cost of the passphrase function outside what is accepted.
    #[error("the passphrase function's {cost} is {found}, and must be between {lowest} and {highest}")]
    KdfOutOfRange {
        /// Which cost.
        cost: &'static str,
        /// What it is.
        found: u32,
        /// The least accepted, below which guessing is cheap.
        lowest: u32,
        /// The most accepted, above which a file could stall the program.
        highest: u32,
    },
    /// The passphrase function's memory cannot be had.
    #[error("not enough memory to check the passphrase; close something and try again")]
    OutOfMemory,
    /// The header is whole, and the passphrase does not open it.
    #[error("the passphrase does not open this vault")]
    WrongPassphrase,
    /// The file ends too early.
    #[error("the vault file ends too early, in {section} at byte {offset}; use a backup")]
    Truncated {
        /// Where.
        section: Section,
        /// The file's length.
        offset: usize,
    },
    /// The file was changed after it was written.
    #[error("the vault file is damaged in {section} at byte {offset}; use a backup")]
    Damaged {
        /// Where.
        section: Section,
        /// The first byte of the part that does not check.
        offset: usize,
    },
    /// The name of a record does not have the right form.
    #[error(
        "a handle is card, address, contact, identity, login or otp, a colon, and a name of 1 to 32 small letters, \
         digits, - or _ with at most three digits, such as card:personal"
    )]
    BadHandle,
    /// Nothing to keep.
    #[error("the value for {} is empty", .0.as_str())]
    EmptyValue(Field),
    /// More than a record can hold.
    #[error("the value for {} is longer than {limit} bytes", field.as_str())]
    ValueTooLong {
        /// The field.
        field: Field,
        /// The longest value, in bytes.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("the value for {} is not text", .0.as_str())]
    ValueNotText(Field),
    /// As many records as a vault can hold.
    #[error("the vault is full: it holds at most {limit} values")]
    Full {
        /// The most values.
        limit: usize,
    },
    /// The keys are gone from memory.
    #[error("the vault is locked")]
    Locked,
    /// A vault without a passphrase has no file.
    #[error("this vault lives for one session and is never written")]
    Ephemeral,
}
