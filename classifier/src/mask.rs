//! Replaces findings by markers.

use crate::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// The text with each finding replaced by the marker of its kind.
///
/// The marker depends on the kind alone, so it tells neither the value nor its length. Findings that
/// overlap become one marker, that of the most harmful kind. Findings may come in any order; a span
/// that ends outside the text, or inside a character, is widened to whole characters and cut at the end.
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

/// The findings as disjoint, ordered, non-empty spans on character boundaries.
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
