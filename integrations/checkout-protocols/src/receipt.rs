//! The receipt by which a shop says that it sold by a mandate: AP2's checkout receipt (version 0.2).

use serde::Deserialize;

use crate::json::parse_object;
use crate::jws::Jws;
use crate::profile::Profile;

/// What a shop gave as a receipt for a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// One that the shop signed, for this mandate and this order.
    Signed,
    /// None. The signed checkout says alone that the order was placed.
    Missing,
    /// One that does not verify, or that is for another mandate or order.
    Wrong,
}

#[derive(Deserialize)]
struct Claims {
    status: String,
    iss: String,
    #[serde(rename = "iat")]
    _iat: u64,
    reference: String,
    #[serde(default)]
    order_id: Option<String>,
}

impl Receipt {
    /// Judges the receipt of a shop for the closed checkout mandate with this hash, if there is one, and for this order.
    pub(crate) fn judge(text: Option<&str>, shop: &Profile, reference: Option<&str>, order: &str) -> Receipt {
        let Some(text) = text else { return Receipt::Missing };
        let claims = claims(text, shop);
        let is_right = claims.is_some_and(|claims| {
            claims.status == "Success"
                && claims.iss == shop.origin()
                && Some(&*claims.reference) == reference
                && claims.order_id.as_deref() == Some(order)
        });
        if is_right { Receipt::Signed } else { Receipt::Wrong }
    }
}

/// The claims of a receipt that a key of the shop's profile signed.
fn claims(text: &str, shop: &Profile) -> Option<Claims> {
    let jws = Jws::parse(text).ok()?;
    let key = shop.keys.get(jws.header_text("kid")?)?;
    jws.verify(key).ok()?;
    serde_json::from_value(parse_object(&jws.payload).ok()?.into()).ok()
}
