//! The signed head of a log: how many records it had and the hash of the last one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::chain::Chain;
use super::note::{Note, key_hash, verifier_key};
use super::problem::Problem;
use super::record::LogId;

/// What a head's first line begins with; the log's id follows.
const ORIGIN: &str = "portcullis audit ";

/// The longest note that is read, in bytes.
pub(super) const LONGEST_NOTE: u64 = 4096;

/// Whoever holds the key that signs heads: the vault, while it is open.
pub trait HeadSigner {
    /// The Ed25519 public key.
    fn public_key(&self) -> [u8; 32];

    /// The Ed25519 signature of a message; none where the key is locked away.
    fn sign(&self, message: &[u8]) -> Option<[u8; 64]>;

    /// The generation of the vault's file, to stand in the note. With it the log says which vault was the
    /// newest, so that an old copy of the vault shows as well.
    fn generation(&self) -> Option<u64> {
        None
    }
}

/// The head of a log at a time, signed: a C2SP signed note in the form of a tlog checkpoint, with the hash
/// of the last record in the place of a tree's root.
///
/// Whoever has a copy of it can tell whether the log still holds what it held then. It says nothing of what
/// came after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHead {
    /// The log.
    pub log: LogId,
    /// How many records it had.
    pub records: u64,
    /// The hash of the last of them.
    pub hash: [u8; 32],
    /// The segment in which that one lies.
    pub segment: u32,
    /// The generation of the vault's file, if the signer said it.
    pub generation: Option<u64>,
    /// When it was signed, in milliseconds since 1970.
    pub unix_ms: u64,
    note: Note,
}

impl SignedHead {
    /// Signs the end of a chain. None where the chain has no id or no record, or the signer no key.
    pub(super) fn sign(
        chain: &Chain,
        segment: u32,
        unix_ms: u64,
        signer: &dyn HeadSigner,
    ) -> Option<SignedHead> {
        let (log, records, hash) = (chain.log()?, chain.length(), chain.head());
        let generation = signer.generation();
        let text = body(log, records, hash, segment, generation, unix_ms);
        let (name, public) = (key_name(log), signer.public_key());
        let signature = signer.sign(text.as_bytes())?;
        let note = Note { text, key: key_hash(&name, public), name, signature };
        Some(SignedHead { log, records, hash, segment, generation, unix_ms, note })
    }

    /// Reads a note, and only as [`SignedHead::to_text`] writes it. The signature is not checked.
    ///
    /// # Errors
    /// [`Problem::NotAHead`].
    pub fn parse(note: &str) -> Result<SignedHead, Problem> {
        SignedHead::read(note).ok_or(Problem::NotAHead)
    }

    fn read(note: &str) -> Option<SignedHead> {
        let note = Note::parse(note)?;
        let mut lines = note.text.lines();
        let log = LogId::parse(lines.next()?.strip_prefix(ORIGIN)?)?;
        let records = lines.next()?.parse().ok()?;
        let hash = STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
        let (mut segment, mut generation, mut unix_ms) = (0, None, 0);
        for line in lines {
            match line.split_once(' ')? {
                ("segment", number) => segment = number.parse().ok()?,
                ("generation", number) => generation = Some(number.parse().ok()?),
                ("time", number) => unix_ms = number.parse().ok()?,
                _ => return None,
            }
        }
        // Written again it is the same: so every line is there once, in its order, in its one spelling.
        let same = body(log, records, hash, segment, generation, unix_ms) == note.text;
        (same && note.name == key_name(log)).then_some(SignedHead {
            log,
            records,
            hash,
            segment,
            generation,
            unix_ms,
            note,
        })
    }

    /// The note, as it is kept.
    pub fn to_text(&self) -> String {
        self.note.to_text()
    }

    /// Whether this key signed it.
    pub fn is_signed_by(&self, key: [u8; 32]) -> bool {
        self.note.is_signed_by(key)
    }

    /// The hash of the signing key, as the note has it.
    pub fn key_hash(&self) -> [u8; 4] {
        self.note.key
    }

    /// The public key as other programs for signed notes want it, `name+hash+key`.
    pub fn verifier_key(&self, key: [u8; 32]) -> String {
        verifier_key(&self.note.name, key)
    }
}

fn key_name(log: LogId) -> String {
    format!("portcullis/audit/{log}")
}

fn body(
    log: LogId,
    records: u64,
    hash: [u8; 32],
    segment: u32,
    generation: Option<u64>,
    unix_ms: u64,
) -> String {
    let generation = generation.map_or(String::new(), |number| format!("generation {number}\n"));
    let hash = STANDARD.encode(hash);
    format!("{ORIGIN}{log}\n{records}\n{hash}\nsegment {segment:06}\n{generation}time {unix_ms}\n")
}
