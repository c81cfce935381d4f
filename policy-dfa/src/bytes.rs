//! A compiled policy as bytes, and back.
//!
//! The layout is in `spec/policy-bytes.md`, and `policy-dfa/js/walk.mjs` walks it. A file holds the policy's
//! canonical text and the table that was made of it; whatever else it holds is for readers that do not know
//! the language, and says nothing that the text does not say.
//!
//! # Who is trusted
//! Nobody who wrote the bytes. The checksum finds accidents, not forgers. [`Compiled::from_bytes`] makes sure
//! that the file is well formed, that every walk through the table ends, and that all but the table is what
//! the text says. The table may still answer otherwise than the text: so what is loaded is `Unchecked`, and
//! [`check`](Compiled::check) proves, before anything can be decided, that the table gives for every
//! combination of signals the very answer of the rules, and that the rules keep the invariants. A forger can
//! make a policy of their own, with a hash of its own; whether that policy is wanted, its hash must tell.

mod error;
mod read;
mod words;
mod write;

pub use error::BytesError;

use sha2::{Digest, Sha256};

use crate::Policy;
use crate::compile::{Compiled, Unchecked};
use read::Reader;

/// How a file begins.
const MAGIC: &[u8; 8] = b"PCPOLICY";
/// The version of the layout that is written, and the only one that is read so far.
const VERSION: u32 = 1;
/// The magic, the version and the length.
const HEADER: usize = 16;
/// The SHA-256 at the end.
const DIGEST: usize = 32;

/// The parts of a file, in their order.
const TEXT: &str = "TEXT";
const AXES: &str = "AXES";
const OUTCOMES: &str = "OUTC";
const STATES: &str = "STAT";
const ROOTS: &str = "ROOT";
const TIERS: &str = "TIER";
const THRESHOLDS: &str = "THRE";
const SESSION: &str = "SESS";
const SITES: &str = "SITE";

impl<State> Compiled<State> {
    /// The policy and its table as bytes, for [`from_bytes`](Compiled::from_bytes) and for readers in other
    /// languages. The same policy and table give the same bytes on every machine.
    ///
    /// ```
    /// use policy_dfa::{Compiled, Policy};
    ///
    /// # let text = include_str!("../../policies/default.policy");
    /// let compiled = Policy::parse(text).unwrap().compile().unwrap();
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
    /// Reads what [`to_bytes`](Compiled::to_bytes) wrote. Takes some tens of microseconds, and memory in
    /// proportion to the bytes; the automaton of the `site` patterns, which takes milliseconds, is left to
    /// [`check`](Compiled::check).
    ///
    /// The places of rules in messages are those in the canonical text.
    ///
    /// # Errors
    /// Where the bytes are not a whole policy of this version and alphabet, or one part contradicts another.
    pub fn from_bytes(bytes: &[u8]) -> Result<Compiled<Unchecked>, BytesError> {
        let body = sealed(bytes)?;
        let mut reader = Reader::new(body, HEADER);
        let text = reader.text(TEXT)?;
        reader.axes(AXES)?;
        let table = reader.table()?;
        let policy = Policy::parse(text).map_err(BytesError::Text)?;
        // The text decides what all other parts say, and how. One comparison proves that they say it, that
        // the text is the canonical one, and that nothing is left over.
        let again = write::body(&policy, &policy.to_string(), &table);
        if again != body {
            return Err(BytesError::Contradiction { at: apart(&again, body) });
        }
        let hash = Sha256::digest(text.as_bytes()).into();
        Ok(Compiled::loaded(policy, table, hash))
    }
}

/// The bytes before the checksum, if header and checksum are right.
fn sealed(bytes: &[u8]) -> Result<&[u8], BytesError> {
    if !bytes.starts_with(MAGIC) {
        return Err(BytesError::NotAPolicy);
    }
    let number = |at: usize| {
        let four = bytes.get(at..).and_then(<[u8]>::first_chunk);
        four.map(|four| u32::from_le_bytes(*four)).ok_or(BytesError::Length { is: bytes.len(), said: None })
    };
    let version = number(MAGIC.len())?;
    if version != VERSION {
        return Err(BytesError::Version { found: version });
    }
    let said = number(MAGIC.len() + 4)?;
    let whole = usize::try_from(said).is_ok_and(|said| said == bytes.len());
    match bytes.split_last_chunk::<DIGEST>() {
        Some((body, digest)) if whole && body.len() >= HEADER => {
            let right: [u8; DIGEST] = Sha256::digest(body).into();
            if right == *digest { Ok(body) } else { Err(BytesError::Checksum) }
        }
        _ => Err(BytesError::Length { is: bytes.len(), said: Some(said) }),
    }
}

/// The first place where two texts of bytes differ.
fn apart(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).position(|(a, b)| a != b).unwrap_or(one.len().min(other.len()))
}

#[cfg(test)]
mod tests;
