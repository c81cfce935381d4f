//! The destinations of a checkout: UCP's extension `fulfillment`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A postal address, in UCP's fields. Each is the whole text of the field, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PostalAddress {
    /// Street and number.
    pub street_address: String,
    /// Flat, floor or building.
    pub extended_address: String,
    /// City.
    pub address_locality: String,
    /// State or province.
    pub address_region: String,
    /// Postal code.
    pub postal_code: String,
    /// Country: two letters of ISO 3166-1.
    pub address_country: String,
    /// Given name of the recipient.
    pub first_name: String,
    /// Family name of the recipient.
    pub last_name: String,
    /// Telephone, as in E.164.
    pub phone_number: String,
}

impl PostalAddress {
    /// Whether two addresses are the same place and person: every field equal, but for case, accents not folded, and white space.
    pub fn is_same(&self, other: &PostalAddress) -> bool {
        let fields = |address: &PostalAddress| {
            [
                &address.street_address,
                &address.extended_address,
                &address.address_locality,
                &address.address_region,
                &address.postal_code,
                &address.address_country,
                &address.first_name,
                &address.last_name,
                &address.phone_number,
            ]
            .map(|field| field.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
        };
        fields(self) == fields(other)
    }
}

/// Who buys.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Buyer {
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// E-mail address.
    pub email: String,
    /// Telephone, as in E.164.
    pub phone_number: String,
}

/// A destination: an address and the shop's name for it.
#[derive(Debug, Clone, PartialEq)]
struct Destination {
    id: String,
    address: PostalAddress,
}

impl<'de> Deserialize<'de> for Destination {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Destination, D::Error> {
        use serde::de::Error;
        let mut members = serde_json::Map::<String, Value>::deserialize(deserializer)?;
        let Some(Value::String(id)) = members.remove("id") else { return Err(D::Error::missing_field("id")) };
        let address = serde_json::from_value(Value::Object(members)).map_err(D::Error::custom)?;
        Ok(Destination { id, address })
    }
}

/// How some lines reach the buyer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "type")]
    kind: String,
    line_item_ids: Vec<String>,
    #[serde(default)]
    destinations: Vec<Destination>,
    #[serde(default)]
    selected_destination_id: Option<String>,
    /// Parcels and their options: what they cost is in the totals.
    #[serde(default, rename = "groups")]
    _groups: Vec<Value>,
}

/// The destinations of all lines.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fulfillment {
    #[serde(default)]
    methods: Vec<Method>,
}

impl Fulfillment {
    /// Whether each of these lines is shipped once, to this address and no other.
    pub(crate) fn ships_all_to(&self, lines: &[&str], address: &PostalAddress) -> bool {
        let mut shipped: BTreeMap<&str, u32> = BTreeMap::new();
        for method in &self.methods {
            let selected = |it: &&Destination| Some(&it.id) == method.selected_destination_id.as_ref();
            let mut selected = method.destinations.iter().filter(selected);
            let (Some(destination), None) = (selected.next(), selected.next()) else { return false };
            if method.kind != "shipping" || !destination.address.is_same(address) {
                return false;
            }
            for line in &method.line_item_ids {
                *shipped.entry(line).or_default() += 1;
            }
        }
        shipped.len() == lines.len() && lines.iter().all(|line| shipped.get(line) == Some(&1))
    }

    /// Whether nothing is shipped or picked up.
    pub(crate) fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }
}
