//! The profile in which the shop says how it is spoken to.

use checkout_protocols::PublicKey;
use serde_json::{Map, Value, json};

/// The version of UCP that the shop speaks.
pub(crate) const VERSION: &str = "2026-04-08";
/// The path that the paths of all calls begin with.
pub const ENDPOINT_PATH: &str = "/ucp/v1";
/// The payment handler, named for what it is.
pub const HANDLER: &str = "dev.portcullis.test_money";
/// The name by which an instrument names the handler. It is the type of such an instrument too.
pub const HANDLER_ID: &str = "test_money";

pub(crate) const SERVICE: &str = "dev.ucp.shopping";
pub(crate) const CHECKOUT: &str = "dev.ucp.shopping.checkout";
pub(crate) const FULFILLMENT: &str = "dev.ucp.shopping.fulfillment";
const MANDATES: &str = "dev.ucp.shopping.ap2_mandate";

/// The payment handlers, which the profile and each checkout name.
fn payment_handlers() -> Value {
    json!({HANDLER: [{"id": HANDLER_ID, "version": VERSION, "name": "test money, no real payment"}]})
}

/// What each checkout says of the protocol.
pub(crate) fn metadata() -> Value {
    let plain = json!([{"version": VERSION}]);
    let capabilities: Map<String, Value> =
        [CHECKOUT, FULFILLMENT, MANDATES].map(|name| (name.to_owned(), plain.clone())).into_iter().collect();
    json!({"version": VERSION, "capabilities": capabilities, "payment_handlers": payment_handlers()})
}

/// The profile of a shop whose calls are at this origin, and whose checkouts this key signs.
pub(crate) fn profile(origin: &str, key: &PublicKey, key_name: &str) -> Value {
    let mut jwk = key.to_jwk();
    if let Some(jwk) = jwk.as_object_mut() {
        let more = [("kid", key_name), ("use", "sig"), ("alg", "ES256")];
        jwk.extend(more.map(|(name, value)| (name.to_owned(), value.into())));
    }
    let endpoint = format!("{origin}{ENDPOINT_PATH}");
    json!({
        "ucp": {
            "version": VERSION,
            "services": {SERVICE: [{"version": VERSION, "transport": "rest", "endpoint": endpoint}]},
            "capabilities": {
                CHECKOUT: [{"version": VERSION}],
                FULFILLMENT: [{"version": VERSION, "extends": CHECKOUT}],
                MANDATES: [{
                    "version": VERSION,
                    "extends": CHECKOUT,
                    "config": {"vp_formats_supported": {"dc+sd-jwt": {}}},
                }],
            },
            "payment_handlers": payment_handlers(),
        },
        "signing_keys": [jwk],
    })
}
