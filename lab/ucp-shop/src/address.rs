//! Buyers and addresses, as the shop is told them. A shop reads what it is sent, so these types have `Debug` and `Clone`; the guard's own
//! types for a person's data have neither.

use serde::{Deserialize, Serialize};

/// A postal address, in UCP's fields. A field that does not apply is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Address {
    /// Given name of the recipient.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first_name: String,
    /// Family name of the recipient.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_name: String,
    /// Street and number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub street_address: String,
    /// Flat, floor or building.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub extended_address: String,
    /// City.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub address_locality: String,
    /// State or province.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub address_region: String,
    /// Postal code.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub postal_code: String,
    /// Country: two letters of ISO 3166-1.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub address_country: String,
    /// Telephone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phone_number: String,
}

impl Address {
    /// Whether a parcel with this address could arrive.
    pub(crate) fn is_deliverable(&self) -> bool {
        let needed = [&self.street_address, &self.address_locality, &self.address_country];
        needed.into_iter().all(|field| !field.trim().is_empty())
    }
}

/// A destination: an address and the shop's name for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Destination {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) address: Address,
}

/// A person who buys.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Buyer {
    /// Given name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first_name: String,
    /// Family name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_name: String,
    /// E-mail address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// Telephone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phone_number: String,
}
