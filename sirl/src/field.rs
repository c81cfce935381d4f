//! The single data fields, their tiers, and sets of them.

/// How much harm the release of a field can do. The order is the order of harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Nothing sensitive: reading only.
    T0,
    /// Low risk: suitable for routine forms.
    T1,
    /// High risk: materially harmful when it leaks.
    T2,
}

impl Tier {
    /// Every tier, lowest first.
    pub const ALL: [Tier; 3] = [Tier::T0, Tier::T1, Tier::T2];

    /// The name of the tier: `T0`, `T1` or `T2`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Tier::T0 => "T0",
            Tier::T1 => "T1",
            Tier::T2 => "T2",
        }
    }

    /// The tier with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|tier| tier.as_str() == name)
    }
}

/// One field of a person's data.
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
}

impl Field {
    /// Every field, in the order of the specification.
    pub const ALL: [Field; 14] = [
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
    ];

    /// The canonical name.
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
        }
    }

    /// The field with this name or alias (`zip`, `number`, `exp`, `cvv`), if there is one.
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
    pub const fn tier(self) -> Tier {
        match self {
            Field::Name | Field::Country | Field::Region | Field::City | Field::Phone | Field::Email => Tier::T1,
            Field::Street
            | Field::PostalCode
            | Field::CardNumber
            | Field::CardExpiry
            | Field::CardCode
            | Field::GovernmentId
            | Field::Password
            | Field::OneTimeCode => Tier::T2,
        }
    }

    const fn bit(self) -> u16 {
        1 << (self as u16)
    }
}

/// A set of fields. Iteration is in the order of [`Field::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FieldSet(u16);

impl FieldSet {
    /// The empty set.
    pub const EMPTY: FieldSet = FieldSet(0);

    /// Whether the set has no field.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many fields the set has.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether `field` is in the set.
    pub const fn contains(self, field: Field) -> bool {
        self.0 & field.bit() != 0
    }

    /// The set with `field` added.
    #[must_use]
    pub const fn with(self, field: Field) -> FieldSet {
        FieldSet(self.0 | field.bit())
    }

    /// Whether every field of this set is in `other`.
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
    pub fn tier(self) -> Tier {
        self.iter().map(Field::tier).max().unwrap_or(Tier::T0)
    }
}

impl FromIterator<Field> for FieldSet {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> FieldSet {
        fields.into_iter().fold(FieldSet::EMPTY, FieldSet::with)
    }
}
