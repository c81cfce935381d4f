//! The numbers of the fields in a file. A number is never given anew.

use sirl::Field;

/// The field's number.
pub(super) fn code_of(field: Field) -> u8 {
    match field {
        Field::Name => 1,
        Field::Country => 2,
        Field::Region => 3,
        Field::City => 4,
        Field::Phone => 5,
        Field::Email => 6,
        Field::Street => 7,
        Field::PostalCode => 8,
        Field::CardNumber => 9,
        Field::CardExpiry => 10,
        Field::CardCode => 11,
        Field::GovernmentId => 12,
        Field::Password => 13,
        Field::OneTimeCode => 14,
    }
}

/// The field with this number.
pub(super) fn field_of(code: u8) -> Option<Field> {
    Field::ALL.into_iter().find(|field| code_of(*field) == code)
}
