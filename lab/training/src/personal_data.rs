//! Judges the detectors on labelled personal data.
//!
//! The labelled sentences are those of presidio-research (`pii-presidio/generated_large.json` of the data folder): a
//! list of records `{full_text, spans: [{entity_type, start_position, end_position}]}`, positions in characters.
//!
//! A labelled span is *hit* when a finding of its kind overlaps it by one byte or more; a finding is *right* when it
//! overlaps a labelled span of its kind. Precision is the share of findings that are right, recall the share of
//! labelled spans that are hit. A finding without a label is wrong, whatever it is.

use std::ops::Range;

use classifier::{Detector, SensitiveKind};
use serde::Deserialize;

/// The error of labelled data that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// Not the JSON that is expected.
    #[error("the labelled sentences are not the JSON of presidio-research: {0}")]
    Json(#[from] serde_json::Error),
    /// A label that lies outside its sentence.
    #[error("sentence {sentence}: characters {start} to {end} lie outside the text")]
    Outside {
        /// The sentence, counted from 0.
        sentence: usize,
        /// The first character of the label.
        start: usize,
        /// The character after the label.
        end: usize,
    },
}

/// A sentence with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// The text.
    pub text: String,
    /// The labelled spans, in bytes of the text, of kinds that the detectors know.
    pub labels: Vec<(Range<usize>, SensitiveKind)>,
}

#[derive(Deserialize)]
struct Record {
    full_text: String,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    entity_type: String,
    start_position: usize,
    end_position: usize,
}

/// Reads labelled sentences; labels of other kinds are left out.
///
/// # Errors
/// Other JSON than expected, or a label outside its sentence.
///
/// ```
/// let json = r#"[{"full_text": "é ann@example.org", "spans":
///     [{"entity_type": "EMAIL_ADDRESS", "start_position": 2, "end_position": 17}]}]"#;
/// let sentences = classifier_training::personal_data::read(json)?;
/// assert_eq!(sentences[0].labels[0].0, 3..18);
/// # Ok::<(), classifier_training::personal_data::LabelError>(())
/// ```
pub fn read(json: &str) -> Result<Vec<Sentence>, LabelError> {
    let records: Vec<Record> = serde_json::from_str(json)?;
    records.into_iter().enumerate().map(|(index, record)| sentence(index, record)).collect()
}

fn sentence(index: usize, record: Record) -> Result<Sentence, LabelError> {
    let text = record.full_text;
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    places.push(text.len());
    let mut labels = Vec::new();
    for span in record.spans {
        let Some(kind) = kind_of(&span.entity_type) else { continue };
        let (start, end) = (span.start_position, span.end_position);
        match (places.get(start), places.get(end)) {
            (Some(from), Some(to)) if from < to => labels.push((*from..*to, kind)),
            _ => return Err(LabelError::Outside { sentence: index, start, end }),
        }
    }
    Ok(Sentence { text, labels })
}

/// Returns the kind of a label of presidio-research.
fn kind_of(label: &str) -> Option<SensitiveKind> {
    match label {
        "CREDIT_CARD" => Some(SensitiveKind::CardNumber),
        "EMAIL_ADDRESS" => Some(SensitiveKind::Email),
        "PHONE_NUMBER" => Some(SensitiveKind::Phone),
        "IBAN_CODE" => Some(SensitiveKind::Iban),
        "US_SSN" => Some(SensitiveKind::NationalId),
        "ADDRESS" => Some(SensitiveKind::PostalAddress),
        _ => None,
    }
}

/// The results for one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of labelled spans.
    pub labelled: usize,
    /// The number of them that were hit.
    pub hit: usize,
    /// The number of findings.
    pub found: usize,
    /// The number of them that are right.
    pub right: usize,
    /// The labelled spans that were not hit, by sentence and range.
    pub missed: Vec<(usize, Range<usize>)>,
    /// The findings that are not right, by sentence and range.
    pub wrong: Vec<(usize, Range<usize>)>,
}

impl Outcome {
    /// Returns the share of findings that are right; 1 without findings.
    pub fn precision(&self) -> f64 {
        share(self.right, self.found)
    }

    /// Returns the share of labelled spans that are hit; 1 without labels.
    pub fn recall(&self) -> f64 {
        share(self.hit, self.labelled)
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Judges a detector on one kind.
pub fn judge(detector: &dyn Detector, sentences: &[Sentence], kind: SensitiveKind) -> Outcome {
    let mut outcome = Outcome::default();
    for (index, sentence) in sentences.iter().enumerate() {
        let findings = detector.detect(&sentence.text);
        let found: Vec<&Range<usize>> =
            findings.iter().filter(|finding| finding.kind == kind).map(|finding| &finding.span).collect();
        let labels: Vec<&Range<usize>> =
            sentence.labels.iter().filter(|(_, other)| *other == kind).map(|(span, _)| span).collect();
        outcome.labelled += labels.len();
        outcome.found += found.len();
        for label in &labels {
            match found.iter().any(|span| overlap(span, label)) {
                true => outcome.hit += 1,
                false => outcome.missed.push((index, (*label).clone())),
            }
        }
        for span in &found {
            match labels.iter().any(|label| overlap(span, label)) {
                true => outcome.right += 1,
                false => outcome.wrong.push((index, (*span).clone())),
            }
        }
    }
    outcome
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use classifier::{Confidence, Finding};

    /// A detector that returns given findings, whatever the text.
    struct Told(Vec<(Range<usize>, SensitiveKind)>);

    impl Detector for Told {
        fn detect(&self, _: &str) -> Vec<Finding> {
            let finding = |(span, kind): &(Range<usize>, SensitiveKind)| Finding {
                span: span.clone(),
                kind: *kind,
                confidence: Confidence::FULL,
            };
            self.0.iter().map(finding).collect()
        }
    }

    #[test]
    fn one_shared_byte_is_a_hit_and_kinds_are_apart() {
        use SensitiveKind::{Email, Phone};
        let sentence =
            Sentence { text: "x".repeat(30), labels: vec![(0..5, Phone), (10..15, Phone), (20..25, Email)] };
        let told = Told(vec![(4..8, Phone), (15..20, Phone), (20..25, Phone)]);
        let outcome = judge(&told, &[sentence], Phone);
        assert_eq!((outcome.labelled, outcome.hit, outcome.found, outcome.right), (2, 1, 3, 1));
        assert_eq!(outcome.missed, [(0, 10..15)]);
        assert_eq!(outcome.wrong, [(0, 15..20), (0, 20..25)]);
        assert!((outcome.precision() - 1.0 / 3.0).abs() < 1e-12 && (outcome.recall() - 0.5).abs() < 1e-12);
        assert!((outcome.f1() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn labels_outside_the_text_are_refused() {
        let json = |end: usize| {
            format!(
                r#"[{{"full_text": "é1", "spans": [{{"entity_type": "PHONE_NUMBER", "start_position": 1, "end_position": {end}}}]}}]"#
            )
        };
        assert_eq!(read(&json(2)).unwrap()[0].labels, [(2..3, SensitiveKind::Phone)]);
        for end in [0, 1, 3] {
            assert!(matches!(read(&json(end)), Err(LabelError::Outside { sentence: 0, .. })), "{end}");
        }
        assert!(matches!(read("{}"), Err(LabelError::Json(_))));
    }
}
