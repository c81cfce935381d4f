//! What can go wrong with a vault. No message holds a value.

use sirl::Field;

use crate::StateName;

/// A part of the vault file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The bytes before the manifest: version, costs of the passphrase, wrapped key.
    Header,
    /// The encrypted list of what follows.
    Manifest,
    /// The record at this place, counted from 1.
    Record(usize),
    /// The seed of the signing key.
    SigningKey,
    /// A state.
    State(StateName),
    /// What follows the last part: nothing may.
    End,
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Section::Header => f.write_str("the header"),
            Section::Manifest => f.write_str("the manifest"),
            Section::Record(place) => write!(f, "record {place}"),
            Section::SigningKey => f.write_str("the signing key"),
            Section::State(name) => write!(f, "the {}", name.as_str()),
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
    #[error("the vault file has format version {found}, and this program reads versions 1 and 2")]
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
    /// A field that is of use once.
    #[error(
        "the {} is never stored; give it for one task when it is asked for", .0.as_str()
    )]
    NeverStored(Field),
    /// A login without the place it is for.
    #[error(
        "{} needs the place it is for: bind it to an origin such as https://shop.example", .0.as_str()
    )]
    NeedsBinding(Field),
    /// Too harmful for every host of a domain.
    #[error(
        "{} is never bound to a whole site; bind it to one origin, such as https://www.shop.example", .0.as_str()
    )]
    NeverToASite(Field),
    /// No real host is that long.
    #[error("the binding is too long; write an origin such as https://shop.example")]
    BindingTooLong,
    /// Nothing to bind anew.
    #[error("the record has no {}", .0.as_str())]
    NoSuchValue(Field),
    /// More than a state can hold.
    #[error("the text for {} is longer than {limit} bytes", name.as_str())]
    StateTooLong {
        /// The state.
        name: StateName,
        /// The longest, in bytes.
        limit: usize,
    },
    /// What is in memory does not decrypt.
    #[error("the stored {} is damaged; lock the vault and open it again", .0.as_str())]
    ValueDamaged(Field),
    /// What is in memory does not decrypt.
    #[error("the stored {} is damaged; lock the vault and open it again", .0.as_str())]
    StateDamaged(StateName),
    /// What is in memory does not decrypt.
    #[error("the signing key is damaged; lock the vault and open it again")]
    SigningDamaged,
    /// Other bytes than a kept key's.
    #[error("what was kept to unlock the vault is not a key of this program; enter the passphrase")]
    NotAnUnlockKey,
    /// A kept key for another file.
    #[error("the kept key is for another vault; enter the passphrase")]
    KeyOfAnotherVault,
    /// A kept key from before a rotation.
    #[error("the kept key is from before the vault's key was replaced; enter the passphrase")]
    KeyReplaced,
    /// Only the passphrase brings an older file to the present format.
    #[error("the vault file has format version {found}; open it with its passphrase and save it once")]
    OlderFormat {
        /// The version in the file.
        found: u16,
    },
    /// `age` takes text alone.
    #[cfg(feature = "export")]
    #[error("the passphrase of an export must be text")]
    ExportPassphraseNotText,
    /// The keys are gone from memory.
    #[error("the vault is locked")]
    Locked,
    /// A vault without a passphrase has no file.
    #[error("this vault lives for one session and is never written")]
    Ephemeral,
}
