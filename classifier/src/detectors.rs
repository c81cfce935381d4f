//! One pass of several patterns over a folded text, with a validator behind each.

use crate::finding::{Detector, Finding, SensitiveKind};
use crate::normalise::Normalised;
use crate::number::Run;
use crate::{card, email, iban, phone, token};
use regex_automata::Input;
use regex_automata::meta::Regex;
use std::ops::Range;

/// Digits with separators between them: cards and phones.
const NUMBER: &str = r"[0-9](?:[ .\-/()+]{0,3}[0-9]){6,}";
/// How an IBAN begins.
const ACCOUNT: &str = r"[A-Za-z]{2}[0-9]{2}";

/// How often a text is searched again with what was found blanked out; see [`Detectors`].
const ROUNDS: usize = 4;

/// Which validator a pattern leads to.
#[derive(Debug, Clone, Copy)]
enum Lead {
    Prefixed { shortest: usize },
    Assigned,
    WebToken,
    KeyBlock,
    Account,
    Number,
    At,
}

/// The patterns could not be compiled.
#[derive(Debug, thiserror::Error)]
#[error("the patterns of the detectors do not compile")]
pub struct BuildError(#[from] Box<regex_automata::meta::BuildError>);

/// The detectors for card numbers, e-mail addresses, phone numbers, IBANs and tokens.
///
/// The text is folded first (see [`Normalised`]); spans are those of the text as given. What is found in
/// one pass is blanked out and the text searched again, a few times at most, because a value that hid in
/// the shadow of another (glued to it, say) must not come to light only after the first was masked.
///
/// ```
/// use classifier::{Detector, Detectors, SensitiveKind};
///
/// let detectors = Detectors::standard()?;
/// let findings = detectors.detect("IBAN DE89 3704 0044 0532 0130 00");
/// assert_eq!(findings[0].kind, SensitiveKind::Iban);
/// assert_eq!(findings[0].span, 5..32);
/// # Ok::<(), classifier::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Detectors {
    patterns: Regex,
    leads: Vec<Lead>,
}

impl Detectors {
    /// The detectors that come with the library. Building costs a millisecond or so: keep them.
    ///
    /// # Errors
    /// When the patterns do not compile, which would be a fault of the library.
    pub fn standard() -> Result<Detectors, BuildError> {
        let mut patterns: Vec<&str> =
            vec![token::KEY_BLOCK, token::SCHEME, token::ASSIGNMENT, token::WEB_TOKEN];
        let mut leads = vec![Lead::KeyBlock, Lead::Assigned, Lead::Assigned, Lead::WebToken];
        for (prefix, shortest) in token::PREFIXES {
            patterns.push(prefix);
            leads.push(Lead::Prefixed { shortest });
        }
        patterns.extend([ACCOUNT, NUMBER, "@"]);
        leads.extend([Lead::Account, Lead::Number, Lead::At]);
        let patterns = Regex::new_many(&patterns).map_err(Box::new)?;
        Ok(Detectors { patterns, leads })
    }

    /// One pass over a folded text: spans in it, in the order found.
    fn pass(&self, text: &str) -> Vec<(Range<usize>, SensitiveKind)> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(hit) = self.patterns.find(Input::new(text).range(at..)) {
            let lead = self.leads.get(hit.pattern().as_usize());
            let resume = lead.map_or(hit.end(), |lead| follow(*lead, text, hit.range(), &mut found));
            // Every lead takes at least its first character, so the pass always moves on.
            at = text.ceil_char_boundary(resume.max(hit.start() + 1));
        }
        found
    }
}

/// Runs the validator of a lead, and says where to search on.
fn follow(
    lead: Lead,
    text: &str,
    hit: Range<usize>,
    found: &mut Vec<(Range<usize>, SensitiveKind)>,
) -> usize {
    let (finding, kind) = match lead {
        Lead::Prefixed { shortest } => {
            (token::find_prefixed(text, hit.clone(), shortest), SensitiveKind::Token)
        }
        Lead::Assigned => (token::find_assigned(text, hit.clone()), SensitiveKind::Token),
        Lead::WebToken => (token::find_web_token(text, hit.start), SensitiveKind::Token),
        Lead::KeyBlock => (Some(token::find_key_block(text, hit.clone())), SensitiveKind::Token),
        Lead::Account => (iban::find(text, hit.start), SensitiveKind::Iban),
        Lead::At => (email::find(text, hit.start), SensitiveKind::Email),
        Lead::Number => {
            let run = Run::new(text, hit.clone());
            let cards = card::find(&run);
            let floor = found.iter().map(|(span, _)| span.end).next_back().unwrap_or(0).min(hit.start);
            let phones = phone::find(&run, &cards, floor);
            let end = phones.iter().map(|span| span.end).fold(hit.end, usize::max);
            let card_spans = cards.iter().filter_map(|groups| run.span(groups.clone()));
            found.extend(card_spans.map(|span| (span, SensitiveKind::CardNumber)));
            found.extend(phones.into_iter().map(|span| (span, SensitiveKind::Phone)));
            return end;
        }
    };
    match finding {
        Some(span) => {
            let end = span.end;
            found.push((span, kind));
            end
        }
        // The first character led nowhere; a value may begin at the next one.
        None => hit.start + 1,
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
        let mut findings: Vec<Finding> =
            found.into_iter().map(|(span, kind)| Finding { span: normalised.original(span), kind }).collect();
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        findings
    }
}

/// The text with every found byte replaced by a closing bracket, which is also how a marker ends.
fn blank(text: &str, found: &[(Range<usize>, SensitiveKind)]) -> String {
    let mut spans: Vec<Range<usize>> = found.iter().map(|(span, _)| span.clone()).collect();
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
