//! Keys for ES256: ECDSA with SHA-256 on the curve P-256.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{Signature, VerifyingKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Why bytes or a JSON object are no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// It is not of the one kind that is used here.
    #[error("a key needs the members kty \"EC\", crv \"P-256\", x and y")]
    Kind,
    /// It is no point of the curve, or no number in its range.
    #[error("the key is not on the curve P-256")]
    Curve,
    /// It has no name, or that of another key.
    #[error("each key of a profile needs a member kid of its own")]
    Name,
}

/// A private key. It is wiped when dropped, and has no way out.
pub struct SigningKey(p256::ecdsa::SigningKey);

impl SigningKey {
    /// Makes a key of 32 secret bytes, big-endian. They are random, and below the order of the curve.
    pub fn from_bytes(secret: &[u8; 32]) -> Result<SigningKey, KeyFault> {
        p256::ecdsa::SigningKey::from_slice(secret).map(SigningKey).map_err(|_| KeyFault::Curve)
    }

    /// Its public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(*self.0.verifying_key())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        let signature: Signature = self.0.sign(message);
        signature.to_bytes().into()
    }
}

/// A public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads a JSON Web Key (RFC 7517). Members beside those of the key, such as `kid`, are ignored.
    pub fn from_jwk(jwk: &Value) -> Result<PublicKey, KeyFault> {
        let member = |name: &str| jwk.get(name).and_then(Value::as_str).ok_or(KeyFault::Kind);
        if member("kty")? != "EC" || member("crv")? != "P-256" {
            return Err(KeyFault::Kind);
        }
        let mut coordinates = Vec::new();
        for name in ["x", "y"] {
            let coordinate = URL_SAFE_NO_PAD.decode(member(name)?).map_err(|_| KeyFault::Kind)?;
            if coordinate.len() != 32 {
                return Err(KeyFault::Kind);
            }
            coordinates.extend(coordinate);
        }
        let coordinates = coordinates.try_into().map_err(|_| KeyFault::Kind)?;
        PublicKey::from_coordinates(&coordinates)
    }

    /// The key with these coordinates x and y, 32 bytes each.
    pub fn from_coordinates(coordinates: &[u8; 64]) -> Result<PublicKey, KeyFault> {
        let point: Vec<u8> = std::iter::once(4).chain(*coordinates).collect();
        VerifyingKey::from_sec1_bytes(&point).map(PublicKey).map_err(|_| KeyFault::Curve)
    }

    /// The JSON Web Key, with the four members that it needs.
    pub fn to_jwk(&self) -> Value {
        let point = self.0.to_sec1_point(false);
        let member = |bytes: Option<&[u8]>| URL_SAFE_NO_PAD.encode(bytes.unwrap_or_default());
        json!({
            "crv": "P-256",
            "kty": "EC",
            "x": member(point.x().map(|x| x.as_slice())),
            "y": member(point.y().map(|y| y.as_slice())),
        })
    }

    /// The thumbprint of RFC 7638, a name that follows from the key.
    pub fn thumbprint(&self) -> String {
        // `to_jwk` has the members that the RFC names, and they are sorted.
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.to_jwk().to_string()))
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature).is_ok_and(|signature| self.0.verify(message, &signature).is_ok())
    }
}

/// The public keys of one party, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeySet(BTreeMap<String, PublicKey>);

impl KeySet {
    /// A set with one key under its [thumbprint](PublicKey::thumbprint).
    pub fn of(key: PublicKey) -> KeySet {
        KeySet(BTreeMap::from([(key.thumbprint(), key)]))
    }

    /// The set with another key, under its thumbprint.
    #[must_use]
    pub fn with(mut self, key: PublicKey) -> KeySet {
        self.0.insert(key.thumbprint(), key);
        self
    }

    /// Adds the keys of another set.
    pub fn extend(&mut self, others: KeySet) {
        self.0.extend(others.0);
    }

    /// Reads the keys of a profile (RFC 7517). Keys of other kinds are left out, as they verify nothing here; two keys of one name are a
    /// fault, since a signature would have two meanings.
    pub fn from_jwks(keys: &[Value]) -> Result<KeySet, KeyFault> {
        let mut set = BTreeMap::new();
        for jwk in keys {
            let key = match PublicKey::from_jwk(jwk) {
                Err(KeyFault::Kind) => continue,
                key => key?,
            };
            let name = jwk.get("kid").and_then(Value::as_str).ok_or(KeyFault::Name)?;
            if set.insert(name.to_owned(), key).is_some() {
                return Err(KeyFault::Name);
            }
        }
        Ok(KeySet(set))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&PublicKey> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7515, appendix A.3: the key and its signature.
    #[test]
    fn a_published_signature_verifies() {
        let jwk = json!({"kty": "EC", "crv": "P-256",
            "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"});
        let key = PublicKey::from_jwk(&jwk).unwrap();
        let signed = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let signature = URL_SAFE_NO_PAD
            .decode("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
            .unwrap();
        assert!(key.verifies(signed.as_bytes(), &signature));
        assert!(!key.verifies(&signed.as_bytes()[1..], &signature));
        assert_eq!(key.to_jwk(), jwk);
    }

    #[test]
    fn other_keys_are_refused() {
        let good = SigningKey::from_bytes(&[1; 32]).unwrap().public().to_jwk();
        assert!(PublicKey::from_jwk(&good).is_ok());
        for (member, value, fault) in [
            ("kty", json!("oct"), KeyFault::Kind),
            ("crv", json!("P-384"), KeyFault::Kind),
            ("x", json!("AA"), KeyFault::Kind),
            ("x", json!("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), KeyFault::Curve),
            ("y", Value::Null, KeyFault::Kind),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            assert_eq!(PublicKey::from_jwk(&bad), Err(fault), "{member}");
        }
        let named = |kid: &str| {
            let mut key = good.clone();
            key["kid"] = kid.into();
            key
        };
        assert!(KeySet::from_jwks(&[named("a"), named("b"), json!({"kty": "oct"})]).is_ok());
        assert_eq!(KeySet::from_jwks(&[named("a"), named("a")]), Err(KeyFault::Name));
        assert_eq!(KeySet::from_jwks(std::slice::from_ref(&good)), Err(KeyFault::Name));
        assert!(SigningKey::from_bytes(&[0; 32]).is_err(), "zero is no key");
        assert!(SigningKey::from_bytes(&[255; 32]).is_err(), "a number above the order is no key");
    }
}
