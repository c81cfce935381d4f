//! One pass of several patterns over a folded text, with a validator behind each.

use crate::confidence::Confidence;
use crate::finding::{Detector, Finding, SensitiveKind};
use crate::leads::{self, Lead, Tools, follow};
use crate::normalise::Normalised;
use regex_automata::Input;
use regex_automata::meta::Regex;
use std::ops::Range;

/// How often a text is searched again with what was found blanked out; see [`Detectors`].
const ROUNDS: usize = 4;

/// The patterns could not be compiled.
#[derive(Debug, thiserror::Error)]
#[error("the patterns of the detectors do not compile")]
pub struct BuildError(#[from] Box<regex_automata::meta::BuildError>);

/// The detectors of every [`SensitiveKind`]; which of them search is chosen when they are built.
///
/// The text is folded first (see [`Normalised`]); spans are those of the text as given. What is found in
/// one pass is blanked out and the text searched again, a few times at most, because a value that hid in
/// the shadow of another (glued to it, say) must not come to light only after the first was masked.
///
/// | built by | for | finds |
/// |---|---|---|
/// | [`standard`](Detectors::standard) | masking what a page says | what is known by its form, or announced so that hardly anything else is meant |
/// | [`thorough`](Detectors::thorough) | judging what goes out, scanning files | also postal addresses, dates of birth, one-time codes, and numbers that only a check digit speaks for |
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
    leads: Vec<Lead>,
    tools: Tools,
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

    /// The detectors for the text of pages: few mistakes, so that pages stay whole. Building costs a few milliseconds:
    /// keep them.
    ///
    /// # Errors
    /// When the patterns do not compile, which would be a fault of the library.
    pub fn standard() -> Result<Detectors, BuildError> {
        Detectors::of(&Detectors::STANDARD, Confidence::of(70))
    }

    /// The detectors for what goes out and for scanning: every kind, at any confidence. In the text of pages they also
    /// take the addresses of shops, dates of birth of the famous, and some product numbers.
    ///
    /// # Errors
    /// When the patterns do not compile, which would be a fault of the library.
    pub fn thorough() -> Result<Detectors, BuildError> {
        Detectors::of(&SensitiveKind::ALL, Confidence::LEAST)
    }

    /// The detectors for some kinds, which report what has at least this confidence.
    ///
    /// # Errors
    /// When the patterns do not compile, which would be a fault of the library.
    pub fn of(kinds: &[SensitiveKind], least: Confidence) -> Result<Detectors, BuildError> {
        let chosen =
            leads::all().into_iter().filter(|(_, _, finds)| finds.iter().any(|kind| kinds.contains(kind)));
        let (leads, patterns): (Vec<Lead>, Vec<&str>) =
            chosen.map(|(lead, pattern, _)| (lead, pattern)).unzip();
        let patterns = Regex::new_many(&patterns).map_err(Box::new)?;
        let tools = Tools::new(kinds.contains(&SensitiveKind::PostalAddress))?;
        Ok(Detectors { patterns, leads, tools, kinds: kinds.to_vec(), least })
    }

    /// One pass over a folded text: findings in it, in the order found.
    fn pass(&self, text: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(hit) = self.patterns.find(Input::new(text).range(at..)) {
            let lead = self.leads.get(hit.pattern().as_usize());
            let resume =
                lead.map_or(hit.end(), |lead| follow(*lead, &self.tools, text, hit.range(), &mut found));
            // Every lead takes at least its first character, so the pass always moves on.
            at = text.ceil_char_boundary(resume.max(hit.start() + 1));
        }
        found.retain(|finding| finding.confidence >= self.least && self.kinds.contains(&finding.kind));
        found
    }
}

impl Detector for Detectors {
    fn detect(&self, text: &str) -> Vec<Finding> {
        let normalised = Normalised::new(text);
        let mut found = self.pass(normalised.text());
        let mut fresh = found.clone();
        let mut blanked = String::new();
        for _ in 1..ROUNDS {
            if fresh.is_empty() {
                break;
            }
            blanked = blank(if blanked.is_empty() { normalised.text() } else { &blanked }, &fresh);
            fresh = self.pass(&blanked);
            found.extend_from_slice(&fresh);
        }
        let mut findings: Vec<Finding> = found
            .into_iter()
            .map(|finding| Finding { span: normalised.original(finding.span.clone()), ..finding })
            .collect();
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        findings
    }
}

/// The text with every found byte replaced by a closing bracket, which is also how a marker ends.
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
