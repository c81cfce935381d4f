//! Who calls a shop: the address of the guard's profile, and the key that signs its calls.
//!
//! The key says who calls, and authorises no purchase: that is for mandates, whose keys are others.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Map;
use sha2::{Digest, Sha256};
use url::{Position, Url};

use crate::call::Method;
use crate::jws::Jws;
use crate::keys::{KeySet, PublicKey, SigningKey};

/// The label of the one signature.
const LABEL: &str = "sig1";
/// What the signature of a call without a body covers.
const OF_LOOKS: [&str; 4] = ["@method", "@authority", "@path", "ucp-agent"];
/// What the signature of a call with a body covers besides.
const OF_CHANGES: [&str; 3] = ["idempotency-key", "content-digest", "content-type"];

/// A guard as shops know it.
pub struct Agent {
    profile: Url,
    key: SigningKey,
}

/// A call as it is signed. The headers have lower-case names.
pub struct SignedCall<'a> {
    /// The method.
    pub method: Method,
    /// The address.
    pub url: &'a Url,
    /// The value of a header, by its name in lower case.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// The body.
    pub body: &'a [u8],
}

/// Why the signature of a call does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    /// It has no signature, or one of another form.
    #[error("the call has no signature in the form of RFC 9421")]
    Form,
    /// It covers less than it has to.
    #[error("the signature of the call leaves out a part that it has to cover")]
    Covered,
    /// No key of the agent's has the name.
    #[error("the signature of the call names no key of the agent")]
    Key,
    /// The digest is that of another body.
    #[error("the digest of the call is not that of its body")]
    Digest,
    /// It does not verify.
    #[error("the signature of the call does not verify")]
    Signature,
}

impl Agent {
    /// A guard whose profile is served at this address, and whose calls this key signs.
    pub fn new(profile: Url, key: SigningKey) -> Agent {
        Agent { profile, key }
    }

    /// The address of its profile.
    pub fn profile(&self) -> &Url {
        &self.profile
    }

    /// The key by which shops verify its calls.
    pub fn public(&self) -> PublicKey {
        self.key.public()
    }

    /// The headers that sign a call which has these headers (RFC 9421, in UCP's form of 2026-04-08).
    pub(crate) fn sign(
        &self,
        method: Method,
        url: &Url,
        headers: &[(&'static str, String)],
        body: &[u8],
    ) -> Vec<(&'static str, String)> {
        let mut signed = Vec::new();
        let mut covered = OF_LOOKS.to_vec();
        if method != Method::Get {
            signed.push(("Content-Digest", digest(body)));
            covered.extend(OF_CHANGES);
        }
        let names: Vec<String> = covered.iter().map(|name| format!("\"{name}\"")).collect();
        let params = format!("({});keyid=\"{}\"", names.join(" "), self.public().thumbprint());
        let header = |name: &str| {
            let mut all = headers.iter().chain(&signed);
            all.find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
        };
        let call = SignedCall { method, url, header: &header, body };
        let base = call.base(&covered, &params).unwrap_or_default();
        let signature = STANDARD.encode(self.key.sign(base.as_bytes()));
        signed.push(("Signature-Input", format!("{LABEL}={params}")));
        signed.push(("Signature", format!("{LABEL}=:{signature}:")));
        signed
    }

    /// The header that signs a body in UCP's first form: a JSON Web Signature without its payload. Its header names the address, so that it
    /// is for no other shop and no other checkout.
    pub(crate) fn sign_body(&self, url: &Url, body: &[u8]) -> String {
        let header = Map::from_iter([
            ("kid".to_owned(), self.public().thumbprint().into()),
            ("url".to_owned(), url.as_str().into()),
        ]);
        let jws = Jws::sign(&self.key, header, body);
        let mut parts = jws.split('.');
        format!("{}..{}", parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default())
    }
}

impl SignedCall<'_> {
    /// Verifies that an agent with one of these keys signed the call, as a shop does. That it is not an earlier call once more is for the
    /// idempotency key to say.
    pub fn verify(&self, keys: &KeySet) -> Result<(), CallFault> {
        let member = |name: &str| {
            let value = (self.header)(name)?;
            value.strip_prefix(LABEL)?.strip_prefix('=').map(str::to_owned)
        };
        let params = member("signature-input").ok_or(CallFault::Form)?;
        let signature = member("signature").ok_or(CallFault::Form)?;
        let signature = signature.strip_prefix(':').and_then(|it| it.strip_suffix(':'));
        let signature = signature.and_then(|it| STANDARD.decode(it).ok()).ok_or(CallFault::Form)?;
        let (names, rest) =
            params.strip_prefix('(').and_then(|it| it.split_once(')')).ok_or(CallFault::Form)?;
        let name = |it: &'_ str| it.strip_prefix('"').and_then(|it| it.strip_suffix('"')).map(str::to_owned);
        let names: Vec<String> = names.split(' ').map(name).collect::<Option<_>>().ok_or(CallFault::Form)?;
        let covers = |parts: &[&str]| parts.iter().all(|part| names.iter().any(|name| name == part));
        let is_look = self.method == Method::Get;
        if !covers(&OF_LOOKS) || !is_look && !covers(&OF_CHANGES) {
            return Err(CallFault::Covered);
        }
        let key_name = rest.strip_prefix(";keyid=\"").and_then(|it| it.split('"').next());
        let key = key_name.and_then(|name| keys.get(name)).ok_or(CallFault::Key)?;
        if !is_look && (self.header)("content-digest").as_deref() != Some(&digest(self.body)) {
            return Err(CallFault::Digest);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let base = self.base(&names, &params).ok_or(CallFault::Form)?;
        if key.verifies(base.as_bytes(), &signature) { Ok(()) } else { Err(CallFault::Signature) }
    }

    /// The text that is signed; none where a covered part is missing.
    fn base(&self, covered: &[&str], params: &str) -> Option<String> {
        let mut base = String::new();
        for name in covered {
            let value = match *name {
                "@method" => self.method.as_str().to_owned(),
                "@authority" => self.url[Position::BeforeHost..Position::AfterPort].to_owned(),
                "@path" => self.url.path().to_owned(),
                name => (self.header)(name)?,
            };
            base += &format!("\"{name}\": {value}\n");
        }
        Some(base + &format!("\"@signature-params\": {params}"))
    }
}

/// The digest of a body (RFC 9530).
fn digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Headers = Vec<(&'static str, String)>;

    fn agent() -> Agent {
        let key = SigningKey::from_bytes(&[4; 32]).unwrap();
        Agent::new("https://guard.example/agent".parse().unwrap(), key)
    }

    fn signed(method: Method, body: &[u8]) -> Headers {
        let mut headers = vec![("UCP-Agent", "profile=\"https://guard.example/agent\"".to_owned())];
        if method != Method::Get {
            headers.push(("Content-Type", "application/json".to_owned()));
            headers.push(("Idempotency-Key", "0123456789012345678901".to_owned()));
        }
        headers.extend(agent().sign(method, &url(), &headers, body));
        headers
    }

    fn url() -> Url {
        "https://shop.example:8443/ucp/v1/checkout-sessions".parse().unwrap()
    }

    fn verified(method: Method, url: &Url, headers: &Headers, body: &[u8]) -> Result<(), CallFault> {
        let header = |name: &str| {
            let found = headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        SignedCall { method, url, header: &header, body }.verify(&KeySet::of(agent().public()))
    }

    #[test]
    fn the_signed_text_is_that_of_the_rfc() {
        let headers = signed(Method::Post, b"{}");
        let header = |name: &str| headers.iter().find(|it| it.0 == name).unwrap().1.clone();
        let params = header("Signature-Input");
        let params = params.strip_prefix("sig1=").unwrap();
        let expected = format!(
            "\"@method\": POST\n\"@authority\": shop.example:8443\n\"@path\": /ucp/v1/checkout-sessions\n\
             \"ucp-agent\": profile=\"https://guard.example/agent\"\n\"idempotency-key\": 0123456789012345678901\n\
             \"content-digest\": sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:\n\"content-type\": application/json\n\
             \"@signature-params\": {params}"
        );
        assert_eq!(
            params,
            format!(
                "(\"@method\" \"@authority\" \"@path\" \"ucp-agent\" \"idempotency-key\" \"content-digest\" \"content-type\");keyid=\"{}\"",
                agent().public().thumbprint()
            )
        );
        let signature = header("Signature");
        let signature = signature.strip_prefix("sig1=:").unwrap().strip_suffix(':').unwrap();
        assert!(agent().public().verifies(expected.as_bytes(), &STANDARD.decode(signature).unwrap()));
    }

    #[test]
    fn a_changed_call_does_not_verify() {
        for method in [Method::Get, Method::Post, Method::Put] {
            let body: &[u8] = if method == Method::Get { b"" } else { b"{\"quantity\":1}" };
            let headers = signed(method, body);
            assert_eq!(verified(method, &url(), &headers, body), Ok(()));
            // Each header that the signature covers, in turn.
            for at in 0..headers.len() {
                let mut changed = headers.clone();
                changed[at].1 = changed[at].1.replacen(|c: char| c.is_ascii_digit() || c == 'a', "z", 1);
                if changed != headers {
                    assert!(verified(method, &url(), &changed, body).is_err(), "{}", headers[at].0);
                }
                let mut missing = headers.clone();
                missing.remove(at);
                assert!(verified(method, &url(), &missing, body).is_err(), "without {}", headers[at].0);
            }
            for other in
                ["https://shop.example/ucp/v1/checkout-sessions", "https://shop.example:8443/ucp/v1/x"]
            {
                let other = other.parse().unwrap();
                assert_eq!(verified(method, &other, &headers, body), Err(CallFault::Signature));
            }
        }
        let headers = signed(Method::Post, b"{}");
        assert_eq!(verified(Method::Put, &url(), &headers, b"{}"), Err(CallFault::Signature));
        assert_eq!(verified(Method::Post, &url(), &headers, b"{ }"), Err(CallFault::Digest));
    }

    #[test]
    fn a_signature_that_covers_less_does_not_count() {
        for part in [
            "\"@method\" ",
            "\"@authority\" ",
            " \"ucp-agent\"",
            " \"content-digest\"",
            " \"idempotency-key\"",
        ] {
            let mut headers = signed(Method::Post, b"{}");
            let at = headers.iter().position(|(name, _)| *name == "Signature-Input").unwrap();
            headers[at].1 = headers[at].1.replacen(part, "", 1);
            assert_eq!(verified(Method::Post, &url(), &headers, b"{}"), Err(CallFault::Covered), "{part}");
        }
        // A look's signature covers no body.
        let look = signed(Method::Get, b"");
        assert_eq!(verified(Method::Post, &url(), &look, b"{}"), Err(CallFault::Covered));
    }
}
