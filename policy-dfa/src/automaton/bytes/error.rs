//! The reasons why bytes are not a policy.

use crate::language::error::PolicyError;

/// The reason why bytes were refused. Offsets count from the beginning of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BytesError {
    /// The file does not begin as a compiled policy.
    #[error("this is no compiled policy: it does not begin with `PCPOLICY`; compile the policy's text")]
    NotAPolicy,
    /// The file has another version of the layout.
    #[error("this compiled policy has layout {found}, and only layout 1 is read; compile its text anew")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// Bytes are missing or left over.
    #[error("the compiled policy is not whole: it has {actual} bytes{}; fetch or compile it anew", declared_length(*.declared))]
    Length {
        /// The number of bytes.
        actual: usize,
        /// The number of bytes that the header declares.
        declared: Option<u32>,
    },
    /// Some byte was changed.
    #[error("the compiled policy is damaged: its checksum is another one; fetch or compile it anew")]
    Checksum,
    /// A part is missing or malformed.
    #[error("part `{part}` of the compiled policy is malformed at byte {at}: {what}")]
    Malformed {
        /// The part.
        part: &'static str,
        /// The offset in the file.
        at: usize,
        /// The problem at this offset.
        what: &'static str,
    },
    /// The signals, symbols, events or reasons are those of another version of this library.
    #[error(
        "the policy was compiled for other signals or reasons: byte {at} belongs to {what} that this version does not have \
         there; compile its text anew"
    )]
    OtherAlphabet {
        /// The offset in the file.
        at: usize,
        /// The thing that is different.
        what: &'static str,
    },
    /// The text in the file cannot be parsed.
    #[error("the text in the compiled policy cannot be read: {0}")]
    Text(PolicyError),
    /// A part disagrees with the text, or has another form than the one that is written.
    #[error("byte {at} of the compiled policy is not what its text says; compile its text anew")]
    Contradiction {
        /// The offset in the file.
        at: usize,
    },
}

fn declared_length(declared: Option<u32>) -> String {
    declared.map_or_else(String::new, |length| format!(" where it says {length}"))
}
