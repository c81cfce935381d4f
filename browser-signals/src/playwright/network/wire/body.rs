//! The value of a named field in a body, found by its placeholder and replaced.

use std::ops::Range;

use zeroize::Zeroizing;

use super::form::{self, Entry};
use super::shape::{is_placeholder, written};
use super::{json, multipart};
use crate::Shape;

/// The longest body that is searched, in bytes. Forms are far shorter; files are not read.
const LONGEST: usize = 1 << 18;

/// One replacement of a placeholder by its value.
pub(super) struct Change<'a> {
    pub name: &'a str,
    pub placeholder: &'a str,
    pub shape: Shape,
    pub value: &'a str,
}

/// The supported formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFormat<'t> {
    UrlEncoded,
    Multipart { boundary: &'t str },
    Json,
}

impl<'t> BodyFormat<'t> {
    /// The format that a content type names; none for an unsupported one, and for a character set other than UTF-8.
    pub(super) fn of(content_type: &'t str) -> Option<BodyFormat<'t>> {
        let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
        let charset =
            parameters.split(';').filter_map(|one| one.trim().split_once('=')).find_map(|(name, set)| {
                name.trim().eq_ignore_ascii_case("charset").then(|| set.trim().trim_matches('"'))
            });
        if charset.is_some_and(|set| !set.eq_ignore_ascii_case("utf-8")) {
            return None;
        }
        match essence.trim().to_ascii_lowercase().as_str() {
            "application/x-www-form-urlencoded" => Some(BodyFormat::UrlEncoded),
            "application/json" => Some(BodyFormat::Json),
            "multipart/form-data" => {
                multipart::boundary(parameters).map(|boundary| BodyFormat::Multipart { boundary })
            }
            _ => None,
        }
    }

    fn entries<'b>(self, body: &'b [u8], wanted: impl Fn(&str) -> bool) -> Option<Vec<Entry<'b>>> {
        match self {
            BodyFormat::UrlEncoded => {
                Some(form::entries(body).filter(|entry| wanted(&entry.value)).collect())
            }
            BodyFormat::Multipart { boundary } => {
                let mut entries = multipart::entries(body, boundary)?;
                entries.retain(|entry| wanted(&entry.value));
                Some(entries)
            }
            BodyFormat::Json => json::entries(body, wanted),
        }
    }

    fn is_named(self, entry: &Entry<'_>, name: &str) -> bool {
        match self {
            BodyFormat::Json => json::is_named(&entry.name, name),
            _ => entry.name == name,
        }
    }

    fn encoded(self, value: &str) -> Zeroizing<Vec<u8>> {
        match self {
            BodyFormat::UrlEncoded => form::encoded(value),
            BodyFormat::Json => json::encoded(value),
            // Nothing is escaped within a part. A value has no line ends, so it cannot end one. It is not searched for
            // the boundary: the page chooses the boundary, so the result would answer its guesses about the value.
            BodyFormat::Multipart { .. } => Zeroizing::new(value.as_bytes().to_vec()),
        }
    }
}

/// The body with every replacement made. None where a placeholder is not the value of its own field, or is the value of
/// several: then the body is sent unchanged.
pub(super) fn substituted(
    format: BodyFormat<'_>,
    body: &[u8],
    changes: &[Change<'_>],
) -> Option<Zeroizing<Vec<u8>>> {
    if body.len() > LONGEST || changes.is_empty() {
        return None;
    }
    let wanted =
        |text: &str| changes.iter().any(|change| is_placeholder(change.shape, change.placeholder, text));
    let entries = format.entries(body, wanted)?;
    let mut pieces: Vec<(Range<usize>, Zeroizing<Vec<u8>>)> = Vec::with_capacity(changes.len());
    for change in changes {
        let mut own = entries.iter().filter(|entry| {
            format.is_named(entry, change.name)
                && is_placeholder(change.shape, change.placeholder, &entry.value)
        });
        let (entry, None) = (own.next()?, own.next()) else { return None };
        let value = written(change.shape, change.placeholder, &entry.value, change.value);
        pieces.push((entry.span.clone(), format.encoded(&value)));
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
