//! The encrypted envelope: a NaCl box (X25519, XSalsa20-Poly1305) in base64 in a JSON object.

use std::hint::black_box;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crypto_box::aead::AeadInPlace;
use crypto_box::aead::generic_array::GenericArray;
use crypto_box::{PublicKey, SalsaBox, SecretKey};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::KeePassXcError;

/// The longest request in bytes before encryption. The names in one are bounded and shorter in sum.
const LONGEST_REQUEST: usize = 4096;

/// The length of a box's tag, which comes before its text.
const TAG: usize = 16;

/// A number that is used once.
pub(super) struct Nonce([u8; 24]);

impl Nonce {
    pub(super) fn fresh() -> Result<Nonce, KeePassXcError> {
        Ok(Nonce(random()?))
    }

    /// The nonce of the answer: the next number, with the lowest byte first.
    pub(super) fn next(&self) -> Nonce {
        let mut bytes = self.0;
        for byte in &mut bytes {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        Nonce(bytes)
    }

    pub(super) fn text(&self) -> String {
        STANDARD.encode(self.0)
    }
}

/// Random bytes of the system.
pub(super) fn random<const N: usize>() -> Result<[u8; N], KeePassXcError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| KeePassXcError::Entropy)?;
    Ok(bytes)
}

/// A key pair for one connection, before the peer's key is known.
pub(super) struct Handshake {
    secret: SecretKey,
}

impl Handshake {
    pub(super) fn new() -> Result<Handshake, KeePassXcError> {
        let bytes = Zeroizing::new(random()?);
        Ok(Handshake { secret: SecretKey::from_bytes(*bytes) })
    }

    pub(super) fn public_key(&self) -> String {
        STANDARD.encode(self.secret.public_key().as_bytes())
    }

    /// Makes the session with the peer's public key.
    pub(super) fn finish(mut self, peer: &str) -> Result<Session, KeePassXcError> {
        let fault = KeePassXcError::Protocol("a public key of another length");
        let peer = STANDARD.decode(peer).map_err(|_| fault.clone())?;
        let public_key = self.public_key();
        let cipher = SalsaBox::new(&PublicKey::from_slice(&peer).map_err(|_| fault)?, &self.secret);
        // `SecretKey` of crypto_box 0.9.1 wipes its scalar when dropped, and not the bytes that it keeps beside it.
        self.secret = SecretKey::from_bytes([0; 32]);
        black_box(&self.secret);
        Ok(Session { cipher, public_key })
    }
}

/// The keys of one connection.
pub(super) struct Session {
    cipher: SalsaBox,
    public_key: String,
}

impl Session {
    /// The client's public key in this connection.
    pub(super) fn public_key(&self) -> &str {
        &self.public_key
    }

    /// Encrypts a request, which may hold the association's key.
    pub(super) fn seal(&self, request: &impl Serialize, nonce: &Nonce) -> Result<String, KeePassXcError> {
        let fault = || KeePassXcError::Protocol("a request that is too long");
        // The room never grows, since a growing buffer leaves copies behind.
        let mut room = Zeroizing::new(vec![0; TAG + LONGEST_REQUEST]);
        let (tag_place, text) = room.split_at_mut_checked(TAG).ok_or_else(fault)?;
        let mut free = &mut *text;
        serde_json::to_writer(&mut free, request).map_err(|_| fault())?;
        let length = LONGEST_REQUEST - free.len();
        let text = text.get_mut(..length).ok_or_else(fault)?;
        let nonce = GenericArray::from_slice(&nonce.0);
        let tag = self.cipher.encrypt_in_place_detached(nonce, b"", text).map_err(|_| fault())?;
        tag_place.copy_from_slice(&tag);
        Ok(STANDARD.encode(room.get(..TAG + length).ok_or_else(fault)?))
    }

    /// Decrypts an answer in place.
    pub(super) fn open(&self, message: &str, nonce: &Nonce) -> Result<Zeroizing<Vec<u8>>, KeePassXcError> {
        let fault = || KeePassXcError::Protocol("an answer that does not decrypt");
        let mut room = Zeroizing::new(STANDARD.decode(message).map_err(|_| fault())?);
        let (tag, text) = room.split_at_mut_checked(TAG).ok_or_else(fault)?;
        let (nonce, tag) = (GenericArray::from_slice(&nonce.0), GenericArray::clone_from_slice(tag));
        self.cipher.decrypt_in_place_detached(nonce, b"", text, &tag).map_err(|_| fault())?;
        // The vector keeps its memory, so the whole of it is wiped when dropped.
        room.copy_within(TAG.., 0);
        let length = room.len() - TAG;
        room.truncate(length);
        Ok(room)
    }
}

/// The envelope of a request.
#[derive(Serialize)]
pub(super) struct Request<'a> {
    pub(super) action: &'a str,
    #[serde(rename = "clientID")]
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(rename = "publicKey", skip_serializing_if = "Option::is_none")]
    pub(super) public_key: Option<String>,
    /// `true` to have a locked database ask the user.
    #[serde(rename = "triggerUnlock", skip_serializing_if = "Option::is_none")]
    pub(super) trigger_unlock: Option<&'a str>,
}

/// The envelope of an answer or a notice. It holds no secret in the clear.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(default)]
    action: String,
    #[serde(rename = "clientID")]
    client_id: Option<String>,
    nonce: Option<String>,
    message: Option<String>,
    #[serde(rename = "publicKey")]
    public_key: Option<String>,
    #[serde(borrow, rename = "errorCode")]
    error_code: Option<&'a RawValue>,
}

/// The meaning of an object that came after a request.
pub(super) enum Meaning {
    /// A notice that answers no request. It may tell if the database is locked now.
    Notice { locked: Option<bool> },
    /// The request failed.
    Refused(KeePassXcError),
    /// The encrypted answer.
    Message(String),
    /// The peer's public key.
    PublicKey(String),
}

/// Reads an object as the answer to a request.
pub(super) fn meaning(
    object: &[u8],
    action: &str,
    client_id: &str,
    nonce: &Nonce,
) -> Result<Meaning, KeePassXcError> {
    let answer: Envelope = serde_json::from_slice(object)
        .map_err(|_| KeePassXcError::Protocol("an answer that is no envelope"))?;
    let has_content = answer.message.is_some() || answer.public_key.is_some() || answer.error_code.is_some();
    if answer.action != action {
        let locked = match &*answer.action {
            "database-locked" => Some(true),
            "database-unlocked" => Some(false),
            _ => None,
        };
        let foreign = KeePassXcError::Protocol("an answer to another request");
        return if has_content { Err(foreign) } else { Ok(Meaning::Notice { locked }) };
    }
    if answer.client_id.is_some_and(|id| id != client_id) {
        return Err(KeePassXcError::Protocol("an answer to another client"));
    }
    if let Some(code) = answer.error_code {
        // The number is a string in the protocol.
        let code = code.get().trim_matches('"').parse().unwrap_or_default();
        return Ok(Meaning::Refused(KeePassXcError::of_code(code)));
    }
    if answer.nonce != Some(nonce.next().text()) {
        return Err(KeePassXcError::Protocol("an answer with another nonce"));
    }
    match (answer.message, answer.public_key) {
        (Some(message), None) => Ok(Meaning::Message(message)),
        (None, Some(key)) => Ok(Meaning::PublicKey(key)),
        _ => Err(KeePassXcError::Protocol("an answer without content")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Handshake, Nonce};

    #[test]
    fn the_next_nonce_is_counted_from_the_lowest_byte() {
        let mut bytes = [0; 24];
        bytes[..3].copy_from_slice(&[255, 255, 7]);
        assert_eq!(Nonce(bytes).next().0[..4], [0, 0, 8, 0]);
        assert_eq!(Nonce([255; 24]).next().0, [0; 24]);
    }

    #[test]
    fn a_request_is_read_with_the_peers_key() {
        let (here, there) = (Handshake::new().unwrap(), Handshake::new().unwrap());
        let (our_key, their_key) = (here.public_key(), there.public_key());
        let (here, there) = (here.finish(&their_key).unwrap(), there.finish(&our_key).unwrap());
        let nonce = Nonce::fresh().unwrap();
        let sealed = here.seal(&["value"], &nonce).unwrap();
        assert_eq!(**there.open(&sealed, &nonce).unwrap(), *br#"["value"]"#);
        assert!(there.open(&sealed, &nonce.next()).is_err());
        assert!(here.seal(&["x".repeat(5000)], &nonce).is_err());
    }
}
