//! AP2's receipts: the shop's word that it took a mandate.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use checkout_protocols::{JsonFault, SigningKey, sign_json};
use serde_json::{Map, Value, json};

/// The two receipts of a sale, as they are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Receipts {
    pub(crate) checkout: String,
    pub(crate) payment: String,
}

/// What both receipts say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issued<'a> {
    /// The shop's origin.
    pub(crate) by: &'a str,
    /// In seconds since 1970.
    pub(crate) at: u64,
}

impl Issued<'_> {
    /// Writes a receipt for a mandate, with the claims of its kind.
    fn receipt<const N: usize>(self, reference: &str, claims: [(&str, &str); N]) -> Map<String, Value> {
        let mut receipt = Map::from_iter([
            ("status".to_owned(), "Success".into()),
            ("iss".to_owned(), self.by.into()),
            ("iat".to_owned(), self.at.into()),
            ("reference".to_owned(), reference.into()),
        ]);
        receipt.extend(claims.map(|(name, value)| (name.to_owned(), value.into())));
        receipt
    }

    /// The receipt for the checkout mandate of this hash.
    pub(crate) fn checkout(self, reference: &str, order: &str) -> Map<String, Value> {
        self.receipt(reference, [("order_id", order)])
    }

    /// The receipt for the payment mandate of this hash. No bank and no network took part, and the names of their confirmations say so.
    pub(crate) fn payment(self, reference: &str, payment: &str) -> Map<String, Value> {
        let confirmations =
            [("psp_confirmation_id", "test_money_psp"), ("network_confirmation_id", "test_money_network")];
        let [processor, network] = confirmations;
        self.receipt(reference, [("payment_id", payment), processor, network])
    }
}

/// Signs a receipt with the shop's key.
pub(crate) fn signed(
    key: &SigningKey,
    key_name: &str,
    receipt: Map<String, Value>,
) -> Result<String, JsonFault> {
    sign_json(key, key_name, receipt)
}

/// Writes a receipt as a shop does that signs nothing.
pub(crate) fn unsigned(key_name: &str, receipt: &Map<String, Value>) -> String {
    let header = json!({"alg": "none", "kid": key_name}).to_string();
    let payload = Value::Object(receipt.clone()).to_string();
    format!("{}.{}.", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload))
}
