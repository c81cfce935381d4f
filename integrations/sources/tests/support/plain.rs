//! A client of the protocol without any of our code: it says what KeePassXC answers to any request.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crypto_box::aead::Aead;
use crypto_box::aead::generic_array::GenericArray;
use crypto_box::{PublicKey, SalsaBox, SecretKey};
use serde_json::{Value, json};

use super::KEY;

pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

/// The next nonce, written independently of the client: the number is read as a whole.
pub fn next(nonce: [u8; 24]) -> [u8; 24] {
    let mut wide = nonce;
    let low = u128::from_le_bytes(nonce[..16].try_into().unwrap()).wrapping_add(1);
    wide[..16].copy_from_slice(&low.to_le_bytes());
    if low == 0 {
        let high = u64::from_le_bytes(nonce[16..].try_into().unwrap()).wrapping_add(1);
        wide[16..].copy_from_slice(&high.to_le_bytes());
    }
    wide
}

pub fn seal(cipher: &SalsaBox, nonce: [u8; 24], value: &Value) -> String {
    let sealed = cipher.encrypt(GenericArray::from_slice(&nonce), value.to_string().as_bytes()).unwrap();
    STANDARD.encode(sealed)
}

pub fn open(cipher: &SalsaBox, nonce: [u8; 24], message: &str) -> Value {
    let plain =
        cipher.decrypt(GenericArray::from_slice(&nonce), &*STANDARD.decode(message).unwrap()).unwrap();
    serde_json::from_slice(&plain).unwrap()
}

pub struct Plain {
    stream: UnixStream,
    cipher: SalsaBox,
    id: String,
    pub public_key: String,
    rest: Vec<u8>,
    pub notices: Vec<String>,
    pub last_raw: String,
}

impl Plain {
    pub fn connect(socket: &Path) -> Plain {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let secret = SecretKey::from_bytes(random());
        let (id, public_key) =
            (STANDARD.encode(random::<24>()), STANDARD.encode(secret.public_key().as_bytes()));
        let nonce = STANDARD.encode(random::<24>());
        let request =
            json!({"action": "change-public-keys", "publicKey": public_key, "nonce": nonce, "clientID": id});
        stream.write_all(request.to_string().as_bytes()).unwrap();
        let mut rest = Vec::new();
        let answer = loop {
            // Notices come at any time, as does that of the unlocking when KeePassXC starts.
            let answer = receive(&mut stream, &mut rest);
            if answer["action"] == "change-public-keys" {
                break answer;
            }
        };
        let peer = STANDARD.decode(answer["publicKey"].as_str().unwrap()).unwrap();
        let cipher = SalsaBox::new(&PublicKey::from_slice(&peer).unwrap(), &secret);
        Plain { stream, cipher, id, public_key, rest, notices: Vec::new(), last_raw: answer.to_string() }
    }

    /// Sends a request and returns the decrypted answer, or the error answer as it is.
    pub fn ask(&mut self, content: &Value) -> Value {
        let nonce = random();
        let action = content["action"].as_str().unwrap();
        let request = json!({"action": action, "message": seal(&self.cipher, nonce, content),
            "nonce": STANDARD.encode(nonce), "clientID": self.id});
        self.stream.write_all(request.to_string().as_bytes()).unwrap();
        loop {
            let answer = receive(&mut self.stream, &mut self.rest);
            if answer["action"] == action {
                self.last_raw = answer.to_string();
                let Some(message) = answer["message"].as_str() else { return answer };
                assert_eq!(answer["nonce"], STANDARD.encode(next(nonce)));
                return open(&self.cipher, next(nonce), message);
            }
            self.notices.push(answer["action"].as_str().unwrap_or_default().to_owned());
        }
    }

    pub fn test_associate(&mut self) -> Value {
        self.ask(&json!({"action": "test-associate", "id": "guard", "key": KEY}))
    }

    pub fn get_logins(&mut self, url: &str) -> Value {
        self.ask(&json!({"action": "get-logins", "url": url, "keys": [{"id": "guard", "key": KEY}]}))
    }

    /// The titles of the entries that come for an address, sorted.
    pub fn titles(&mut self, url: &str) -> Vec<String> {
        let answer = self.get_logins(url);
        let entries = answer["entries"].as_array().cloned().unwrap_or_default();
        let mut titles: Vec<String> =
            entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    }
}

fn receive(stream: &mut UnixStream, rest: &mut Vec<u8>) -> Value {
    loop {
        let mut objects = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        if let Some(Ok(object)) = objects.next() {
            let used = objects.byte_offset();
            rest.drain(..used);
            return object;
        }
        let mut chunk = [0; 65536];
        let length = stream.read(&mut chunk).unwrap();
        assert_ne!(length, 0, "KeePassXC closed the connection");
        rest.extend_from_slice(&chunk[..length]);
    }
}
