//! The checkout that a shop signs: UCP's object (2026-04-08), with AP2's member `merchant`.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::address::{Buyer, Fulfillment};
use crate::claims::{Currency, Merchant};
use crate::json::{JsonFault, canonical, parse_object};
use crate::jws::{Jws, JwsFault};
use crate::keys::SigningKey;
use crate::profile::Profile;
use crate::sd_jwt::hash;

/// The member that holds what AP2 adds; it is not signed.
const UNSIGNED: &str = "ap2";
/// The longest path of a member that an error names.
const MAX_PATH: usize = 80;

/// Why a checkout cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckoutFault {
    /// The shop's signature.
    #[error("the shop's signature: {0}")]
    Signed(#[from] JwsFault),
    /// Its header names no key of the shop's profile.
    #[error("the shop's signature names no key of the shop's profile")]
    Key,
    /// The signed text.
    #[error("the checkout: {0}")]
    Json(#[from] JsonFault),
    /// The signed text is not in the canonical form, so that its detached form would be another text.
    #[error("the checkout is not signed in the canonical form of RFC 8785")]
    NotCanonical,
    /// A member is missing or has another form.
    #[error("a member of the checkout is missing, or has a form that cannot be compared")]
    Form,
    /// A member is not known here and could change what is bought; its path, where that has only letters, digits and signs of a name.
    #[error("the checkout has the member {0}, which cannot be compared with what you agreed to")]
    Unknown(String),
    /// The shop's profile does not offer mandates, or in a version whose checkouts are not known here.
    #[error("the shop takes no mandates that are known here")]
    NoMandates,
}

/// Signs a checkout as a shop does: the compact form. Its member `ap2` is left out.
pub fn sign_checkout(
    key: &SigningKey,
    key_name: &str,
    mut checkout: Map<String, Value>,
) -> Result<String, JsonFault> {
    checkout.remove(UNSIGNED);
    sign_json(key, key_name, checkout)
}

/// Signs another JSON object of a shop, such as a receipt: the compact form, whose payload is the canonical JSON.
pub fn sign_json(key: &SigningKey, key_name: &str, object: Map<String, Value>) -> Result<String, JsonFault> {
    let header = Map::from_iter([("kid".to_owned(), key_name.into())]);
    Ok(Jws::sign(key, header, &canonical(&Value::Object(object))?))
}

/// A checkout with the shop's signature, in compact form, of which nothing is checked.
#[derive(PartialEq, Eq)]
pub struct SignedCheckout(String);

impl SignedCheckout {
    /// Takes a compact JSON Web Signature, as in a mandate's `checkout_jwt`.
    pub fn compact(jwt: &str) -> SignedCheckout {
        SignedCheckout(jwt.to_owned())
    }

    /// Takes a checkout as the shop sent it, whose member `ap2.merchant_authorization` is the signature without its payload.
    pub fn detached(checkout: &[u8]) -> Result<SignedCheckout, CheckoutFault> {
        let mut checkout = parse_object(checkout)?;
        let authorization = checkout.remove(UNSIGNED);
        let authorization = authorization.as_ref().and_then(|it| it.get("merchant_authorization"));
        let parts = authorization.and_then(Value::as_str).and_then(|it| it.split_once(".."));
        let (header, signature) = parts.ok_or(CheckoutFault::Signed(JwsFault::Form))?;
        let payload = URL_SAFE_NO_PAD.encode(canonical(&Value::Object(checkout))?);
        Ok(SignedCheckout(format!("{header}.{payload}.{signature}")))
    }

    /// The signature without its payload, as UCP sends it beside the checkout.
    pub fn authorization(&self) -> Option<String> {
        let (header, rest) = self.0.split_once('.')?;
        let (_, signature) = rest.split_once('.')?;
        Some(format!("{header}..{signature}"))
    }

    /// Verifies it under the keys of the shop's profile, and reads it.
    pub fn verify(self, profile: &Profile) -> Result<VerifiedCheckout, CheckoutFault> {
        if !profile.takes_mandates() {
            return Err(CheckoutFault::NoMandates);
        }
        let jws = Jws::parse(&self.0)?;
        let key = jws.header_text("kid").and_then(|name| profile.keys.get(name)).ok_or(CheckoutFault::Key)?;
        jws.verify(key)?;
        let members = Value::Object(parse_object(&jws.payload)?);
        if canonical(&members)? != jws.payload {
            return Err(CheckoutFault::NotCanonical);
        }
        let stated = Stated { content: read(members)?, origin: profile.origin() };
        Ok(VerifiedCheckout { stated, hash: hash(&self.0), jwt: self.0 })
    }
}

/// Reads the members. The error repeats no value, since a shop can write the buyer's address anywhere.
pub(crate) fn read<T: DeserializeOwned>(members: Value) -> Result<T, CheckoutFault> {
    let mut unknown = None;
    let content = serde_ignored::deserialize(members, |path| {
        unknown.get_or_insert_with(|| path.to_string());
    })
    .map_err(|_| CheckoutFault::Form)?;
    match unknown {
        None => Ok(content),
        Some(path) => {
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.?".contains(c);
            let is_plain = path.len() <= MAX_PATH && path.chars().all(is_name);
            Err(CheckoutFault::Unknown(if is_plain { path } else { "…".to_owned() }))
        }
    }
}

/// A checkout that the shop signed. Whether it is the one that the user agreed to is not known yet. Its text repeats the address that the
/// shop was given, so it has no `Debug`.
pub struct VerifiedCheckout {
    pub(crate) jwt: String,
    pub(crate) hash: String,
    pub(crate) stated: Stated,
}

/// A checkout as the shop at an origin states it, whether or not it signed it.
pub(crate) struct Stated {
    /// The origin of the shop's profile.
    pub(crate) origin: String,
    pub(crate) content: Checkout,
}

impl VerifiedCheckout {
    /// The signed text.
    pub fn jwt(&self) -> &str {
        &self.jwt
    }

    /// The hash that mandates name: base64url of SHA-256 of the signed text.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The members that are compared. A checkout with any other one is refused. Links, the protocol's own data and what a message has beside
/// its words are not shown to a user, so nothing in them is agreed to.
#[derive(Deserialize)]
pub(crate) struct Checkout {
    pub(crate) id: String,
    pub(crate) merchant: Merchant,
    pub(crate) line_items: Vec<Line>,
    pub(crate) status: Status,
    pub(crate) currency: Currency,
    pub(crate) totals: Vec<Total>,
    /// Links to terms: what is behind them is not signed, so it is nothing that was agreed to.
    #[serde(default, rename = "links")]
    pub(crate) _links: Vec<Value>,
    #[serde(default)]
    pub(crate) messages: Vec<Message>,
    #[serde(default)]
    pub(crate) fulfillment: Fulfillment,
    #[serde(default)]
    pub(crate) buyer: Option<Buyer>,
    /// Until when it can be completed, as in RFC 3339.
    #[serde(default)]
    pub(crate) expires_at: Option<String>,
    /// Where a person goes on.
    #[serde(default)]
    pub(crate) continue_url: Option<String>,
    /// The order, once the checkout is completed.
    #[serde(default)]
    pub(crate) order: Option<PlacedOrder>,
    /// The protocol's own data: version and capabilities.
    #[serde(default, rename = "ucp")]
    pub(crate) _ucp: Option<Value>,
}

/// The order that a completed checkout became.
#[derive(Deserialize)]
pub(crate) struct PlacedOrder {
    pub(crate) id: String,
    #[serde(rename = "permalink_url")]
    pub(crate) _permalink_url: String,
    #[serde(default, rename = "label")]
    pub(crate) _label: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) item: Item,
    pub(crate) quantity: NonZeroU32,
    pub(crate) totals: Vec<Total>,
}

#[derive(Deserialize)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) price: u64,
    #[serde(default, rename = "image_url")]
    pub(crate) _image_url: Option<String>,
}

/// A part of the sum, or the sum, in the smallest unit of the currency. Discounts are below zero.
#[derive(Deserialize)]
pub(crate) struct Total {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) amount: i64,
    #[serde(default)]
    pub(crate) display_text: Option<String>,
}

/// What the shop says beside the checkout.
#[derive(Deserialize)]
pub(crate) struct Message {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) code: Option<String>,
    pub(crate) content: String,
    /// Its place, and how it is shown.
    #[serde(flatten)]
    _rest: Map<String, Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Incomplete,
    RequiresEscalation,
    ReadyForComplete,
    CompleteInProgress,
    Completed,
    Canceled,
}
