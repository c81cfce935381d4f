//! JSON Web Signatures (RFC 7515) in compact form, with ES256 and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::json::{JsonFault, parse_object};
use crate::keys::{PublicKey, SigningKey};

/// Why a text is no signature that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwsFault {
    /// It is not three parts of base64url.
    #[error("a signed token has three parts of base64url without padding, separated by dots")]
    Form,
    /// Its header is not one JSON object as it is signed.
    #[error("the token's header: {0}")]
    Header(JsonFault),
    /// Its header names another algorithm than ES256.
    #[error("the token's algorithm is not ES256")]
    Algorithm,
    /// Its header has members that a reader must understand, and there are none that are understood here.
    #[error("the token's header has the member \"crit\" or \"b64\", which is not understood here")]
    Critical,
    /// The signature does not verify under the key that it has to.
    #[error("the token's signature does not verify")]
    Signature,
}

/// A token whose form is checked and whose signature is not.
pub(crate) struct Jws {
    pub(crate) header: Map<String, Value>,
    pub(crate) payload: Vec<u8>,
    /// Header and payload as they were sent: what is signed.
    pub(crate) signed: String,
    signature: Vec<u8>,
}

impl Jws {
    /// Signs a payload. The header gets the algorithm.
    pub(crate) fn sign(key: &SigningKey, mut header: Map<String, Value>, payload: &[u8]) -> String {
        header.insert("alg".to_owned(), "ES256".into());
        let header = URL_SAFE_NO_PAD.encode(Value::Object(header).to_string());
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(payload));
        let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    pub(crate) fn parse(text: &str) -> Result<Jws, JwsFault> {
        let mut parts = text.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(JwsFault::Form);
        };
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| JwsFault::Form);
        let signed = format!("{header}.{payload}");
        let header = parse_object(&decode(header)?).map_err(JwsFault::Header)?;
        if header.get("alg").and_then(Value::as_str) != Some("ES256") {
            return Err(JwsFault::Algorithm);
        }
        if header.contains_key("crit") || header.contains_key("b64") {
            return Err(JwsFault::Critical);
        }
        Ok(Jws { header, payload: decode(payload)?, signed, signature: decode(signature)? })
    }

    /// Whether this key signed it.
    pub(crate) fn verify(&self, key: &PublicKey) -> Result<(), JwsFault> {
        let verifies = key.verifies(self.signed.as_bytes(), &self.signature);
        if verifies { Ok(()) } else { Err(JwsFault::Signature) }
    }

    /// A string member of the header.
    pub(crate) fn header_text(&self, name: &str) -> Option<&str> {
        self.header.get(name).and_then(Value::as_str)
    }
}
