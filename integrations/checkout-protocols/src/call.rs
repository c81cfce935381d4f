//! One call to a shop, and what comes back. Nothing is sent here.

use url::Url;
use zeroize::Zeroizing;

use crate::agent::Agent;
use crate::profile::{Profile, Version};

/// The greatest answer of a shop that is read, in bytes.
pub const MAX_ANSWER: usize = 1 << 18;
/// The greatest length of a shop's name for a checkout, in bytes.
const MAX_ID: usize = 200;

/// The method of a call, as in HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `PUT`
    Put,
}

impl Method {
    /// The word in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
        }
    }
}

/// A call that is to be sent, over TLS and without following a redirect. The same value may be sent again where no answer came: it then
/// has the same key, so that the shop carries it out once. Its body holds the buyer's address or a mandate. It is wiped when it is
/// dropped, and has no `Debug` and no `Clone`.
pub struct Call {
    method: Method,
    url: Url,
    version: Version,
    key: Option<[u8; 16]>,
    body: Zeroizing<Vec<u8>>,
}

impl Call {
    /// A call that reads.
    pub(crate) fn get(shop: &Profile, url: Url) -> Call {
        Call { method: Method::Get, url, version: shop.version(), key: None, body: Zeroizing::default() }
    }

    /// A call that changes something. `key` is 16 random bytes, fresh for each call that is another one.
    pub(crate) fn change(shop: &Profile, method: Method, url: Url, body: Vec<u8>, key: [u8; 16]) -> Call {
        Call { method, url, version: shop.version(), key: Some(key), body: Zeroizing::new(body) }
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The address, on the origin of the shop's profile.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The body: JSON, or nothing.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The headers of the protocol, with the agent's signature of the call. A call that is sent again has the same ones.
    pub fn headers(&self, agent: &Agent) -> Vec<(&'static str, String)> {
        let profile = format!("profile=\"{}\"", agent.profile());
        let mut headers = vec![("UCP-Agent", profile), ("Accept", "application/json".to_owned())];
        let is_first = self.version == Version::January11;
        if let Some(key) = &self.key {
            headers.push(("Content-Type", "application/json".to_owned()));
            headers.push(("Idempotency-Key", if is_first { uuid(*key) } else { base64_text(key) }));
        }
        if is_first {
            headers.push(("Request-Id", uuid(self.key.unwrap_or_default())));
            headers.push(("Request-Signature", agent.sign_body(&self.url, &self.body)));
        }
        headers.extend(agent.sign(self.method, &self.url, &headers, &self.body));
        headers
    }
}

/// The reply to a call.
#[derive(Clone, Copy)]
pub enum Reply<'a> {
    /// An answer.
    Answer {
        /// Its status, as in HTTP.
        status: u16,
        /// Its body, at most [`MAX_ANSWER`] bytes.
        body: &'a [u8],
    },
    /// No answer in time, or a connection that broke. The shop may have carried the call out.
    Lost,
}

/// The address of a checkout at a shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckoutAddress {
    pub(crate) id: String,
    url: Url,
}

impl CheckoutAddress {
    /// The address of all checkouts of a shop.
    pub(crate) fn all(shop: &Profile) -> Option<Url> {
        below(shop.endpoint(), &["checkout-sessions"])
    }

    /// The address of one; none for a name that is no segment of a path.
    pub(crate) fn new(shop: &Profile, id: &str) -> Option<CheckoutAddress> {
        if !is_segment(id) {
            return None;
        }
        let url = below(shop.endpoint(), &["checkout-sessions", id])?;
        Some(CheckoutAddress { id: id.to_owned(), url })
    }

    pub(crate) fn url(&self) -> Url {
        self.url.clone()
    }

    /// The address that completes or cancels it.
    pub(crate) fn to(&self, act: &str) -> Option<Url> {
        below(&self.url, &[act])
    }
}

/// Whether a shop's name for a checkout is one segment of a path.
pub(crate) fn is_segment(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~:".contains(&byte);
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain) && !id.bytes().all(|byte| byte == b'.')
}

/// An address below another one.
pub(crate) fn below(url: &Url, segments: &[&str]) -> Option<Url> {
    let mut url = url.clone();
    url.path_segments_mut().ok()?.pop_if_empty().extend(segments);
    Some(url)
}

/// Random bytes in the form of a UUID of version 4 (RFC 9562), as the first form of the protocol wants them.
pub(crate) fn uuid(bytes: [u8; 16]) -> String {
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// Random bytes in base64url.
pub(crate) fn base64_text(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop(endpoint: &str) -> Profile {
        let text = serde_json::json!({"ucp": {
            "version": "2026-04-08",
            "services": {"dev.ucp.shopping": [{"transport": "rest", "endpoint": endpoint}]},
            "capabilities": {"dev.ucp.shopping.checkout": [{"version": "2026-04-08"}]},
        }});
        Profile::read(text.to_string().as_bytes(), &endpoint.parse().unwrap()).unwrap()
    }

    #[test]
    fn calls_stay_below_the_shops_address() {
        for endpoint in ["https://shop.example/ucp/v1", "https://shop.example/ucp/v1/"] {
            let shop = shop(endpoint);
            let all = CheckoutAddress::all(&shop).unwrap();
            assert_eq!(all.as_str(), "https://shop.example/ucp/v1/checkout-sessions");
            let one = CheckoutAddress::new(&shop, "chk_1:a.b").unwrap();
            assert_eq!(one.url().as_str(), "https://shop.example/ucp/v1/checkout-sessions/chk_1:a.b");
            let complete = one.to("complete").unwrap();
            assert_eq!(complete.path(), "/ucp/v1/checkout-sessions/chk_1:a.b/complete");
        }
        let shop = shop("https://shop.example/ucp/v1");
        let long = "a".repeat(MAX_ID + 1);
        for id in ["", ".", "..", "a/b", "a/../../x", "a?b", "a#b", "a%2fb", "a b", "ä", "a\\b", &long] {
            assert!(CheckoutAddress::new(&shop, id).is_none(), "{id}");
        }
    }

    #[test]
    fn a_change_has_a_key_and_a_look_has_none() {
        let shop = shop("https://shop.example/ucp/v1");
        let url = shop.endpoint().clone();
        let key = crate::SigningKey::from_bytes(&[7; 32]).unwrap();
        let agent = Agent::new("http://127.0.0.1:9/agent".parse().unwrap(), key);
        let names = |call: &Call| call.headers(&agent).iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let look = Call::get(&shop, url.clone());
        assert_eq!(names(&look), ["UCP-Agent", "Accept", "Signature-Input", "Signature"]);
        let change = Call::change(&shop, Method::Put, url, b"{}".to_vec(), [7; 16]);
        let signed = ["Content-Digest", "Signature-Input", "Signature"];
        assert_eq!(names(&change)[..4], ["UCP-Agent", "Accept", "Content-Type", "Idempotency-Key"]);
        assert_eq!(names(&change)[4..], signed);
        assert_eq!(change.headers(&agent)[3].1.len(), 22, "128 bits");
        assert_eq!(change.headers(&agent), change.headers(&agent), "a call is sent again as it was");
    }

    #[test]
    fn random_bytes_have_the_form_of_a_uuid() {
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
