//! Detectors of sensitive values: all rules in one pass over a normalised text.

use crate::detect::finding::{Confidence, Detector, Finding, SensitiveKind};
use crate::detect::rules::{self, CompiledPatterns, Rule, validate};
use crate::unfold::Normalised;
use regex_automata::Input;
use regex_automata::meta::Regex;
use std::ops::Range;

/// The number of passes over a text; see [`Detectors`].
const ROUNDS: usize = 4;

/// The error of patterns that do not compile.
#[derive(Debug, thiserror::Error)]
#[error("the patterns of the detectors do not compile")]
pub struct BuildError(#[from] Box<regex_automata::meta::BuildError>);

/// Detectors for kinds of sensitive values, which the caller chooses when it builds them.
///
/// The text is normalised first (see [`Normalised`]); spans refer to the text as given. The findings of a pass are
/// blanked out and the text is searched again, a few times at most: otherwise a value next to another, without a
/// space for example, would be found only after the other was masked.
///
/// | built by | for | finds |
/// |---|---|---|
/// | [`standard`](Detectors::standard) | masking the text of a page | values with a form of their own, and values that the words before them announce clearly |
/// | [`thorough`](Detectors::thorough) | checking outgoing text, scanning files | also postal addresses, dates of birth, one-time codes, and numbers with only a check digit as evidence |
/// | [`of`](Detectors::of) | anything else | the kinds and the confidence that are named |
///
/// ```
/// use classifier::{Detector, Detectors, SensitiveKind};
///
/// let detectors = Detectors::standard()?;
/// let findings = detectors.detect("IBAN DE89 3704 0044 0532 0130 00");
/// assert_eq!(findings[0].kind, SensitiveKind::Iban);
/// assert_eq!(findings[0].span, 5..32);
///
/// let thorough = Detectors::thorough()?;
/// let text = "Born 12 March 1980; your login code is 123 456.";
/// assert!(detectors.detect(text).is_empty());
/// assert_eq!(classifier::mask(text, &thorough.detect(text)), "Born [date of birth]; your login code is [one-time code].");
/// # Ok::<(), classifier::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Detectors {
    patterns: Regex,
    rules: Vec<Rule>,
    compiled: CompiledPatterns,
    kinds: Vec<SensitiveKind>,
    least: Confidence,
}

impl Detectors {
    /// The kinds of [`Detectors::standard`].
    pub const STANDARD: [SensitiveKind; 8] = [
        SensitiveKind::Email,
        SensitiveKind::Phone,
        SensitiveKind::Iban,
        SensitiveKind::Passport,
        SensitiveKind::NationalId,
        SensitiveKind::CardNumber,
        SensitiveKind::Password,
        SensitiveKind::Token,
    ];

    /// Returns the detectors for the text of pages: few false positives, so that pages stay intact. Building takes a
    /// few milliseconds, so callers keep the result.
    ///
    /// # Errors
    /// When the patterns do not compile, which would be a bug of the library.
    pub fn standard() -> Result<Detectors, BuildError> {
        Detectors::of(&Detectors::STANDARD, Confidence::of(70))
    }

    /// Returns the detectors for outgoing text and for scanning: every kind, at any confidence. In the text of pages
    /// they also match the addresses of shops, the birth dates of public figures, and some product numbers.
    ///
    /// # Errors
    /// When the patterns do not compile, which would be a bug of the library.
    pub fn thorough() -> Result<Detectors, BuildError> {
        Detectors::of(&SensitiveKind::ALL, Confidence::LEAST)
    }

    /// Returns the detectors for some kinds, which report findings of at least this confidence.
    ///
    /// # Errors
    /// When the patterns do not compile, which would be a bug of the library.
    pub fn of(kinds: &[SensitiveKind], least: Confidence) -> Result<Detectors, BuildError> {
        let chosen =
            rules::all().into_iter().filter(|(_, _, finds)| finds.iter().any(|kind| kinds.contains(kind)));
        let (rules, patterns): (Vec<Rule>, Vec<&str>) =
            chosen.map(|(rule, pattern, _)| (rule, pattern)).unzip();
        let patterns = Regex::new_many(&patterns).map_err(Box::new)?;
        let compiled = CompiledPatterns::new(kinds.contains(&SensitiveKind::PostalAddress))?;
        Ok(Detectors { patterns, rules, compiled, kinds: kinds.to_vec(), least })
    }

    /// Returns the findings of [`Detector::detect`], and also the digits that pass the check of payment cards but are
    /// written like something else, or stand where no card is expected.
    ///
    /// The text of a page keeps such digits, since most are dates, figures and article numbers. Text that leaves is
    /// searched for them too: who hides a card number among figures must not pass, whether or not the number is real.
    pub fn detect_doubtful(&self, text: &str) -> Vec<Finding> {
        self.search(text, |finding| {
            finding.confidence >= self.least || finding.kind == SensitiveKind::CardNumber
        })
    }

    /// Searches a text, a few passes at most, for the findings of the chosen kinds to keep.
    fn search(&self, text: &str, keep: impl Fn(&Finding) -> bool) -> Vec<Finding> {
        let normalised = Normalised::new(text);
        let mut found = self.pass(normalised.text(), &keep);
        let mut fresh = found.clone();
        let mut blanked = String::new();
        for _ in 1..ROUNDS {
            if fresh.is_empty() {
                break;
            }
            blanked = blank(if blanked.is_empty() { normalised.text() } else { &blanked }, &fresh);
            fresh = self.pass(&blanked, &keep);
            found.extend_from_slice(&fresh);
        }
        let mut findings: Vec<Finding> = found
            .into_iter()
            .map(|finding| Finding { span: normalised.original(finding.span.clone()), ..finding })
            .collect();
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        findings
    }

    /// Searches a normalised text once, and returns the findings in the order found.
    fn pass(&self, text: &str, keep: &impl Fn(&Finding) -> bool) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(hit) = self.patterns.find(Input::new(text).range(at..)) {
            let rule = self.rules.get(hit.pattern().as_usize());
            let resume =
                rule.map_or(hit.end(), |rule| validate(*rule, &self.compiled, text, hit.range(), &mut found));
            // Every rule consumes at least its first character, so the pass always advances.
            at = text.ceil_char_boundary(resume.max(hit.start() + 1));
        }
        found.retain(|finding| self.kinds.contains(&finding.kind) && keep(finding));
        found
    }
}

impl Detector for Detectors {
    fn detect(&self, text: &str) -> Vec<Finding> {
        self.search(text, |finding| finding.confidence >= self.least)
    }
}

/// Returns the text with every found byte replaced by a closing bracket, with which markers end too.
fn blank(text: &str, found: &[Finding]) -> String {
    let mut spans: Vec<Range<usize>> = found.iter().map(|finding| finding.span.clone()).collect();
    spans.sort_by_key(|span| span.start);
    let mut blanked = String::with_capacity(text.len());
    for span in spans {
        if span.end <= blanked.len() {
            continue;
        }
        let kept = blanked.len()..span.start.max(blanked.len());
        blanked.push_str(text.get(kept).unwrap_or_default());
        blanked.extend(std::iter::repeat_n(']', span.end - blanked.len()));
    }
    blanked.push_str(text.get(blanked.len()..).unwrap_or_default());
    blanked
}
