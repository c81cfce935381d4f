//! Detectors of personal data and secrets: places of findings, masking, normal forms.

use std::sync::LazyLock;

use classifier::{Detector, Detectors, Finding, mask, normal_form};

use crate::input;

static SETS: LazyLock<Vec<Detectors>> =
    LazyLock::new(|| [Detectors::standard(), Detectors::thorough()].into_iter().flatten().collect());

/// Searches a text, masks the findings, and searches again.
///
/// # Panics
/// A finding is no part of the text, findings are out of order, masking twice differs from masking once, a masked text
/// still holds a masked value, or a normal form is not its own normal form.
pub fn run(input: &[u8]) {
    let text = input::text(input);
    assert_eq!(SETS.len(), 2, "the detectors do not build");
    for detectors in SETS.iter() {
        let findings = detectors.detect(&text);
        check_places(&text, &findings);
        check_masking(&text, &findings, detectors);
    }
}

fn check_places(text: &str, findings: &[Finding]) {
    let starts: Vec<usize> = findings.iter().map(|finding| finding.span.start).collect();
    assert!(starts.is_sorted(), "findings are out of order");
    for finding in findings {
        let Some(value) = text.get(finding.span.clone()) else {
            panic!("{:?} is no part of the text", finding.span);
        };
        assert!(!value.is_empty(), "an empty finding");
        assert!((0.0..=1.0).contains(&finding.confidence.value()));
        let normal = normal_form(text, finding);
        let whole = Finding { span: 0..normal.len(), ..finding.clone() };
        assert_eq!(*normal_form(&normal, &whole), *normal, "a normal form has another one");
    }
}

fn check_masking(text: &str, findings: &[Finding], detectors: &Detectors) {
    let once = mask(text, findings);
    let again = detectors.detect(&once);
    for left in &again {
        let value = normal_form(&once, left);
        let known = findings.iter().any(|f| f.kind == left.kind && *normal_form(text, f) == *value);
        assert!(!known, "a value of kind {:?} is left at {:?} of the masked text", left.kind, left.span);
    }
    assert_eq!(mask(&once, &again), once, "masking again changes the text");
}
