//! Tokens whose claims are disclosed one by one (SD-JWT, RFC 9901), and the hash by which the next token of a chain names one.
//!
//! A disclosure counts once. One that no digest names, a digest that is there twice, and a disclosed member that has the name of
//! another one are refused: two readers could otherwise see two mandates in one token.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::json::{JsonFault, parse, parse_object};
use crate::jws::{Jws, JwsFault};
use crate::keys::SigningKey;

/// The most disclosures of one token.
const MAX_DISCLOSURES: usize = 64;

/// The members that say what is disclosed, and by which hash.
const DIGESTS: &str = "_sd";
const ELEMENT: &str = "...";
const HASH: &str = "_sd_alg";

/// Why a text is no token whose claims can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// The parts between the tildes are not those of one token.
    #[error(
        "a token has a signed part and its disclosures, each followed by a tilde, and at most 64 of them"
    )]
    Form,
    /// The signed part.
    #[error(transparent)]
    Signed(#[from] JwsFault),
    /// Its payload.
    #[error("the token's payload: {0}")]
    Payload(JsonFault),
    /// A disclosure is not a JSON array of a salt, a name where it is a member, and a value.
    #[error("disclosure {0} of the token is not one")]
    Disclosure(usize),
    /// A disclosure that no digest names, or that two name.
    #[error("disclosure {0} of the token is named by no digest")]
    Unnamed(usize),
    /// The digests are of another form, repeated, or by another hash than SHA-256.
    #[error("the token's digests are repeated, or not by SHA-256")]
    Digests,
}

/// The base64url of the SHA-256 of a text.
pub(crate) fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}

/// A token whose claims are read and whose signature is not checked.
pub(crate) struct Token {
    pub(crate) jws: Jws,
    /// All claims, with those that are disclosed.
    pub(crate) claims: Map<String, Value>,
    /// The text with all disclosures.
    text: String,
    /// The signed part alone.
    signed_part: String,
}

impl Token {
    /// Signs claims with one of them, in the array `delegate_payload`, as a disclosure.
    pub(crate) fn issue(
        key: &SigningKey,
        header: Map<String, Value>,
        mut claims: Map<String, Value>,
        mandate: &Value,
        salt: [u8; 16],
    ) -> String {
        let disclosure = URL_SAFE_NO_PAD.encode(json!([URL_SAFE_NO_PAD.encode(salt), mandate]).to_string());
        claims.insert("delegate_payload".to_owned(), json!([{ ELEMENT: hash(&disclosure) }]));
        claims.insert(HASH.to_owned(), "sha-256".into());
        let signed = Jws::sign(key, header, Value::Object(claims).to_string().as_bytes());
        format!("{signed}~{disclosure}~")
    }

    pub(crate) fn parse(text: &str) -> Result<Token, TokenFault> {
        let (signed_part, disclosed) = text.split_once('~').ok_or(TokenFault::Form)?;
        let texts: Vec<&str> = match disclosed.strip_suffix('~') {
            Some(disclosures) => disclosures.split('~').collect(),
            None if disclosed.is_empty() => Vec::new(),
            None => return Err(TokenFault::Form),
        };
        if texts.len() > MAX_DISCLOSURES {
            return Err(TokenFault::Form);
        }
        let jws = Jws::parse(signed_part)?;
        let mut claims = parse_object(&jws.payload).map_err(TokenFault::Payload)?;
        match claims.remove(HASH) {
            Some(Value::String(name)) if name == "sha-256" => {}
            None if texts.is_empty() => {}
            _ => return Err(TokenFault::Digests),
        }
        let mut disclosures = Disclosures::read(&texts)?;
        let claims = disclosures.resolve_object(claims)?;
        match disclosures.unused() {
            Some(index) => Err(TokenFault::Unnamed(index)),
            None => Ok(Token { jws, claims, text: text.to_owned(), signed_part: signed_part.to_owned() }),
        }
    }

    /// The hash of the token with its disclosures.
    pub(crate) fn hash(&self) -> String {
        hash(&self.text)
    }

    /// The hash of the signed part alone, which a receipt names.
    pub(crate) fn reference(&self) -> String {
        hash(&self.signed_part)
    }
}

/// What one disclosure says.
struct Disclosure {
    /// Its place among the disclosures, from 1.
    index: usize,
    /// The name, where it is a member of an object.
    name: Option<String>,
    value: Value,
}

/// The disclosures that no digest has named yet, and the digests that were seen.
struct Disclosures {
    by_digest: BTreeMap<String, Disclosure>,
    seen: std::collections::BTreeSet<String>,
}

impl Disclosures {
    fn read(texts: &[&str]) -> Result<Disclosures, TokenFault> {
        let mut by_digest = BTreeMap::new();
        for (index, text) in texts.iter().enumerate() {
            let index = index + 1;
            let fault = TokenFault::Disclosure(index);
            let decoded = URL_SAFE_NO_PAD.decode(text).map_err(|_| fault)?;
            let Value::Array(parts) = parse(&decoded).map_err(|_| fault)? else { return Err(fault) };
            let disclosure = match <[Value; 3]>::try_from(parts) {
                Ok([Value::String(_), Value::String(name), value])
                    if ![DIGESTS, ELEMENT, HASH].contains(&&*name) =>
                {
                    Disclosure { index, name: Some(name), value }
                }
                Ok(_) => return Err(fault),
                Err(parts) => match <[Value; 2]>::try_from(parts) {
                    Ok([Value::String(_), value]) => Disclosure { index, name: None, value },
                    _ => return Err(fault),
                },
            };
            if by_digest.insert(hash(text), disclosure).is_some() {
                return Err(TokenFault::Unnamed(index));
            }
        }
        Ok(Disclosures { by_digest, seen: std::collections::BTreeSet::new() })
    }

    /// Takes the disclosure that a digest names; none where it is not disclosed.
    fn take(&mut self, digest: &Value) -> Result<Option<Disclosure>, TokenFault> {
        let digest = digest.as_str().ok_or(TokenFault::Digests)?;
        if !self.seen.insert(digest.to_owned()) {
            return Err(TokenFault::Digests);
        }
        Ok(self.by_digest.remove(digest))
    }

    fn unused(&self) -> Option<usize> {
        self.by_digest.values().map(|disclosure| disclosure.index).min()
    }

    fn resolve(&mut self, value: Value) -> Result<Value, TokenFault> {
        match value {
            Value::Object(object) => Ok(Value::Object(self.resolve_object(object)?)),
            Value::Array(items) => {
                let mut resolved = Vec::new();
                for item in items {
                    resolved.extend(self.resolve_item(item)?);
                }
                Ok(Value::Array(resolved))
            }
            other => Ok(other),
        }
    }

    fn resolve_object(&mut self, mut object: Map<String, Value>) -> Result<Map<String, Value>, TokenFault> {
        let digests = match object.remove(DIGESTS) {
            None => Vec::new(),
            Some(Value::Array(digests)) => digests,
            Some(_) => return Err(TokenFault::Digests),
        };
        let mut resolved = Map::new();
        for (name, value) in object {
            if name == ELEMENT {
                return Err(TokenFault::Digests);
            }
            resolved.insert(name, self.resolve(value)?);
        }
        for digest in &digests {
            let Some(Disclosure { index, name, value }) = self.take(digest)? else { continue };
            let name = name.ok_or(TokenFault::Disclosure(index))?;
            let value = self.resolve(value)?;
            if resolved.insert(name, value).is_some() {
                return Err(TokenFault::Disclosure(index));
            }
        }
        Ok(resolved)
    }

    /// An element of an array; none where it is not disclosed.
    fn resolve_item(&mut self, item: Value) -> Result<Option<Value>, TokenFault> {
        let Some(digest) = item.as_object().and_then(|object| object.get(ELEMENT)) else {
            return self.resolve(item).map(Some);
        };
        if item.as_object().is_some_and(|object| object.len() > 1) {
            return Err(TokenFault::Digests);
        }
        match self.take(digest)? {
            None => Ok(None),
            Some(Disclosure { name: None, value, .. }) => self.resolve(value).map(Some),
            Some(Disclosure { index, .. }) => Err(TokenFault::Disclosure(index)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disclosed(parts: &Value) -> String {
        URL_SAFE_NO_PAD.encode(parts.to_string())
    }

    fn token(claims: &Value, disclosures: &[String]) -> Result<Map<String, Value>, TokenFault> {
        let key = SigningKey::from_bytes(&[7; 32]).unwrap();
        let mut text = Jws::sign(&key, Map::new(), claims.to_string().as_bytes());
        text.push('~');
        for disclosure in disclosures {
            text.push_str(disclosure);
            text.push('~');
        }
        Token::parse(&text).map(|token| token.claims)
    }

    #[test]
    fn members_and_elements_are_disclosed_and_the_rest_is_left_out() {
        let inner = disclosed(&json!(["salt", "street", "Elm"]));
        let outer = disclosed(&json!(["salt", {"_sd": [hash(&inner), "decoy"], "city": "Oslo"}]));
        let claims = json!({"_sd_alg": "sha-256", "to": [{"...": hash(&outer)}, {"...": "unknown"}]});
        let resolved = token(&claims, &[outer.clone(), inner.clone()]).unwrap();
        assert_eq!(Value::Object(resolved), json!({"to": [{"city": "Oslo", "street": "Elm"}]}));
        let without = token(&claims, &[outer]).unwrap();
        assert_eq!(Value::Object(without), json!({"to": [{"city": "Oslo"}]}));
        assert_eq!(token(&claims, &[inner]), Err(TokenFault::Unnamed(1)), "its digest is not disclosed");
    }

    #[test]
    fn a_token_that_two_readers_may_understand_differently_is_refused() {
        let member = disclosed(&json!(["salt", "total", 1]));
        let element = disclosed(&json!(["salt", 1]));
        let alg = "sha-256";
        for (claims, disclosures, fault) in [
            (
                json!({"_sd_alg": alg, "_sd": [hash(&member)], "total": 2}),
                vec![&member],
                TokenFault::Disclosure(1),
            ),
            (
                json!({"_sd_alg": alg, "_sd": [hash(&member), hash(&member)]}),
                vec![&member],
                TokenFault::Digests,
            ),
            (json!({"_sd_alg": alg, "_sd": [hash(&member)]}), vec![&member, &member], TokenFault::Unnamed(2)),
            (json!({"_sd_alg": alg, "_sd": [hash(&element)]}), vec![&element], TokenFault::Disclosure(1)),
            (
                json!({"_sd_alg": alg, "a": [{"...": hash(&member)}]}),
                vec![&member],
                TokenFault::Disclosure(1),
            ),
            (
                json!({"_sd_alg": alg, "a": [{"...": hash(&element), "b": 1}]}),
                vec![&element],
                TokenFault::Digests,
            ),
            (json!({"_sd_alg": alg, "...": hash(&element)}), vec![&element], TokenFault::Digests),
            (json!({"_sd_alg": "md5", "_sd": [hash(&member)]}), vec![&member], TokenFault::Digests),
            (json!({"_sd": [hash(&member)]}), vec![&member], TokenFault::Digests),
            (json!({"_sd_alg": alg}), vec![&member], TokenFault::Unnamed(1)),
        ] {
            let disclosures: Vec<String> = disclosures.into_iter().cloned().collect();
            assert_eq!(token(&claims, &disclosures), Err(fault), "{claims}");
        }
        for parts in [
            json!(["salt"]),
            json!([1, 2]),
            json!(["salt", "_sd", []]),
            json!({"a": 1}),
            json!(["s", "n", 1, 2]),
        ] {
            let claims = json!({"_sd_alg": alg});
            assert_eq!(token(&claims, &[disclosed(&parts)]), Err(TokenFault::Disclosure(1)), "{parts}");
        }
    }
}
