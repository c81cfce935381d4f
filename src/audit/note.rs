//! C2SP signed notes with Ed25519: a text, an empty line, and lines `— name base64(key hash, signature)`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

use super::record::{hex, unhex};

/// The byte with which a note marks an Ed25519 key.
const ED25519: u8 = 1;

/// A note with one signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// The signed text, with its line end.
    pub text: String,
    /// The key's name.
    pub name: String,
    /// The first bytes of the hash of name and key.
    pub key: [u8; 4],
    /// The signature.
    pub signature: [u8; 64],
}

/// The key hash of a note, which tells the keys of one name apart.
pub(super) fn key_hash(name: &str, key: [u8; 32]) -> [u8; 4] {
    let mut hasher = Sha256::new();
    hasher.update(name);
    hasher.update([b'\n', ED25519]);
    hasher.update(key);
    let mut first = [0; 4];
    for (to, from) in first.iter_mut().zip(hasher.finalize()) {
        *to = from;
    }
    first
}

impl Note {
    /// Reads a note in the exact form of [`Note::to_text`].
    pub(super) fn parse(note: &str) -> Option<Note> {
        let (text, line) = note.strip_suffix('\n')?.rsplit_once("\n\n")?;
        let (name, encoded) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
        let bytes = STANDARD.decode(encoded).ok()?;
        let (key, signature) = bytes.split_first_chunk::<4>()?;
        let signature: [u8; 64] = signature.try_into().ok()?;
        let read = Note { text: format!("{text}\n"), name: name.to_owned(), key: *key, signature };
        let fits = is_name(name) && read.text.chars().all(|c| c == '\n' || !c.is_control());
        (fits && read.to_text() == note).then_some(read)
    }

    /// The note as it is stored.
    pub(super) fn to_text(&self) -> String {
        let mut bytes = self.key.to_vec();
        bytes.extend_from_slice(&self.signature);
        format!("{}\n\u{2014} {} {}\n", self.text, self.name, STANDARD.encode(bytes))
    }

    /// Whether the key signed the text.
    pub(super) fn is_signed_by(&self, key: [u8; 32]) -> bool {
        let Ok(verifier) = VerifyingKey::from_bytes(&key) else { return false };
        let signature = Signature::from_bytes(&self.signature);
        self.key == key_hash(&self.name, key)
            && verifier.verify_strict(self.text.as_bytes(), &signature).is_ok()
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c == '+' || c.is_control())
}

/// A verifier key in the form of C2SP: `name+hash+base64`.
pub(super) fn verifier_key(name: &str, key: [u8; 32]) -> String {
    let mut typed = vec![ED25519];
    typed.extend_from_slice(&key);
    format!("{name}+{}+{}", hex(&key_hash(name, key)), STANDARD.encode(typed))
}

/// The key in a C2SP verifier key, if it is an Ed25519 key and its hash is right; or 64 hexadecimal digits.
///
/// ```
/// use portcullis::audit::parse_key;
/// assert_eq!(parse_key(&"0a".repeat(32)), Some([10; 32]));
/// assert_eq!(parse_key("example+00000000+AQ=="), None);
/// ```
pub fn parse_key(text: &str) -> Option<[u8; 32]> {
    if let Some(key) = unhex(text) {
        return Some(key);
    }
    let (name, rest) = text.split_once('+')?;
    let (hash, encoded) = rest.split_once('+')?;
    let typed = STANDARD.decode(encoded).ok()?;
    let (kind, key) = typed.split_first()?;
    let key: [u8; 32] = key.try_into().ok()?;
    let right = *kind == ED25519 && unhex(hash) == Some(key_hash(name, key));
    right.then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Go's package for signed notes, which defined the format.
    const KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const NOTE: &str = "If you think cryptography is the answer to your problem,\n\
         then you don't know what your problem is.\n\n\
         \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    #[test]
    fn a_note_of_another_program_is_read_and_verified() {
        let note = Note::parse(NOTE).unwrap();
        let key = parse_key(KEY).unwrap();
        assert!(note.is_signed_by(key));
        assert_eq!(note.to_text(), NOTE);
        assert_eq!(verifier_key(&note.name, key), KEY);
    }

    #[test]
    fn a_changed_note_is_refused() {
        let key = parse_key(KEY).unwrap();
        for at in 0..NOTE.len() {
            let mut bytes = NOTE.as_bytes().to_vec();
            bytes[at] ^= 1;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            assert!(!Note::parse(&text).is_some_and(|note| note.is_signed_by(key)), "byte {at}");
        }
        for at in 0..KEY.len() {
            let mut bytes = KEY.as_bytes().to_vec();
            bytes[at] ^= 1;
            assert_ne!(parse_key(std::str::from_utf8(&bytes).unwrap()), Some(key), "byte {at} of the key");
        }
    }
}
