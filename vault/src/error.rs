//! The errors of a vault. No message holds a value.

use sirl::Field;

use crate::codes::SeedError;
use crate::state_name::StateName;

/// A part of the vault file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The bytes before the manifest: version, costs of the passphrase, wrapped data key.
    Header,
    /// The encrypted list of the parts.
    Manifest,
    /// The record with this number, counted from 1.
    Record(usize),
    /// The seed of the signing key.
    SigningKey,
    /// A state.
    State(StateName),
    /// The bytes after the last part. There must be none.
    End,
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Section::Header => f.write_str("the header"),
            Section::Manifest => f.write_str("the manifest"),
            Section::Record(number) => write!(f, "record {number}"),
            Section::SigningKey => f.write_str("the signing key"),
            Section::State(name) => write!(f, "the {}", name.as_str()),
            Section::End => f.write_str("the end"),
        }
    }
}

/// An error in making, unlocking, changing or writing a vault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The bytes do not start as a vault file does.
    #[error("this is not a vault file")]
    NotAVault,
    /// The file was written by another version of the program.
    #[error("the vault file has format version {found}, and this program reads version 2")]
    UnsupportedVersion {
        /// The version in the file.
        found: u16,
    },
    /// The file has a cipher suite or a passphrase function that this program does not know.
    #[error(
        "the vault file uses cipher suite {suite} and passphrase function {kdf}, and this program knows only 1 and 1"
    )]
    UnsupportedSuite {
        /// The suite in the file.
        suite: u8,
        /// The passphrase function in the file.
        kdf: u8,
    },
    /// A cost of the passphrase function is outside the accepted range.
    #[error("the passphrase function's {cost} is {found}, and must be between {lowest} and {highest}")]
    KdfOutOfRange {
        /// The name of the cost.
        cost: &'static str,
        /// The cost.
        found: u32,
        /// The lowest accepted cost, below which guessing is cheap.
        lowest: u32,
        /// The highest accepted cost, above which a file could stall the program.
        highest: u32,
    },
    /// There is not enough memory for the passphrase function.
    #[error("not enough memory to check the passphrase; close something and try again")]
    OutOfMemory,
    /// The header is intact, and the passphrase does not open it.
    #[error("the passphrase does not open this vault")]
    WrongPassphrase,
    /// The value of a one-time code is no seed of codes.
    #[error(transparent)]
    BadSeed(#[from] SeedError),
    /// The file ends too early.
    #[error("the vault file ends too early, in {section} at byte {offset}; use a backup")]
    Truncated {
        /// The part of the file.
        section: Section,
        /// The file's length.
        offset: usize,
    },
    /// The file was changed after it was written.
    #[error("the vault file is damaged in {section} at byte {offset}; use a backup")]
    Damaged {
        /// The part of the file.
        section: Section,
        /// The first byte of the part that does not check.
        offset: usize,
    },
    /// The handle does not have the right form.
    #[error(
        "a handle is card, address, contact, identity, login or otp, a colon, and a name of 1 to 32 small letters, \
         digits, - or _ with at most three digits, such as card:personal"
    )]
    BadHandle,
    /// The value is empty.
    #[error("the value for {} is empty", .0.as_str())]
    EmptyValue(Field),
    /// The value is longer than a record can hold.
    #[error("the value for {} is longer than {limit} bytes", field.as_str())]
    ValueTooLong {
        /// The field.
        field: Field,
        /// The longest value, in bytes.
        limit: usize,
    },
    /// The value is not UTF-8.
    #[error("the value for {} is not text", .0.as_str())]
    ValueNotText(Field),
    /// The vault has as many records as it can hold.
    #[error("the vault is full: it holds at most {limit} values")]
    Full {
        /// The highest number of values.
        limit: usize,
    },
    /// A new password is no value of a record.
    #[error("a new_password is made by Portcullis for a new account; store one that exists as a password")]
    MadeByTheGuard,
    /// The field can be used only once, so it is never stored.
    #[error(
        "the {} is never stored; give it for one task when it is asked for", .0.as_str()
    )]
    NeverStored(Field),
    /// The field needs a binding to an origin or a site.
    #[error(
        "{} needs the place it is for: bind it to an origin such as https://shop.example", .0.as_str()
    )]
    NeedsBinding(Field),
    /// The field is too sensitive for every host of a domain.
    #[error(
        "{} is never bound to a whole site; bind it to one origin, such as https://www.shop.example", .0.as_str()
    )]
    NeverToASite(Field),
    /// The binding is longer than that of any real host.
    #[error("the binding is too long; write an origin such as https://shop.example")]
    BindingTooLong,
    /// The record has no such field to bind.
    #[error("the record has no {}", .0.as_str())]
    NoSuchValue(Field),
    /// The text is longer than a state can hold.
    #[error("the text for {} is longer than {limit} bytes", name.as_str())]
    StateTooLong {
        /// The state.
        name: StateName,
        /// The longest, in bytes.
        limit: usize,
    },
    /// The value in memory does not decrypt.
    #[error("the stored {} is damaged; lock the vault and open it again", .0.as_str())]
    ValueDamaged(Field),
    /// The state in memory does not decrypt.
    #[error("the stored {} is damaged; lock the vault and open it again", .0.as_str())]
    StateDamaged(StateName),
    /// The signing key in memory does not decrypt.
    #[error("the signing key is damaged; lock the vault and open it again")]
    SigningDamaged,
    /// The bytes are no stored unlock key.
    #[error("the stored unlock key is not one of this program; enter the passphrase")]
    NotAnUnlockKey,
    /// The stored unlock key is for another vault.
    #[error("the stored unlock key is for another vault; enter the passphrase")]
    KeyOfAnotherVault,
    /// The stored unlock key is from before a rotation.
    #[error("the stored unlock key is from before the vault's key was replaced; enter the passphrase")]
    KeyReplaced,
    /// The passphrase of an export must be UTF-8, since `age` takes only text.
    #[cfg(feature = "export")]
    #[error("the passphrase of an export must be text")]
    ExportPassphraseNotText,
    /// The keys are wiped from memory.
    #[error("the vault is locked")]
    Locked,
    /// The vault has no passphrase and so no file.
    #[error("this vault lives for one session and is never written")]
    Ephemeral,
}
