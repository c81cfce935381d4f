//! The profile in which a shop says how it is spoken to: `/.well-known/ucp` of its origin, in the two published forms (2026-01-11, and
//! from 2026-01-23 on).
//!
//! Whoever the profile names is reached with the user's order, so nothing in it leads away from the origin that it was fetched from.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use url::Url;

use crate::agent::Agent;
use crate::json::{JsonFault, parse_object};
use crate::keys::{KeyFault, KeySet, PublicKey};
use crate::order::{Credential, PaymentMeans};

/// The path of the profile on each shop's origin.
pub const PROFILE_PATH: &str = "/.well-known/ucp";

const SHOPPING: &str = "dev.ucp.shopping";
const CHECKOUT: &str = "dev.ucp.shopping.checkout";
const MANDATES: &str = "dev.ucp.shopping.ap2_mandate";

/// The published versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 2026-01-11. This crate writes its checkouts in the later form, and compares them there.
    January11,
    /// 2026-01-23.
    January23,
    /// 2026-04-08, whose checkouts this crate compares.
    April8,
}

impl Version {
    fn parse(text: &str) -> Option<Version> {
        Some(match text {
            "2026-01-11" => Version::January11,
            "2026-01-23" => Version::January23,
            "2026-04-08" => Version::April8,
            _ => return None,
        })
    }
}

/// Why a profile cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProfileFault {
    /// Its text.
    #[error("the shop's profile: {0}")]
    Json(#[from] JsonFault),
    /// It has no version, or one that is not known here.
    #[error("the shop's profile has a version that is not known here")]
    Version,
    /// It has no address for orders over HTTP, or several.
    #[error("the shop's profile names no single address for orders over HTTP")]
    Service,
    /// That address is on another origin than the profile, or has a user name, a query or a fragment.
    #[error("the shop's profile leads to another site than its own")]
    Elsewhere,
    /// The shop offers no checkout.
    #[error("the shop's profile offers no checkout")]
    Checkout,
    /// Its keys.
    #[error("the shop's keys: {0}")]
    Keys(#[from] KeyFault),
}

/// How a shop is spoken to. It comes from [`read`](Profile::read) alone, so its address is on the shop's own origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    version: Version,
    endpoint: Url,
    pub(crate) keys: KeySet,
    takes_mandates: bool,
    /// Whether the shop says that it takes mandates, in whatever version and with whatever keys.
    offers_mandates: bool,
    /// The ids of the payment handlers, by their names.
    handlers: BTreeMap<String, String>,
}

impl Profile {
    /// The version of the protocol.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The address that orders go to. The paths of the calls follow it.
    pub fn endpoint(&self) -> &Url {
        &self.endpoint
    }

    /// The shop's origin, which is the audience of mandates.
    pub fn origin(&self) -> String {
        self.endpoint.origin().ascii_serialization()
    }

    /// Whether the shop sells by AP2's mandates. A shop that offers none may be paid by a token: [`takes`](Profile::takes) says so.
    pub fn takes_mandates(&self) -> bool {
        self.takes_mandates
    }

    /// The shop's id of the payment handler with this name, such as `com.example.pay`; none where it has no such handler, or several.
    pub fn handler(&self, name: &str) -> Option<&str> {
        self.handlers.get(name).map(String::as_str)
    }

    /// The shop's id of the handler of this means of payment; none where the shop does not sell by it. A shop that offers mandates sells by
    /// nothing else, so that its signature cannot be left out.
    pub fn takes(&self, means: &PaymentMeans) -> Option<&str> {
        let is_possible = match means.credential {
            Credential::Mandate => self.takes_mandates,
            Credential::Token => !self.offers_mandates && self.version != Version::January23,
        };
        self.handler(&means.handler).filter(|_| is_possible)
    }

    /// Reads the profile that was fetched from an origin, without a redirect.
    pub fn read(text: &[u8], origin: &Url) -> Result<Profile, ProfileFault> {
        let mut profile = parse_object(text)?;
        let Some(Value::Object(ucp)) = profile.remove("ucp") else { return Err(ProfileFault::Version) };
        let version = ucp.get("version").and_then(Value::as_str).and_then(Version::parse);
        let version = version.ok_or(ProfileFault::Version)?;
        let endpoint = endpoint(&ucp).ok_or(ProfileFault::Service)?;
        let endpoint = Url::parse(endpoint).map_err(|_| ProfileFault::Service)?;
        let is_plain = endpoint.username().is_empty()
            && endpoint.password().is_none()
            && endpoint.query().is_none()
            && endpoint.fragment().is_none();
        // An origin without a host is equal to no other.
        if endpoint.origin() != origin.origin() || !is_plain {
            return Err(ProfileFault::Elsewhere);
        }
        if !offers(&ucp, CHECKOUT) {
            return Err(ProfileFault::Checkout);
        }
        let keys = match (profile.remove("signing_keys"), profile.remove("keys")) {
            (Some(Value::Array(keys)), None) | (None, Some(Value::Array(keys))) => keys,
            (None | Some(Value::Null), None) => Vec::new(),
            _ => return Err(ProfileFault::Keys(KeyFault::Kind)),
        };
        let keys = KeySet::from_jwks(&keys)?;
        let offers_mandates = offers(&ucp, MANDATES);
        let takes_mandates = version == Version::April8 && offers_mandates && !keys.is_empty();
        let handlers = handlers(&ucp, profile.get("payment"));
        Ok(Profile { version, endpoint, keys, takes_mandates, offers_mandates, handlers })
    }
}

/// The profile of a guard: what it speaks, the key by which shops verify its mandates, and the one by which they verify its calls. It has
/// to be served at the address that calls name; a shop that knows the keys already needs none.
pub fn agent_profile(surface: &PublicKey, agent: &Agent, means: &PaymentMeans) -> Value {
    let named = |key: &PublicKey| {
        let mut jwk = key.to_jwk();
        jwk.as_object_mut().map(|jwk| jwk.insert("kid".to_owned(), key.thumbprint().into()));
        jwk
    };
    let version = json!([{"version": "2026-04-08"}]);
    json!({
        "ucp": {
            "version": "2026-04-08",
            "services": {SHOPPING: [{"version": "2026-04-08", "transport": "rest"}]},
            "capabilities": {CHECKOUT: version, "dev.ucp.shopping.fulfillment": version, MANDATES: version},
            "payment_handlers": {&*means.handler: [{"id": means.instrument.kind, "version": "2026-04-08"}]},
        },
        "signing_keys": [named(surface), named(&agent.public())],
    })
}

/// The one address for orders over HTTP.
fn endpoint(ucp: &Map<String, Value>) -> Option<&str> {
    match ucp.get("services")?.get(SHOPPING)? {
        Value::Object(bindings) => bindings.get("rest")?.get("endpoint")?.as_str(),
        Value::Array(bindings) => {
            let mut rest = bindings.iter().filter(|binding| text(binding, "transport") == Some("rest"));
            match (rest.next(), rest.next()) {
                (Some(binding), None) => text(binding, "endpoint"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the shop has a capability, in either form.
fn offers(ucp: &Map<String, Value>, name: &str) -> bool {
    match ucp.get("capabilities") {
        Some(Value::Array(capabilities)) => capabilities.iter().any(|it| text(it, "name") == Some(name)),
        Some(Value::Object(capabilities)) => {
            capabilities.get(name).and_then(Value::as_array).is_some_and(|versions| !versions.is_empty())
        }
        _ => false,
    }
}

/// The payment handlers that have one id each, in either form. `payment` is the profile's member of that name, where the first form has
/// them.
fn handlers(ucp: &Map<String, Value>, payment: Option<&Value>) -> BTreeMap<String, String> {
    let mut all: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    if let Some(Value::Object(handlers)) = ucp.get("payment_handlers") {
        for (name, found) in handlers {
            all.entry(name).or_default().extend(found.as_array().into_iter().flatten());
        }
    }
    let first = payment.and_then(|it| it.get("handlers")).and_then(Value::as_array);
    for handler in first.into_iter().flatten() {
        all.entry(text(handler, "name").unwrap_or_default()).or_default().push(handler);
    }
    let one = |(name, found): (&str, Vec<&Value>)| match found.as_slice() {
        [handler] => Some((name.to_owned(), text(handler, "id")?.to_owned())),
        _ => None,
    };
    all.into_iter().filter_map(one).collect()
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::keys::SigningKey;

    type Change = fn(&mut Value);

    fn key(name: &str) -> Value {
        let mut key = SigningKey::from_bytes(&[3; 32]).unwrap().public().to_jwk();
        key["kid"] = name.into();
        key
    }

    fn later() -> Value {
        json!({
            "ucp": {
                "version": "2026-04-08",
                "services": {SHOPPING: [
                    {"version": "2026-04-08", "transport": "mcp", "endpoint": "https://shop.example/ucp/mcp"},
                    {"version": "2026-04-08", "transport": "rest", "endpoint": "https://shop.example/ucp/v1"},
                ]},
                "capabilities": {
                    CHECKOUT: [{"version": "2026-04-08"}],
                    MANDATES: [{"version": "2026-04-08", "extends": CHECKOUT, "config": {"vp_formats_supported": {"dc+sd-jwt": {}}}}],
                },
                "payment_handlers": {"com.example.pay": [{"id": "pay"}], "com.example.two": [{"id": "a"}, {"id": "b"}]},
            },
            "signing_keys": [key("shop-1")],
        })
    }

    fn first() -> Value {
        json!({
            "ucp": {
                "version": "2026-01-11",
                "services": {SHOPPING: {"version": "2026-01-11", "rest": {"endpoint": "https://shop.example/ucp/v1"}}},
                "capabilities": [{"name": CHECKOUT, "version": "2026-01-11"}, {"name": MANDATES, "version": "2026-01-11"}],
            },
            "payment": {"handlers": []},
            "signing_keys": null,
        })
    }

    fn read(profile: &Value) -> Result<Profile, ProfileFault> {
        Profile::read(profile.to_string().as_bytes(), &Url::parse("https://shop.example/").unwrap())
    }

    #[test]
    fn both_published_forms_are_read() {
        let profile = read(&later()).unwrap();
        assert_eq!((profile.version, profile.takes_mandates), (Version::April8, true));
        assert_eq!(profile.endpoint.as_str(), "https://shop.example/ucp/v1");
        assert_eq!(profile.handler("com.example.pay"), Some("pay"));
        assert_eq!([profile.handler("com.example.two"), profile.handler("com.example.other")], [None, None]);
        let profile = read(&first()).unwrap();
        assert_eq!(
            (profile.version, profile.takes_mandates),
            (Version::January11, false),
            "another sign of discounts"
        );
        // It says that it takes mandates, so it is not paid by a token.
        let means = |credential| PaymentMeans {
            handler: "com.example.pay".to_owned(),
            instrument: crate::Instrument { id: "a".into(), kind: "card".into(), description: None },
            credential,
        };
        let mut unsigned = first();
        unsigned["payment"]["handlers"] = json!([{"id": "pay", "name": "com.example.pay"}]);
        assert_eq!(read(&unsigned).unwrap().takes(&means(Credential::Token)), None);
        unsigned["ucp"]["capabilities"] = json!([{"name": CHECKOUT, "version": "2026-01-11"}]);
        let unsigned = read(&unsigned).unwrap();
        assert_eq!(unsigned.takes(&means(Credential::Token)), Some("pay"));
        assert_eq!(unsigned.takes(&means(Credential::Mandate)), None);
        let mut renamed = later();
        let keys = renamed["signing_keys"].take();
        renamed.as_object_mut().unwrap().remove("signing_keys");
        renamed["keys"] = keys;
        assert!(read(&renamed).unwrap().takes_mandates);
        let mut unsigned = later();
        unsigned["signing_keys"] = json!([]);
        assert!(!read(&unsigned).unwrap().takes_mandates, "nobody could verify its checkouts");
    }

    #[test]
    fn a_profile_that_leads_elsewhere_is_refused() {
        for endpoint in [
            "https://shop.example.evil.example/ucp/v1",
            "https://evil.example/ucp/v1",
            "https://api.shop.example/ucp/v1",
            "http://shop.example/ucp/v1",
            "https://shop.example:8443/ucp/v1",
            "https://user@shop.example/ucp/v1",
            "https://shop.example@evil.example/ucp/v1",
            "https://shop.example/ucp/v1?to=https://evil.example",
            "https://shop.example/ucp/v1#x",
            "https://xn--shp-0na.example/ucp/v1",
            "data:text/plain,x",
        ] {
            let mut profile = later();
            profile["ucp"]["services"][SHOPPING][1]["endpoint"] = endpoint.into();
            assert_eq!(read(&profile), Err(ProfileFault::Elsewhere), "{endpoint}");
        }
    }

    #[test]
    fn a_profile_that_cannot_be_understood_in_one_way_is_refused() {
        let changes: &[(Change, ProfileFault)] = &[
            (|it| it["ucp"]["version"] = json!("2027-01-01"), ProfileFault::Version),
            (|it| it["ucp"] = json!([]), ProfileFault::Version),
            (|it| it["ucp"]["services"] = json!({}), ProfileFault::Service),
            (|it| it["ucp"]["services"][SHOPPING][0]["transport"] = json!("rest"), ProfileFault::Service),
            (|it| it["ucp"]["services"][SHOPPING][1]["endpoint"] = json!("/ucp/v1"), ProfileFault::Service),
            (|it| it["ucp"]["capabilities"] = json!({}), ProfileFault::Checkout),
            (|it| it["ucp"]["capabilities"][CHECKOUT] = json!([]), ProfileFault::Checkout),
            (|it| it["keys"] = json!([key("shop-2")]), ProfileFault::Keys(KeyFault::Kind)),
            (|it| it["signing_keys"] = json!([key("a"), key("a")]), ProfileFault::Keys(KeyFault::Name)),
        ];
        for (change, fault) in changes {
            let mut profile = later();
            change(&mut profile);
            assert_eq!(read(&profile), Err(*fault));
        }
        let origin = Url::parse("https://shop.example/").unwrap();
        let twice =
            later().to_string().replacen("\"signing_keys\"", "\"signing_keys\":[],\"signing_keys\"", 1);
        assert!(matches!(Profile::read(twice.as_bytes(), &origin), Err(ProfileFault::Json(_))));
    }
}
