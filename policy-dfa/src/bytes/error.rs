//! Why bytes are not a policy.

use crate::PolicyError;

/// Why bytes were refused. Offsets count from the beginning of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BytesError {
    /// The beginning is not that of a compiled policy.
    #[error("this is no compiled policy: it does not begin with `PCPOLICY`; compile the policy's text")]
    NotAPolicy,
    /// The layout is another one.
    #[error("this compiled policy has layout {found}, and only layout 1 is read; compile its text anew")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// Bytes are missing or left over.
    #[error("the compiled policy is not whole: it has {is} bytes{}; fetch or compile it anew", beside(*.said))]
    Length {
        /// How many there are.
        is: usize,
        /// How many the file says there are.
        said: Option<u32>,
    },
    /// Some byte was changed.
    #[error("the compiled policy is damaged: its checksum is another one; fetch or compile it anew")]
    Checksum,
    /// A part is missing, or ends where it should not.
    #[error("part `{part}` of the compiled policy is malformed at byte {at}: {what}")]
    Malformed {
        /// The part.
        part: &'static str,
        /// Where in the file.
        at: usize,
        /// What was expected there.
        what: &'static str,
    },
    /// The signals and symbols, or the events, are those of another version of this library.
    #[error(
        "the policy was compiled for other signals: byte {at} belongs to {what} that this version does not have \
         there; compile its text anew"
    )]
    OtherAlphabet {
        /// Where in the file.
        at: usize,
        /// What is different.
        what: &'static str,
    },
    /// The text in it cannot be read.
    #[error("the text in the compiled policy cannot be read: {0}")]
    Text(PolicyError),
    /// A part says something else than the text, or says it in another form.
    #[error("byte {at} of the compiled policy is not what its text says; compile its text anew")]
    Contradiction {
        /// Where in the file.
        at: usize,
    },
}

fn beside(said: Option<u32>) -> String {
    said.map_or_else(String::new, |said| format!(" where it says {said}"))
}
