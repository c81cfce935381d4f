//! The signed head of a log: the number of its records and the hash of the last one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::chain::Chain;
use super::note::{Note, key_hash, verifier_key};
use super::problem::Problem;
use super::record::LogId;

/// The beginning of a head's first line; the log's id follows.
const ORIGIN: &str = "portcullis audit ";

/// The most bytes of a note that is read.
pub(super) const MAX_NOTE_BYTES: u64 = 4096;

/// The holder of the key that signs heads: the vault, while it is open.
pub trait HeadSigner {
    /// The Ed25519 public key.
    fn public_key(&self) -> [u8; 32];

    /// The Ed25519 signature of a message; none where the key is locked away.
    fn sign(&self, message: &[u8]) -> Option<[u8; 64]>;

    /// The generation of the vault's file, for the note. With it the log names the newest vault, so that an old copy of
    /// the vault is detected too.
    fn generation(&self) -> Option<u64> {
        None
    }
}

/// The signed head of a log at a point in time: a C2SP signed note in the form of a tlog checkpoint, with the hash of the
/// last record in the place of a tree's root.
///
/// With a copy of it one can check that the log still holds the records that it held then. Later records are not covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHead {
    /// The log.
    pub log: LogId,
    /// The number of records.
    pub records: u64,
    /// The hash of the last of them.
    pub hash: [u8; 32],
    /// The segment of that record.
    pub segment: u32,
    /// The generation of the vault's file, if the signer named it.
    pub generation: Option<u64>,
    /// The time of signing, in milliseconds since 1970.
    pub unix_ms: u64,
    note: Note,
}

impl SignedHead {
    /// Signs the end of a chain. It returns none where the chain has no id or no record, or the signer no key.
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

    /// Reads a note in the exact form of [`SignedHead::to_text`]. The signature is not checked.
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
        // Each line must occur once, in its order and its one spelling: the note written again must be the same.
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

    /// The note, as it is stored.
    pub fn to_text(&self) -> String {
        self.note.to_text()
    }

    /// Whether this key signed it.
    pub fn is_signed_by(&self, key: [u8; 32]) -> bool {
        self.note.is_signed_by(key)
    }

    /// The hash of the signing key, from the note.
    pub fn key_hash(&self) -> [u8; 4] {
        self.note.key
    }

    /// The public key in the form of other programs for signed notes, `name+hash+key`.
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
