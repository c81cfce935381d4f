//! Masks findings in a text, and brings the value of a finding into a normal form.

use crate::detect::finding::{Finding, SensitiveKind};
use crate::unfold::Normalised;
use std::ops::Range;
use zeroize::Zeroizing;

/// Returns the text with each finding replaced by the marker of its kind.
///
/// The marker depends on the kind alone, so it reveals neither the value nor its length. Overlapping findings become
/// one marker, that of the most harmful kind. Findings may come in any order; a span that ends outside the text, or
/// inside a character, is widened to whole characters and cut at the end.
///
/// ```
/// use classifier::{Confidence, Finding, SensitiveKind, mask};
///
/// let findings = [Finding { span: 6..21, kind: SensitiveKind::Email, confidence: Confidence::FULL }];
/// assert_eq!(mask("Write ann@example.org!", &findings), "Write [email]!");
/// ```
pub fn mask(text: &str, findings: &[Finding]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, kind) in merged(text, findings) {
        masked.push_str(text.get(copied..span.start).unwrap_or_default());
        masked.push_str(kind.marker());
        copied = span.end;
    }
    masked.push_str(text.get(copied..).unwrap_or_default());
    masked
}

/// Returns the findings as disjoint, ordered, non-empty spans on character boundaries.
fn merged(text: &str, findings: &[Finding]) -> Vec<(Range<usize>, SensitiveKind)> {
    let mut spans: Vec<(Range<usize>, SensitiveKind)> = findings
        .iter()
        .map(|finding| {
            let start = text.floor_char_boundary(finding.span.start);
            let end = text.ceil_char_boundary(finding.span.end);
            (start..end, finding.kind)
        })
        .filter(|(span, _)| !span.is_empty())
        .collect();
    spans.sort_by_key(|(span, _)| span.start);
    let mut merged: Vec<(Range<usize>, SensitiveKind)> = Vec::with_capacity(spans.len());
    for (span, kind) in spans {
        match merged.last_mut() {
            Some((last, last_kind)) if span.start < last.end => {
                last.end = last.end.max(span.end);
                *last_kind = (*last_kind).max(kind);
            }
            _ => merged.push((span, kind)),
        }
    }
    merged
}

/// Returns the value of a finding in one spelling that all its spellings share; empty if the span is not in the text.
///
/// A number keeps its digits and capital letters alone (a phone number keeps its plus sign); an e-mail address is in
/// lower case; postal addresses and dates are in lower case with one space between words; passwords and tokens only
/// lose invisible characters.
///
/// **The result is the secret itself.** It is in a buffer that is wiped when it is dropped, and belongs in a
/// comparison or a keyed digest, never in a log. The caller wipes the text that it was found in.
///
/// ```
/// use classifier::{Detector, Detectors, normal_form};
///
/// let detectors = Detectors::standard()?;
/// let normal = |text: &str| normal_form(text, &detectors.detect(text)[0]).to_string();
/// assert_eq!(normal("4111 1111 1111 1111"), normal("pay ４111-1111-1111-1111!"));
/// assert_eq!(normal("Ann@Example.org"), "ann@example.org");
/// # Ok::<(), classifier::BuildError>(())
/// ```
pub fn normal_form(text: &str, finding: &Finding) -> Zeroizing<String> {
    let value = text.get(finding.span.clone()).unwrap_or_default();
    // Normalisation makes at most eighteen characters of one; with room for all, the buffer never moves, so that no
    // copy of it stays in memory.
    let mut normal = Zeroizing::new(String::with_capacity(value.len() * MOST_GROWTH));
    for character in value.chars() {
        // Each character is normalised by itself, so no other buffer ever holds more than one character of the value.
        let folded = Normalised::new(character.encode_utf8(&mut [0; 4]));
        for folded in folded.text().chars() {
            push(&mut normal, folded, finding.kind);
        }
    }
    while normal.ends_with(' ') {
        normal.pop();
    }
    normal
}

/// The largest number of bytes that normalisation and a change of case make of one byte of text.
const MOST_GROWTH: usize = 36;

fn push(normal: &mut String, character: char, kind: SensitiveKind) {
    match kind {
        SensitiveKind::CardNumber
        | SensitiveKind::Iban
        | SensitiveKind::NationalId
        | SensitiveKind::OneTimeCode => {
            normal.extend(
                character.is_alphanumeric().then_some(character).into_iter().flat_map(char::to_uppercase),
            );
        }
        SensitiveKind::Passport => {
            let belongs = character.is_alphanumeric() || character == '<';
            normal.extend(belongs.then_some(character).into_iter().flat_map(char::to_uppercase));
        }
        SensitiveKind::Phone => {
            let leads = character == '+' && normal.is_empty();
            if leads || character.is_ascii_digit() {
                normal.push(character);
            }
        }
        SensitiveKind::Email => normal.extend(character.to_lowercase()),
        SensitiveKind::PostalAddress | SensitiveKind::BirthDate => {
            if character.is_alphanumeric() {
                normal.extend(character.to_lowercase());
            } else if !normal.is_empty() && !normal.ends_with(' ') {
                normal.push(' ');
            }
        }
        SensitiveKind::Password | SensitiveKind::Token => normal.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(span: Range<usize>, kind: SensitiveKind) -> Finding {
        Finding::new(span, kind, 90)
    }

    #[test]
    fn markers_do_not_depend_on_the_value() {
        for kind in SensitiveKind::ALL {
            let short = mask("<1>", &[finding(1..2, kind)]);
            let long = mask("<123456789>", &[finding(1..10, kind)]);
            assert_eq!(short, long);
            assert_eq!(short, format!("<{}>", kind.marker()));
        }
    }

    #[test]
    fn overlapping_findings_become_the_most_harmful_one() {
        let findings = [finding(4..8, SensitiveKind::Email), finding(0..5, SensitiveKind::Token)];
        assert_eq!(mask("abcdefghij", &findings), "[token]ij");
        let touching = [finding(0..2, SensitiveKind::Email), finding(2..4, SensitiveKind::Phone)];
        assert_eq!(mask("abcdef", &touching), "[email][phone]ef");
    }

    #[test]
    fn spans_that_do_not_fit_the_text_are_widened_or_cut() {
        assert_eq!(mask("é!", &[finding(1..2, SensitiveKind::Email)]), "[email]!");
        assert_eq!(mask("ab", &[finding(1..99, SensitiveKind::Email)]), "a[email]");
        assert_eq!(mask("ab", &[finding(7..99, SensitiveKind::Email)]), "ab");
        assert_eq!(mask("ab", &[finding(1..1, SensitiveKind::Email)]), "ab");
    }
}
