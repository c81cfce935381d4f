//! The claims of AP2's mandates (version 0.2), and what they are made of. A member or a constraint that is not named here is refused: it
//! could mean that more is bought than was agreed to.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who sells and is paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Merchant {
    /// The shop's name for itself.
    pub id: String,
    /// The name that people read.
    pub name: String,
    /// Its site: an origin, without a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
}

/// What pays. It never holds a card's number: the description has the last four digits at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instrument {
    /// The name by which the payment's handler knows it.
    pub id: String,
    /// Its kind, such as `card`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What people read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The code of a currency, as in ISO 4217: three capital letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(String);

/// A text is no code of a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the code of a currency is three capital letters, such as USD")]
pub struct UnknownCurrency;

impl TryFrom<String> for Currency {
    type Error = UnknownCurrency;

    fn try_from(code: String) -> Result<Currency, UnknownCurrency> {
        let is_code = code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_uppercase());
        if is_code { Ok(Currency(code)) } else { Err(UnknownCurrency) }
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> String {
        currency.0
    }
}

impl std::fmt::Display for Currency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A sum in the smallest unit of its currency, such as cents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// The number of units.
    pub amount: u64,
    /// The currency.
    pub currency: Currency,
}

/// An item that a line may hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptableItem {
    pub(crate) id: String,
    pub(crate) title: String,
}

/// A line that the checkout must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequiredLine {
    pub(crate) id: String,
    pub(crate) acceptable_items: Vec<AcceptableItem>,
    pub(crate) quantity: NonZeroU32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(crate) enum CheckoutConstraint {
    #[serde(rename = "checkout.allowed_merchants")]
    AllowedMerchants { allowed: Vec<Merchant> },
    #[serde(rename = "checkout.line_items")]
    LineItems { items: Vec<RequiredLine> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(crate) enum PaymentConstraint {
    #[serde(rename = "payment.amount_range")]
    AmountRange {
        currency: Currency,
        max: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<u64>,
    },
    #[serde(rename = "payment.allowed_payees")]
    AllowedPayees { allowed: Vec<Merchant> },
    #[serde(rename = "payment.allowed_payment_instruments")]
    AllowedInstruments { allowed: Vec<Instrument> },
}

/// The key to which a mandate is bound (RFC 7800).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirmation {
    pub(crate) jwk: Value,
}

/// The four mandates, by the claim `vct`, whose number is part of the name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "vct", deny_unknown_fields)]
pub(crate) enum Mandate {
    #[serde(rename = "mandate.checkout.open.1")]
    OpenCheckout { constraints: Vec<CheckoutConstraint>, cnf: Confirmation, iat: u64, exp: u64 },
    #[serde(rename = "mandate.checkout.1")]
    Checkout { checkout_jwt: String, checkout_hash: String, iat: u64, exp: u64 },
    #[serde(rename = "mandate.payment.open.1")]
    OpenPayment { constraints: Vec<PaymentConstraint>, cnf: Confirmation, iat: u64, exp: u64 },
    #[serde(rename = "mandate.payment.1")]
    Payment {
        transaction_id: String,
        payee: Merchant,
        payment_amount: Amount,
        payment_instrument: Instrument,
        iat: u64,
        exp: u64,
    },
}

impl Mandate {
    /// When it was made and when it ends, in seconds since 1970.
    pub(crate) fn times(&self) -> (u64, u64) {
        match self {
            Mandate::OpenCheckout { iat, exp, .. }
            | Mandate::Checkout { iat, exp, .. }
            | Mandate::OpenPayment { iat, exp, .. }
            | Mandate::Payment { iat, exp, .. } => (*iat, *exp),
        }
    }

    /// The key that may close it; none of a closed one.
    pub(crate) fn confirmation(&self) -> Option<&Confirmation> {
        match self {
            Mandate::OpenCheckout { cnf, .. } | Mandate::OpenPayment { cnf, .. } => Some(cnf),
            Mandate::Checkout { .. } | Mandate::Payment { .. } => None,
        }
    }
}
