//! Who buys, and the destinations of a checkout: UCP's extension `fulfillment`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::checkout::Total;
use crate::order::object;

/// A postal address, in UCP's fields. A field that does not apply is empty. The address is wiped when it is dropped, and it has no
/// `Debug` and no `Clone`.
#[derive(Default, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(deny_unknown_fields)]
pub struct PostalAddress {
    /// Street and number.
    #[serde(default)]
    pub street_address: String,
    /// Flat, floor or building.
    #[serde(default)]
    pub extended_address: String,
    /// City.
    #[serde(default)]
    pub address_locality: String,
    /// State or province.
    #[serde(default)]
    pub address_region: String,
    /// Postal code.
    #[serde(default)]
    pub postal_code: String,
    /// Country: two letters of ISO 3166-1.
    #[serde(default)]
    pub address_country: String,
    /// Given name of the recipient.
    #[serde(default)]
    pub first_name: String,
    /// Family name of the recipient.
    #[serde(default)]
    pub last_name: String,
    /// Telephone, as in E.164.
    #[serde(default)]
    pub phone_number: String,
}

/// The names of the fields, in the order of [`PostalAddress::fields`].
const NAMES: [&str; 9] = [
    "street_address",
    "extended_address",
    "address_locality",
    "address_region",
    "postal_code",
    "address_country",
    "first_name",
    "last_name",
    "phone_number",
];

impl PostalAddress {
    fn fields(&self) -> [&str; 9] {
        [
            &self.street_address,
            &self.extended_address,
            &self.address_locality,
            &self.address_region,
            &self.postal_code,
            &self.address_country,
            &self.first_name,
            &self.last_name,
            &self.phone_number,
        ]
    }

    /// The address as it is sent: the fields that are not empty. Whoever writes it down wipes it.
    pub(crate) fn written(&self) -> Value {
        let fields = NAMES.iter().zip(self.fields()).filter(|(_, text)| !text.is_empty());
        fields.map(|(name, text)| ((*name).to_owned(), Value::from(text))).collect::<Map<_, _>>().into()
    }

    /// Whether every field has the same words in both addresses. Upper and lower case are the same, and so is any white space. The two
    /// names are compared together, since ACP has one field for both.
    pub(crate) fn is_same(&self, other: &PostalAddress) -> bool {
        let is_name = |name: &str| ["first_name", "last_name"].contains(&name);
        let mut fields = NAMES.iter().zip(self.fields().into_iter().zip(other.fields()));
        fields.all(|(name, (field, other))| is_name(name) || has_same_words(field, other))
            && are_same_words(&[&self.first_name, &self.last_name], &[&other.first_name, &other.last_name])
    }
}

/// A person who buys. It is wiped when it is dropped, and has no `Debug` and no `Clone`.
#[derive(Default, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(deny_unknown_fields)]
pub struct Buyer {
    /// Given name.
    #[serde(default)]
    pub first_name: String,
    /// Family name.
    #[serde(default)]
    pub last_name: String,
    /// E-mail address.
    #[serde(default)]
    pub email: String,
    /// Telephone, as in E.164.
    #[serde(default)]
    pub phone_number: String,
}

impl Buyer {
    /// The buyer as it is sent: the fields that are not empty. Whoever writes it down wipes it.
    pub(crate) fn written(&self) -> Value {
        let fields = [
            ("first_name", &self.first_name),
            ("last_name", &self.last_name),
            ("email", &self.email),
            ("phone_number", &self.phone_number),
        ];
        let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
        fields.map(|(name, text)| (name.to_owned(), Value::from(text.as_str()))).collect::<Map<_, _>>().into()
    }

    /// Whether both are the same person, with the same words in every field.
    pub(crate) fn is_same(&self, other: &Buyer) -> bool {
        has_same_words(&self.first_name, &other.first_name)
            && has_same_words(&self.last_name, &other.last_name)
            && has_same_words(&self.email, &other.email)
            && has_same_words(&self.phone_number, &other.phone_number)
    }
}

pub(crate) fn has_same_words(text: &str, other: &str) -> bool {
    are_same_words(&[text], &[other])
}

/// Compares without a copy, since a copy would have to be wiped.
fn are_same_words(texts: &[&str], others: &[&str]) -> bool {
    let mut words = texts.iter().flat_map(|text| text.split_whitespace());
    let mut others = others.iter().flat_map(|text| text.split_whitespace());
    loop {
        match (words.next(), others.next()) {
            (None, None) => return true,
            (Some(word), Some(other)) => {
                let lower = |word: &str| {
                    word.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
                };
                if !lower(word) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// A destination: an address and the shop's name for it.
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
#[derive(Deserialize)]
struct Method {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    line_item_ids: Vec<String>,
    #[serde(default)]
    destinations: Vec<Destination>,
    #[serde(default)]
    selected_destination_id: Option<String>,
    #[serde(default)]
    groups: Vec<Group>,
}

/// A parcel, and the ways in which it can be sent.
#[derive(Deserialize)]
struct Group {
    id: String,
    #[serde(rename = "line_item_ids")]
    _line_item_ids: Vec<String>,
    #[serde(default)]
    options: Vec<DeliveryOption>,
    #[serde(default)]
    selected_option_id: Option<String>,
}

/// A way of sending a parcel. What it costs is in the totals of the checkout too.
#[derive(Deserialize)]
struct DeliveryOption {
    id: String,
    title: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default, rename = "carrier")]
    _carrier: Option<String>,
    #[serde(default, rename = "earliest_fulfillment_time")]
    _earliest: Option<String>,
    #[serde(default, rename = "latest_fulfillment_time")]
    _latest: Option<String>,
    totals: Vec<Total>,
}

impl DeliveryOption {
    /// Its price; none where it has no total, or several.
    fn cost(&self) -> Option<i64> {
        let mut totals = self.totals.iter().filter(|total| total.kind == "total");
        match (totals.next(), totals.next()) {
            (Some(total), None) => Some(total.amount),
            _ => None,
        }
    }
}

/// The destinations of all lines.
#[derive(Default, Deserialize)]
pub(crate) struct Fulfillment {
    #[serde(default)]
    methods: Vec<Method>,
}

impl Fulfillment {
    /// Whether the checkout ships each of these lines once, and ships everything to this address.
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

    /// The methods as they are sent back with a choice: this address, and the cheapest option of each parcel. None where there is nothing
    /// to choose, or no such choice. Whoever writes it down wipes it.
    pub(crate) fn choose(&self, address: &PostalAddress) -> Option<Vec<Value>> {
        let methods = self.methods.iter().map(|method| {
            let mut same = method.destinations.iter().filter(|it| it.address.is_same(address));
            let (destination, None) = (same.next()?, same.next()) else { return None };
            let groups = method.groups.iter().map(|group| {
                let cheapest =
                    group.options.iter().filter_map(|it| Some((it.cost()?, it))).min_by_key(|it| it.0);
                Some(json!({"id": group.id, "selected_option_id": cheapest?.1.id}))
            });
            let mut sent = address.written();
            sent.as_object_mut()?.insert("id".to_owned(), destination.id.clone().into());
            Some(object([
                ("id", method.id.clone().into()),
                ("type", method.kind.clone().into()),
                ("line_item_ids", method.line_item_ids.clone().into()),
                ("destinations", vec![sent].into()),
                ("selected_destination_id", destination.id.clone().into()),
                ("groups", groups.collect::<Option<Vec<_>>>()?.into()),
            ]))
        });
        let methods = methods.collect::<Option<Vec<_>>>()?;
        (!methods.is_empty()).then_some(methods)
    }

    /// The titles of the options that are chosen, sorted; none where a parcel has no single chosen option.
    pub(crate) fn chosen_options(&self) -> Option<Vec<&str>> {
        let mut titles = Vec::new();
        for group in self.methods.iter().flat_map(|method| &method.groups) {
            let chosen = |it: &&DeliveryOption| Some(&it.id) == group.selected_option_id.as_ref();
            let mut chosen = group.options.iter().filter(chosen);
            let (Some(option), None) = (chosen.next(), chosen.next()) else { return None };
            titles.push(option.title.as_str());
        }
        titles.sort_unstable();
        Some(titles)
    }

    /// The chosen options: the shop's ids, and what they cost.
    pub(crate) fn chosen(&self) -> Vec<(String, Option<i64>)> {
        let groups = self.methods.iter().flat_map(|method| &method.groups);
        let chosen = groups.flat_map(|group| {
            group.options.iter().filter(|it| Some(&it.id) == group.selected_option_id.as_ref())
        });
        chosen.map(|option| (option.id.clone(), option.cost())).collect()
    }

    /// Whether each method has a destination, and each of its parcels a way of delivery.
    pub(crate) fn is_chosen(&self) -> bool {
        let is_chosen = |method: &Method| {
            let mut groups = method.groups.iter();
            method.selected_destination_id.is_some()
                && !method.groups.is_empty()
                && groups.all(|group| group.selected_option_id.is_some())
        };
        !self.methods.is_empty() && self.methods.iter().all(is_chosen)
    }

    /// Whether the checkout has no delivery and no pickup.
    pub(crate) fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};

    use serde::Serialize;
    use static_assertions::{assert_impl_all, assert_not_impl_any};

    use super::*;
    use crate::{Agreement, VerifiedCheckout};

    assert_not_impl_any!(PostalAddress: Clone, Debug, Display, Serialize);
    assert_not_impl_any!(Buyer: Clone, Debug, Display, Serialize);
    assert_not_impl_any!(Agreement: Clone, Debug, Display, Serialize);
    assert_not_impl_any!(VerifiedCheckout: Clone, Debug, Display, Serialize);
    assert_not_impl_any!(crate::AgreedCheckout: Clone, Debug, Display, Serialize);
    assert_not_impl_any!(crate::SigningKey: Clone, Debug, Display, Serialize);
    assert_impl_all!(PostalAddress: ZeroizeOnDrop);
    assert_impl_all!(Buyer: ZeroizeOnDrop);

    #[test]
    fn words_are_compared_without_case_and_white_space() {
        for (text, other, is_same) in [
            ("17  Elm ROAD ", "17 elm road", true),
            ("17 Elm Road", "17 Elm Roads", false),
            ("17 Elm Road", "17 Elm", false),
            ("ab c", "a bc", false),
            ("", " ", true),
            ("", "x", false),
        ] {
            assert_eq!(has_same_words(text, other), is_same, "{text:?} {other:?}");
        }
    }

    #[test]
    fn the_names_of_a_recipient_are_compared_together() {
        let named = |first: &str, last: &str| {
            let mut address = PostalAddress::default();
            (address.first_name, address.last_name) = (first.to_owned(), last.to_owned());
            address
        };
        let address = named("Ada", "King Byron");
        for (first, last, is_same) in [
            ("Ada King Byron", "", true),
            ("ada king", "BYRON", true),
            ("Ada", "Byron King", false),
            ("Ada", "King", false),
            ("AdaKing", "Byron", false),
        ] {
            assert_eq!(address.is_same(&named(first, last)), is_same, "{first:?} {last:?}");
        }
    }
}
