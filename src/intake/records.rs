//! Which record of the vault a value of the prompt goes into.

use std::ops::Range;

use browser_signals::Origin;
use sirl::Field;

use super::{Found, origins};

/// The records that a prompt's values go into. Where a prompt has two values of one field, as for two
/// people, the second goes into the record with the next letter.
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

/// The records of each kind.
const EACH: usize = 4;

/// The kind of record that a field taken from the prompt goes into.
fn kind_of(field: Field) -> &'static str {
    match field {
        Field::CardNumber | Field::CardExpiry | Field::CardCode => "card",
        Field::Email | Field::Phone => "contact",
        Field::GovernmentId => "identity",
        Field::Password | Field::OneTimeCode => "login",
        Field::Name | Field::Street | Field::PostalCode | Field::City | Field::Region | Field::Country => {
            "address"
        }
    }
}

/// Gives each value, in the order of the text, its record. A value that was there before goes where it went
/// then. A new one goes with those before it, unless its field is taken there. Beyond the last record nothing
/// is kept apart: the last one then takes the values as they come.
pub(super) fn assign(
    original: &str,
    values: Vec<(Range<usize>, Field)>,
    named: &[(usize, Origin)],
) -> Vec<Found> {
    let mut kept: Vec<(Field, String, &'static str)> = Vec::new();
    let mut found = Vec::new();
    for (span, field) in values {
        let value = plain(original.get(span.clone()).unwrap_or_default(), field);
        let before = kept.iter().find(|(other, text, _)| *other == field && *text == value);
        let handle = before.map_or_else(|| next(&kept, field), |(.., handle)| *handle);
        if before.is_none() {
            kept.push((field, value, handle));
        }
        let login = matches!(field, Field::Password | Field::OneTimeCode);
        let binding = login.then(|| origins::nearest(named, span.start)).flatten();
        found.push(Found { span, field, handle, binding });
    }
    for (_, value, _) in &mut kept {
        zeroize::Zeroize::zeroize(value);
    }
    found
}

/// The record for a new value of a field: the one its kind has come to, or the next if the field is taken.
fn next(kept: &[(Field, String, &'static str)], field: Field) -> &'static str {
    let kind = kind_of(field);
    let own = || HANDLES.iter().filter(|handle| handle.split(':').next() == Some(kind));
    let taken = |handle: &str| kept.iter().any(|(other, _, at)| *other == field && *at == handle);
    let reached = kept.iter().filter_map(|(.., at)| own().position(|handle| handle == at)).max().unwrap_or(0);
    let at = own().nth(reached).copied().unwrap_or_default();
    if taken(at) { own().nth((reached + 1).min(EACH - 1)).copied().unwrap_or_default() } else { at }
}

/// A value as it is compared: of numbers only the digits.
fn plain(value: &str, field: Field) -> String {
    match field {
        Field::CardNumber | Field::Phone => value.chars().filter(char::is_ascii_digit).collect(),
        Field::Email => value.to_ascii_lowercase(),
        _ => value.to_owned(),
    }
}
