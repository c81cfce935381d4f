//! The record of the vault that each value of the prompt goes into.

use std::ops::Range;

use browser_signals::Origin;
use sirl::Field;

use super::named;

/// One value of the prompt, by its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its span.
    pub span: Range<usize>,
    /// Its field.
    pub field: Field,
    /// The handle of the record that it goes into, such as `card:task`.
    pub handle: &'static str,
    /// The origin of a password or one-time code: the last web address before it, or else the first of the prompt. `None`
    /// for other fields, and where the prompt names no web address.
    pub binding: Option<Origin>,
}

/// The records for the values of a prompt. Where a prompt has two values of one field, as for two people, the second goes
/// into the record with the next letter.
pub const HANDLES: [&str; 20] = [
    "card:task",
    "card:task-b",
    "card:task-c",
    "card:task-d",
    "contact:task",
    "contact:task-b",
    "contact:task-c",
    "contact:task-d",
    "identity:task",
    "identity:task-b",
    "identity:task-c",
    "identity:task-d",
    "login:task",
    "login:task-b",
    "login:task-c",
    "login:task-d",
    "address:task",
    "address:task-b",
    "address:task-c",
    "address:task-d",
];

/// The number of records of each kind.
const RECORDS_PER_KIND: usize = 4;

/// The kind of record for a field from the prompt.
fn kind_of(field: Field) -> &'static str {
    match field {
        Field::CardNumber | Field::CardExpiry | Field::CardCode => "card",
        Field::Email | Field::Phone | Field::Company => "contact",
        Field::GovernmentId | Field::BirthDate => "identity",
        Field::Password | Field::NewPassword | Field::OneTimeCode | Field::Username => "login",
        Field::Name | Field::Street | Field::PostalCode | Field::City | Field::Region | Field::Country => {
            "address"
        }
    }
}

/// Assigns each value, in the order of the text, its record. A repeated value goes into the same record again. A new one
/// joins those before it, unless its field is taken there. When the records are used up, the last one takes all further
/// values.
pub(super) fn assign(
    original: &str,
    values: Vec<(Range<usize>, Field)>,
    origins: &[(usize, Origin)],
) -> Vec<Found> {
    let mut assigned: Vec<(Field, String, &'static str)> = Vec::new();
    let mut found = Vec::new();
    for (span, field) in values {
        let value = plain(original.get(span.clone()).unwrap_or_default(), field);
        let before = assigned.iter().find(|(other, text, _)| *other == field && *text == value);
        let handle = before.map_or_else(|| next(&assigned, field), |(.., handle)| *handle);
        if before.is_none() {
            assigned.push((field, value, handle));
        }
        let login = matches!(field, Field::Password | Field::OneTimeCode | Field::Username);
        let binding = login.then(|| named::nearest(origins, span.start)).flatten();
        found.push(Found { span, field, handle, binding });
    }
    for (_, value, _) in &mut assigned {
        zeroize::Zeroize::zeroize(value);
    }
    found
}

/// The record for a new value of a field: the last one in use of its kind, or the next one if the field is taken there.
fn next(assigned: &[(Field, String, &'static str)], field: Field) -> &'static str {
    let kind = kind_of(field);
    let own = || HANDLES.iter().filter(|handle| handle.split(':').next() == Some(kind));
    let taken = |handle: &str| assigned.iter().any(|(other, _, at)| *other == field && *at == handle);
    let reached =
        assigned.iter().filter_map(|(.., at)| own().position(|handle| handle == at)).max().unwrap_or(0);
    let at = own().nth(reached).copied().unwrap_or_default();
    if taken(at) {
        own().nth((reached + 1).min(RECORDS_PER_KIND - 1)).copied().unwrap_or_default()
    } else {
        at
    }
}

/// A value in the form for comparison: of numbers only the digits.
fn plain(value: &str, field: Field) -> String {
    match field {
        Field::CardNumber | Field::Phone => value.chars().filter(char::is_ascii_digit).collect(),
        Field::Email => value.to_ascii_lowercase(),
        _ => value.to_owned(),
    }
}
