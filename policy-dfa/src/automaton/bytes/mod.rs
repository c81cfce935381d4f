//! A compiled policy as bytes, and back.
//!
//! The layout is described in `spec/policy-bytes.md`, and `policy-dfa/js/walk.mjs` reads it. A file has the policy's
//! canonical text and the table that was compiled from it. Its other parts repeat the text for readers that do not
//! know the language.
//!
//! # Trust
//! The writer of the bytes is not trusted. The checksum finds accidents, not forgeries. [`Compiled::from_bytes`]
//! verifies that the file is well formed, that every walk through the table ends, and that every part but the table
//! agrees with the text. The table may still disagree with the text, so a loaded policy is `Unchecked`. Before it can
//! decide, [`check`](Compiled::check) proves that the table gives the outcome of the rules for every combination of
//! signals, and that the rules satisfy the invariants. An attacker can still write a valid policy of their own; the
//! caller recognises the policy that it wants by its hash.

mod error;
mod layout;
mod read;
mod write;

pub use error::BytesError;

use sha2::{Digest, Sha256};

use super::compile::{Compiled, Unchecked};
use crate::language::policy::Policy;
use layout::{AXES, DIGEST, HEADER, MAGIC, TEXT, VERSION, first_difference};
use read::Reader;

impl<State> Compiled<State> {
    /// The policy and its table as bytes, for [`from_bytes`](Compiled::from_bytes) and for readers in other
    /// languages. The same policy and table give the same bytes on every machine.
    ///
    /// ```
    /// use policy_dfa::{Compiled, EXAMPLE_POLICY, Policy};
    ///
    /// let compiled = Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap();
    /// let loaded = Compiled::from_bytes(&compiled.to_bytes()).unwrap();
    /// assert_eq!(loaded.policy_hash(), compiled.policy_hash());
    /// let checked = loaded.check().unwrap();
    /// # let _ = checked;
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = write::body(&self.policy, &self.policy.to_string(), &self.table);
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        bytes
    }
}

impl Compiled<Unchecked> {
    /// Reads the bytes of [`to_bytes`](Compiled::to_bytes). It takes some tens of microseconds for a policy
    /// without many `site` rules, and memory in proportion to the bytes.
    ///
    /// The locations of rules in messages are those in the canonical text.
    ///
    /// # Errors
    /// The bytes are not a whole policy of this version and alphabet, or one part contradicts another.
    pub fn from_bytes(bytes: &[u8]) -> Result<Compiled<Unchecked>, BytesError> {
        let body = verified_body(bytes)?;
        let mut reader = Reader::new(body, HEADER);
        let text = reader.text(TEXT)?;
        reader.axes(AXES)?;
        let table = reader.table()?;
        let policy = Policy::parse(text).map_err(BytesError::Text)?;
        // The text and the table determine every byte. One comparison proves that the other parts agree with the
        // text, that the text is the canonical one, and that nothing is left over.
        let again = write::body(&policy, &policy.to_string(), &table);
        if again != body {
            return Err(BytesError::Contradiction { at: first_difference(&again, body) });
        }
        let hash = Sha256::digest(text.as_bytes()).into();
        Ok(Compiled::loaded(policy, table, hash))
    }
}

/// The bytes before the checksum, if the header and the checksum are valid.
fn verified_body(bytes: &[u8]) -> Result<&[u8], BytesError> {
    if !bytes.starts_with(MAGIC) {
        return Err(BytesError::NotAPolicy);
    }
    let number = |at: usize| {
        let four = bytes.get(at..).and_then(<[u8]>::first_chunk);
        four.map(|four| u32::from_le_bytes(*four))
            .ok_or(BytesError::Length { actual: bytes.len(), declared: None })
    };
    let version = number(MAGIC.len())?;
    if version != VERSION {
        return Err(BytesError::Version { found: version });
    }
    let declared = number(MAGIC.len() + 4)?;
    let whole = usize::try_from(declared).is_ok_and(|length| length == bytes.len());
    match bytes.split_last_chunk::<DIGEST>() {
        Some((body, digest)) if whole && body.len() >= HEADER => {
            let expected: [u8; DIGEST] = Sha256::digest(body).into();
            if expected == *digest { Ok(body) } else { Err(BytesError::Checksum) }
        }
        _ => Err(BytesError::Length { actual: bytes.len(), declared: Some(declared) }),
    }
}

#[cfg(test)]
mod tests;
