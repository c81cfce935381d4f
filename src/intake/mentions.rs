//! The other places where a value that was found stands too.

use std::ops::Range;

use sirl::Field;

/// The places of `value` in a text as a word of its own. An e-mail address is found in capitals too.
pub(super) fn of(prompt: &str, value: &str, field: Field) -> Vec<Range<usize>> {
    let fold = |text: &str| if field == Field::Email { text.to_ascii_lowercase() } else { text.to_owned() };
    let (text, value) = (fold(prompt), fold(value));
    if value.is_empty() {
        return Vec::new();
    }
    let alone = |start: usize| {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(start + value.len()..).unwrap_or_default();
        let glued_before =
            value.starts_with(char::is_alphanumeric) && before.is_some_and(char::is_alphanumeric);
        let glued_after = value.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        !(glued_before || glued_after || within_a_number(&text, start, &value))
    };
    text.match_indices(&value)
        .map(|(start, _)| start)
        .filter(|start| alone(*start))
        .map(|start| start..start + value.len())
        .collect()
}

/// Whether digits are a part of a longer number, as `123` is of `123.50` and `1,123`.
fn within_a_number(text: &str, start: usize, value: &str) -> bool {
    let mark = |c: char| matches!(c, '.' | ',');
    let digit = |c: char| c.is_ascii_digit();
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(start + value.len()..).unwrap_or_default();
    value.bytes().all(|b| b.is_ascii_digit())
        && (before.strip_suffix(mark).is_some_and(|text| text.ends_with(digit))
            || after.strip_prefix(mark).is_some_and(|text| text.starts_with(digit)))
}
