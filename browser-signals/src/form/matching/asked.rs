//! The data that a control can ask for.

/// A kind of data that a control asks for. Pages divide some fields of a record, such as names and expiries, into several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Asked {
    /// A form of address, such as Ms or Dr.
    HonorificPrefix,
    /// A whole name.
    FullName,
    /// A given name.
    GivenName,
    /// A middle name or its initial.
    AdditionalName,
    /// A family name.
    FamilyName,
    /// A company.
    Company,
    /// A street with its number, or the first line of an address.
    Street,
    /// The second line of an address.
    StreetLine2,
    /// The third line of an address.
    StreetLine3,
    /// A house number apart from its street.
    HouseNumber,
    /// A city.
    City,
    /// A state, province or region.
    Region,
    /// A postal code.
    PostalCode,
    /// A country.
    Country,
    /// A phone number.
    Phone,
    /// The country code of a phone number.
    PhoneCountryCode,
    /// An e-mail address.
    Email,
    /// A user name, or whatever else names an account.
    Username,
    /// A user name or an e-mail address.
    UsernameOrEmail,
    /// The present password.
    Password,
    /// A password that is being set.
    NewPassword,
    /// A one-time code.
    OneTimeCode,
    /// A birth date.
    BirthDate,
    /// The day of a birth date.
    BirthDay,
    /// The month of a birth date.
    BirthMonth,
    /// The year of a birth date.
    BirthYear,
    /// The name on a card.
    CardName,
    /// A card number.
    CardNumber,
    /// The brand of a card.
    CardType,
    /// The expiry of a card.
    CardExpiry,
    /// The month of a card's expiry.
    CardExpiryMonth,
    /// The year of a card's expiry.
    CardExpiryYear,
    /// The security code of a card.
    CardCode,
    /// A government identity number.
    GovernmentId,
}

impl Asked {
    /// Everything, in the order of the specification.
    pub const ALL: [Asked; 34] = [
        Asked::HonorificPrefix,
        Asked::FullName,
        Asked::GivenName,
        Asked::AdditionalName,
        Asked::FamilyName,
        Asked::Company,
        Asked::Street,
        Asked::StreetLine2,
        Asked::StreetLine3,
        Asked::HouseNumber,
        Asked::City,
        Asked::Region,
        Asked::PostalCode,
        Asked::Country,
        Asked::Phone,
        Asked::PhoneCountryCode,
        Asked::Email,
        Asked::Username,
        Asked::UsernameOrEmail,
        Asked::Password,
        Asked::NewPassword,
        Asked::OneTimeCode,
        Asked::BirthDate,
        Asked::BirthDay,
        Asked::BirthMonth,
        Asked::BirthYear,
        Asked::CardName,
        Asked::CardNumber,
        Asked::CardType,
        Asked::CardExpiry,
        Asked::CardExpiryMonth,
        Asked::CardExpiryYear,
        Asked::CardCode,
        Asked::GovernmentId,
    ];

    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Asked::HonorificPrefix => "honorific_prefix",
            Asked::FullName => "name",
            Asked::GivenName => "given_name",
            Asked::AdditionalName => "additional_name",
            Asked::FamilyName => "family_name",
            Asked::Company => "company",
            Asked::Street => "street",
            Asked::StreetLine2 => "street_line2",
            Asked::StreetLine3 => "street_line3",
            Asked::HouseNumber => "house_number",
            Asked::City => "city",
            Asked::Region => "region",
            Asked::PostalCode => "postal_code",
            Asked::Country => "country",
            Asked::Phone => "phone",
            Asked::PhoneCountryCode => "phone_country_code",
            Asked::Email => "email",
            Asked::Username => "username",
            Asked::UsernameOrEmail => "username_or_email",
            Asked::Password => "password",
            Asked::NewPassword => "new_password",
            Asked::OneTimeCode => "one_time_code",
            Asked::BirthDate => "birth_date",
            Asked::BirthDay => "birth_day",
            Asked::BirthMonth => "birth_month",
            Asked::BirthYear => "birth_year",
            Asked::CardName => "cardholder",
            Asked::CardNumber => "card_number",
            Asked::CardType => "card_type",
            Asked::CardExpiry => "card_expiry",
            Asked::CardExpiryMonth => "card_expiry_month",
            Asked::CardExpiryYear => "card_expiry_year",
            Asked::CardCode => "card_code",
            Asked::GovernmentId => "government_id",
        }
    }

    /// Returns the kind of data with this name.
    pub fn from_name(name: &str) -> Option<Asked> {
        Asked::ALL.into_iter().find(|asked| asked.as_str() == name)
    }

    /// Returns whether this is part of a postal address or of its person's contact data, which a form may ask for in two sections.
    pub const fn is_of_an_address(self) -> bool {
        matches!(
            self,
            Asked::FullName
                | Asked::GivenName
                | Asked::AdditionalName
                | Asked::FamilyName
                | Asked::Company
                | Asked::Street
                | Asked::StreetLine2
                | Asked::StreetLine3
                | Asked::HouseNumber
                | Asked::City
                | Asked::Region
                | Asked::PostalCode
                | Asked::Country
                | Asked::Phone
                | Asked::PhoneCountryCode
                | Asked::Email
        )
    }

    /// Returns whether this is a secret, which no control may get by mistake: a password, a code, a card number or a government id.
    pub const fn is_secret(self) -> bool {
        matches!(
            self,
            Asked::Password
                | Asked::NewPassword
                | Asked::OneTimeCode
                | Asked::CardNumber
                | Asked::CardCode
                | Asked::GovernmentId
        )
    }
}
