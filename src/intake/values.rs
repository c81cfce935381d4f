//! Finding the values of a prompt, and the other occurrences of a value.

use std::ops::Range;

use classifier::{Finding, SensitiveKind};
use sirl::Field;

use super::text::{Certainty, Text};
use super::{address, labels, names, readers};

/// A part of the prompt that may be a value. The user is asked; until then the text stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleValue {
    /// Its span.
    pub span: Range<usize>,
    /// The field that it may be.
    pub field: Field,
}

/// The values of a prompt, before they get their records.
#[derive(Default)]
pub(super) struct Values {
    pub(super) sure: Vec<(Range<usize>, Field)>,
    pub(super) unsure: Vec<PossibleValue>,
}

impl Values {
    fn of(&self, field: Field) -> Vec<(Range<usize>, Field)> {
        self.sure.iter().filter(|(_, other)| *other == field).cloned().collect()
    }

    /// Adds a value, unless it overlaps another.
    fn put(&mut self, span: Range<usize>, field: Field, sure: Certainty) {
        if !self.sure.iter().all(|(other, _)| apart(&span, other)) {
            return;
        }
        match sure {
            Certainty::Yes => self.sure.push((span, field)),
            Certainty::Ask if self.unsure.iter().all(|other| apart(&span, &other.span)) => {
                self.unsure.push(PossibleValue { span, field });
            }
            Certainty::Ask => {}
        }
    }
}

/// Finds all values, the more reliable ones first: values with a label take precedence over values by their form.
pub(super) fn find(prompt: &str, findings: &[Finding], closed: &[Range<usize>]) -> Values {
    let mut values = Values::default();
    let mut shut = closed.to_vec();
    let kept = |finding: &&Finding| matches!(finding.kind, SensitiveKind::Iban);
    shut.extend(findings.iter().filter(kept).map(|finding| finding.span.clone()));
    let text = Text::new(prompt, &shut);
    for (span, field, sure) in labels::values(&text) {
        if closed.iter().all(|link| apart(&span, link)) {
            values.put(span, field, sure);
        }
    }
    for finding in findings {
        let field = match finding.kind {
            SensitiveKind::CardNumber => Field::CardNumber,
            SensitiveKind::Email => Field::Email,
            SensitiveKind::Phone => Field::Phone,
            _ => continue,
        };
        if closed.iter().all(|link| apart(&finding.span, link)) {
            values.put(finding.span.clone(), field, Certainty::Yes);
        }
    }
    for (span, _) in values.of(Field::CardNumber) {
        if let Some(expiry) = readers::expiry_behind(&text, &span) {
            values.put(expiry, Field::CardExpiry, Certainty::Yes);
        }
    }
    for (span, _) in values.of(Field::CardExpiry) {
        if let Some(code) = readers::code_behind(&text, &span) {
            values.put(code, Field::CardCode, Certainty::Yes);
        }
    }
    for (span, _) in values.of(Field::Email) {
        let password = readers::password_behind(&text, &span);
        if let Some(password) = password.filter(|span| closed.iter().all(|link| apart(span, link))) {
            values.put(password, Field::Password, Certainty::Yes);
        }
    }
    let taken = values.sure.clone();
    let free = |at: usize| taken.iter().all(|(span, _)| apart(&text.span(at, at + 1), span));
    for (parts, sure) in address::addresses(&text, free) {
        let start = parts.first().map_or(0, |(span, _)| span.start);
        if let Some(name) = names::before_address(&text, start).filter(|_| sure == Certainty::Yes) {
            values.put(name, Field::Name, sure);
        }
        for (span, field) in parts {
            values.put(span, field, sure);
        }
    }
    // The text after a labelled street is part of the address too.
    for (span, _) in taken.iter().filter(|(_, field)| *field == Field::Street) {
        for (span, field) in address::behind(&text, span.end) {
            values.put(span, field, Certainty::Yes);
        }
    }
    for (span, field) in names::perhaps(&text) {
        values.put(span, field, Certainty::Ask);
    }
    values.unsure.sort_by_key(|unsure| unsure.span.start);
    values
}

/// Whether two spans have no byte in common.
pub(super) fn apart(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.end <= other.start || other.end <= one.start
}

/// The spans where `value` occurs in a text as a word of its own. An e-mail address is found in upper case too.
pub(super) fn occurrences(prompt: &str, value: &str, field: Field) -> Vec<Range<usize>> {
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

/// Whether a value is part of a longer number, as `123` is of `123.50` and `1,123`.
fn within_a_number(text: &str, start: usize, value: &str) -> bool {
    let mark = |c: char| matches!(c, '.' | ',');
    let digit = |c: char| c.is_ascii_digit();
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(start + value.len()..).unwrap_or_default();
    value.bytes().all(|b| b.is_ascii_digit())
        && (before.strip_suffix(mark).is_some_and(|text| text.ends_with(digit))
            || after.strip_prefix(mark).is_some_and(|text| text.starts_with(digit)))
}
