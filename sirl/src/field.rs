//! Data fields, their tiers, and sets of fields.

/// The tier of a field, by the harm that its release can do, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// No sensitive data: only reading.
    T0,
    /// Low risk: data for routine forms.
    T1,
    /// High risk: data whose leak does material harm.
    T2,
}

impl Tier {
    /// Every tier, lowest first.
    pub const ALL: [Tier; 3] = [Tier::T0, Tier::T1, Tier::T2];

    /// The name of the tier: `T0`, `T1` or `T2`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Tier::T0 => "T0",
            Tier::T1 => "T1",
            Tier::T2 => "T2",
        }
    }

    /// The tier with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|tier| tier.as_str() == name)
    }
}

/// One field of a user's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// A person's name.
    Name,
    /// Country of residence.
    Country,
    /// State, province or region.
    Region,
    /// City.
    City,
    /// Phone number.
    Phone,
    /// E-mail address.
    Email,
    /// Street and house number.
    Street,
    /// Postal code.
    PostalCode,
    /// Payment card number.
    CardNumber,
    /// Payment card expiry.
    CardExpiry,
    /// Payment card security code.
    CardCode,
    /// Government identity number.
    GovernmentId,
    /// Password.
    Password,
    /// One-time code.
    OneTimeCode,
    /// The name of an account.
    Username,
    /// A company.
    Company,
    /// Birth date.
    BirthDate,
    /// A password that the guard makes for a new account.
    NewPassword,
}

impl Field {
    /// Every field, in the order of the specification.
    pub const ALL: [Field; 18] = [
        Field::Name,
        Field::Country,
        Field::Region,
        Field::City,
        Field::Phone,
        Field::Email,
        Field::Street,
        Field::PostalCode,
        Field::CardNumber,
        Field::CardExpiry,
        Field::CardCode,
        Field::GovernmentId,
        Field::Password,
        Field::OneTimeCode,
        Field::Username,
        Field::Company,
        Field::BirthDate,
        Field::NewPassword,
    ];

    /// The canonical name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Country => "country",
            Field::Region => "region",
            Field::City => "city",
            Field::Phone => "phone",
            Field::Email => "email",
            Field::Street => "street",
            Field::PostalCode => "postal_code",
            Field::CardNumber => "card_number",
            Field::CardExpiry => "card_expiry",
            Field::CardCode => "card_code",
            Field::GovernmentId => "government_id",
            Field::Password => "password",
            Field::OneTimeCode => "one_time_code",
            Field::Username => "username",
            Field::Company => "company",
            Field::BirthDate => "birth_date",
            Field::NewPassword => "new_password",
        }
    }

    /// The field with this name or alias (`zip`, `number`, `exp`, `cvv`), if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Field> {
        match name {
            "zip" => Some(Field::PostalCode),
            "number" => Some(Field::CardNumber),
            "exp" => Some(Field::CardExpiry),
            "cvv" => Some(Field::CardCode),
            _ => Field::ALL.into_iter().find(|field| field.as_str() == name),
        }
    }

    /// The tier of the field. A policy may raise it, never lower it.
    #[must_use]
    pub const fn tier(self) -> Tier {
        match self {
            Field::Name
            | Field::Country
            | Field::Region
            | Field::City
            | Field::Phone
            | Field::Email
            | Field::Username
            | Field::Company => Tier::T1,
            Field::Street
            | Field::PostalCode
            | Field::CardNumber
            | Field::CardExpiry
            | Field::CardCode
            | Field::GovernmentId
            | Field::Password
            | Field::OneTimeCode
            | Field::BirthDate
            | Field::NewPassword => Tier::T2,
        }
    }

    const fn bit(self) -> u32 {
        1 << (self as u32)
    }
}

/// A set of fields. Iteration is in the order of [`Field::ALL`]. With the feature `serde` it is a list of names.
///
/// ```
/// use sirl::{Field, FieldSet, Tier};
///
/// let set = FieldSet::EMPTY.with(Field::PostalCode).with(Field::City);
/// assert_eq!(set.iter().collect::<Vec<_>>(), [Field::City, Field::PostalCode]);
/// assert_eq!(set.tier(), Tier::T2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FieldSet(u32);

impl FieldSet {
    /// The empty set.
    pub const EMPTY: FieldSet = FieldSet(0);

    /// Tells if the set has no field.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of fields in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Tells if `field` is in the set.
    #[must_use]
    pub const fn contains(self, field: Field) -> bool {
        self.0 & field.bit() != 0
    }

    /// The set with `field` added.
    #[must_use]
    pub const fn with(self, field: Field) -> FieldSet {
        FieldSet(self.0 | field.bit())
    }

    /// The fields of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: FieldSet) -> FieldSet {
        FieldSet(self.0 & !other.0)
    }

    /// Tells if every field of this set is in `other`.
    #[must_use]
    pub const fn is_subset_of(self, other: FieldSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// The fields that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: FieldSet) -> FieldSet {
        FieldSet(self.0 & other.0)
    }

    /// The fields of the set, in order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |field| self.contains(*field))
    }

    /// The highest tier in the set; `T0` for the empty set.
    #[must_use]
    pub fn tier(self) -> Tier {
        self.iter().map(Field::tier).max().unwrap_or(Tier::T0)
    }
}

impl FromIterator<Field> for FieldSet {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> FieldSet {
        fields.into_iter().fold(FieldSet::EMPTY, FieldSet::with)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for FieldSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for FieldSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<FieldSet, D::Error> {
        Vec::<Field>::deserialize(deserializer).map(FieldSet::from_iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_parsed() {
        for field in Field::ALL {
            assert_eq!(Field::from_name(field.as_str()), Some(field));
        }
        for (alias, field) in [
            ("zip", Field::PostalCode),
            ("number", Field::CardNumber),
            ("exp", Field::CardExpiry),
            ("cvv", Field::CardCode),
        ] {
            assert_eq!(Field::from_name(alias), Some(field));
        }
        for name in ["", "City", "city ", "card", "postcode"] {
            assert_eq!(Field::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn tiers_are_those_of_the_paper() {
        let t1 = ["name", "country", "region", "city", "phone", "email", "username", "company"];
        for field in Field::ALL {
            let tier = if t1.contains(&field.as_str()) { Tier::T1 } else { Tier::T2 };
            assert_eq!(field.tier(), tier, "{}", field.as_str());
        }
        assert!(Tier::T0 < Tier::T1 && Tier::T1 < Tier::T2);
        for tier in Tier::ALL {
            assert_eq!(Tier::from_name(tier.as_str()), Some(tier));
        }
        assert_eq!(Tier::from_name("t1"), None);
    }

    /// Compares all 2^18 sets with a plain list of fields.
    #[test]
    fn every_set_agrees_with_a_list() {
        for bits in 0u32..1 << Field::ALL.len() {
            let list: Vec<Field> = Field::ALL
                .into_iter()
                .enumerate()
                .filter(|(at, _)| bits >> at & 1 == 1)
                .map(|(_, f)| f)
                .collect();
            let set: FieldSet = list.iter().rev().copied().collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), list);
            assert_eq!((set.len(), set.is_empty()), (list.len(), list.is_empty()));
            assert_eq!(set.tier(), list.iter().map(|field| field.tier()).max().unwrap_or(Tier::T0));
            assert!(set.is_subset_of(Field::ALL.into_iter().collect()));
            for field in Field::ALL {
                assert_eq!(set.contains(field), list.contains(&field));
                assert!(set.is_subset_of(set.with(field)));
                assert_eq!(set.with(field).is_subset_of(set), list.contains(&field));
                assert_eq!(set.intersection(FieldSet::EMPTY.with(field)).is_empty(), !list.contains(&field));
                assert!(!set.without(FieldSet::EMPTY.with(field)).contains(field));
                assert_eq!(set.without(FieldSet::EMPTY.with(field)).with(field), set.with(field));
            }
        }
    }
}
