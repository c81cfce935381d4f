//! The value of a named field in a body, found by its placeholder and replaced.

use std::borrow::Cow;
use std::ops::Range;

use zeroize::Zeroizing;

use super::shape::{is_placeholder, written};
use super::{form, json, multipart};
use crate::seal::Shape;

/// The longest body that is looked into, in bytes. Forms are far shorter; files are not read.
const LONGEST: usize = 1 << 18;

/// One field of a body.
pub(super) struct Entry<'b> {
    pub name: Cow<'b, str>,
    pub value: Cow<'b, str>,
    /// Where the value stands, as the body writes it.
    pub span: Range<usize>,
}

/// What is to be replaced, and by what.
pub(super) struct Change<'a> {
    pub name: &'a str,
    pub placeholder: &'a str,
    pub shape: Shape,
    pub value: &'a str,
}

/// The forms that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyForm<'t> {
    UrlEncoded,
    Multipart { boundary: &'t str },
    Json,
}

impl<'t> BodyForm<'t> {
    /// The form that a content type names; none for any other, and for another character set than UTF-8.
    pub(super) fn of(content_type: &'t str) -> Option<BodyForm<'t>> {
        let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
        let charset =
            parameters.split(';').filter_map(|one| one.trim().split_once('=')).find_map(|(name, set)| {
                name.trim().eq_ignore_ascii_case("charset").then(|| set.trim().trim_matches('"'))
            });
        if charset.is_some_and(|set| !set.eq_ignore_ascii_case("utf-8")) {
            return None;
        }
        match essence.trim().to_ascii_lowercase().as_str() {
            "application/x-www-form-urlencoded" => Some(BodyForm::UrlEncoded),
            "application/json" => Some(BodyForm::Json),
            "multipart/form-data" => {
                multipart::boundary(parameters).map(|boundary| BodyForm::Multipart { boundary })
            }
            _ => None,
        }
    }

    fn entries<'b>(self, body: &'b [u8], wanted: impl Fn(&str) -> bool) -> Option<Vec<Entry<'b>>> {
        match self {
            BodyForm::UrlEncoded => Some(form::entries(body).filter(|entry| wanted(&entry.value)).collect()),
            BodyForm::Multipart { boundary } => {
                let mut entries = multipart::entries(body, boundary)?;
                entries.retain(|entry| wanted(&entry.value));
                Some(entries)
            }
            BodyForm::Json => json::entries(body, wanted),
        }
    }

    fn is_named(self, entry: &Entry<'_>, name: &str) -> bool {
        match self {
            BodyForm::Json => json::is_named(&entry.name, name),
            _ => entry.name == name,
        }
    }

    fn encoded(self, value: &str) -> Zeroizing<Vec<u8>> {
        match self {
            BodyForm::UrlEncoded => form::encoded(value),
            BodyForm::Json => json::encoded(value),
            // Nothing is escaped within a part. A value has no line ends, so it cannot end one; to look for the
            // boundary in it would answer a page's guesses, which chooses the boundary.
            BodyForm::Multipart { .. } => Zeroizing::new(value.as_bytes().to_vec()),
        }
    }
}

/// The body with every change made. None where a placeholder is not the value of its own field, or is that of
/// several: then the body goes as it is.
pub(super) fn substituted(
    form: BodyForm<'_>,
    body: &[u8],
    changes: &[Change<'_>],
) -> Option<Zeroizing<Vec<u8>>> {
    if body.len() > LONGEST || changes.is_empty() {
        return None;
    }
    let wanted =
        |text: &str| changes.iter().any(|change| is_placeholder(change.shape, change.placeholder, text));
    let entries = form.entries(body, wanted)?;
    let mut pieces: Vec<(Range<usize>, Zeroizing<Vec<u8>>)> = Vec::with_capacity(changes.len());
    for change in changes {
        let mut own = entries.iter().filter(|entry| {
            form.is_named(entry, change.name)
                && is_placeholder(change.shape, change.placeholder, &entry.value)
        });
        let (entry, None) = (own.next()?, own.next()) else { return None };
        let value = written(change.shape, change.placeholder, &entry.value, change.value);
        pieces.push((entry.span.clone(), form.encoded(&value)));
    }
    pieces.sort_by_key(|(span, _)| span.start);
    let longer: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
    let mut out = Zeroizing::new(Vec::with_capacity(body.len() + longer));
    let mut from = 0;
    for (span, piece) in &pieces {
        out.extend_from_slice(body.get(from..span.start)?);
        out.extend_from_slice(piece);
        from = span.end;
    }
    out.extend_from_slice(body.get(from..)?);
    Some(out)
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
