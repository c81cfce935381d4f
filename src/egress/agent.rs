//! The check of texts that the agent types and addresses that it opens, over a session.

use std::borrow::Cow;

use browser_signals::{TypeManner, Verb, WritingKey};
use classifier::{Detectors, Finding, SensitiveKind};
use sirl::{Field, Tier};
use url::Url;
use vault::{Outgoing, ReleaseError, Sent, SentForm, Vault};
use zeroize::Zeroizing;

use super::pieces::{self, PATH};
use crate::guard::taint::TaintTracker;

/// The least bytes of a low-risk value that counts inside a longer word too: shorter ones occur there by chance.
const MIN_LONG_VALUE: usize = 6;
/// The most bytes of earlier typed text that are examined again, for a card number that is typed in pieces.
const MAX_TYPED_BYTES: usize = 64;

/// A text of the agent that is about to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentText<'a> {
    /// Words for a control of a page.
    Typed(&'a str),
    /// The words of a control after a key that changes them.
    Key {
        /// All of them.
        whole: &'a str,
        /// The character that the key writes.
        added: Option<char>,
    },
    /// An address to open.
    Address(&'a str),
}

impl<'a> AgentText<'a> {
    /// The text that a verb carries, if it carries any.
    pub(crate) fn of(verb: &'a Verb) -> Option<AgentText<'a>> {
        Some(match verb {
            Verb::Open { url } => AgentText::Address(url),
            Verb::Type { text, manner: TypeManner::AtOnce | TypeManner::KeyByKey, .. } => {
                AgentText::Typed(text)
            }
            Verb::Type { text, manner: TypeManner::Key(key), .. } => {
                let added = if let WritingKey::Character(added) = key { Some(*added) } else { None };
                AgentText::Key { whole: text, added }
            }
            _ => return None,
        })
    }

    /// What is typed now, after the texts before it.
    fn typed_now(self) -> Option<Cow<'a, str>> {
        match self {
            AgentText::Typed(text) => Some(Cow::Borrowed(text)),
            AgentText::Key { added, .. } => Some(Cow::Owned(added.map(String::from).unwrap_or_default())),
            AgentText::Address(_) => None,
        }
    }
}

/// The verdict on a text of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextVerdict {
    /// It contains nothing protected.
    Clean,
    /// It has the form of something protected; a made-up value is treated alike.
    Typed,
    /// It contains or completes these values of the vault.
    Exact(Vec<(String, Field)>),
}

/// The texts and addresses of an agent in one session, as far as they are needed to detect a value that is sent in pieces.
/// The memory is bounded, locked and wiped.
///
/// Typed texts are one sequence, for all controls and pages; addresses are two: the values that they carry, and the ends
/// of their paths.
#[derive(Default)]
pub struct AgentEgress {
    typed: Sequence,
    carried: Sequence,
    paths: Sequence,
    last_typed: Zeroizing<String>,
}

/// A sequence of texts that left one after another.
#[derive(Default)]
struct Sequence {
    all: Outgoing,
    /// The texts that are not the user's own words, which would separate the pieces around them.
    others: Outgoing,
    /// Whether the last text was in the user's own words.
    after_own: bool,
}

impl Sequence {
    /// The values of the vault that a text contains or completes.
    fn compare(
        &mut self,
        text: &str,
        readings: &TaintTracker,
        vault: &Vault,
    ) -> Result<Vec<(String, Field)>, ReleaseError> {
        let own = readings.is_own(&decoded(text));
        let mut sent = vault.scan_outgoing(&mut self.all, text)?;
        if !own {
            sent.extend(vault.scan_outgoing(&mut self.others, text)?);
        }
        let theirs = |sent: &Sent| {
            let here = text.get(sent.found.span.clone()).unwrap_or("");
            // The user's own word may be the last piece of a value that is not in their words.
            (sent.form == SentForm::Whole || self.after_own) && readings.is_own(&decoded(here))
        };
        let found = sent.iter().filter(|sent| counts(sent, text) && !theirs(sent));
        let found = found.map(|sent| (sent.found.handle.clone(), sent.found.field)).collect();
        self.after_own = own;
        Ok(found)
    }
}

impl AgentEgress {
    /// Checks a text. With `goes_out` the text leaves if it is clean, and is remembered.
    ///
    /// The form of a value is checked first, so that a card of the vault and a made-up one are refused alike. Addresses
    /// contain many numbers that look like phone numbers; those pass. The user's own words are not compared with the vault:
    /// the user may say them, and passing them reveals nothing.
    ///
    /// # Errors
    /// The vault is locked or damaged: the text is then unchecked and must not leave.
    pub fn judge(
        &mut self,
        text: AgentText<'_>,
        goes_out: bool,
        readings: &TaintTracker,
        detectors: &Detectors,
        vault: &Vault,
    ) -> Result<TextVerdict, ReleaseError> {
        if self.has_typed_form(text, detectors) {
            return Ok(TextVerdict::Typed);
        }
        let mut apart = AgentEgress::default();
        let (mut found, before) = (Vec::new(), if goes_out { &mut *self } else { &mut apart });
        match text {
            AgentText::Typed(typed) => found.extend(before.typed.compare(typed, readings, vault)?),
            AgentText::Key { whole, added } => {
                found.extend(Sequence::default().compare(whole, readings, vault)?);
                // A value that is in the whole text is judged there, as one that was typed at once: its letters are no pieces.
                let within = vault.scan_outgoing(&mut Outgoing::default(), whole)?;
                let is_within = |value: &(String, Field)| {
                    within.iter().any(|sent| sent.found.handle == value.0 && sent.found.field == value.1)
                };
                let added = added.map(String::from).unwrap_or_default();
                let pieces = before.typed.compare(&added, readings, vault)?;
                found.extend(pieces.into_iter().filter(|value| !is_within(value)));
            }
            AgentText::Address(address) => {
                // First the whole address, for encodings that cross its parts; then part by part.
                found.extend(Sequence::default().compare(address, readings, vault)?);
                let url = Url::parse(address);
                for (name, part) in url.iter().flat_map(pieces::of_address) {
                    let sequence = if name == PATH { &mut before.paths } else { &mut before.carried };
                    found.extend(sequence.compare(&part, readings, vault)?);
                }
            }
        }
        found.sort();
        found.dedup();
        if !found.is_empty() {
            return Ok(TextVerdict::Exact(found));
        }
        if goes_out {
            self.remember(text);
        }
        Ok(TextVerdict::Clean)
    }

    /// Checks a text by its form alone and remembers it, where no vault is open and the text leaves in any case.
    pub(crate) fn has_form(&mut self, text: AgentText<'_>, detectors: &Detectors) -> bool {
        let formed = self.has_typed_form(text, detectors);
        self.remember(text);
        formed
    }

    fn remember(&mut self, text: AgentText<'_>) {
        let Some(typed) = text.typed_now() else { return };
        let all = Zeroizing::new([self.last_typed.as_str(), &typed].concat());
        let from = all.ceil_char_boundary(all.len().saturating_sub(MAX_TYPED_BYTES));
        self.last_typed = Zeroizing::new(all.get(from..).unwrap_or("").to_owned());
    }

    /// Whether a text has the form of something protected, or completes a card or account number.
    fn has_typed_form(&self, text: AgentText<'_>, detectors: &Detectors) -> bool {
        let typed_now = text.typed_now();
        let (text, is_address) = match text {
            AgentText::Typed(text) | AgentText::Key { whole: text, .. } => (text, false),
            AgentText::Address(text) => (text, true),
        };
        let counts = |finding: &Finding| !(is_address && finding.kind == SensitiveKind::Phone);
        if [text, &decoded(text)].iter().any(|text| detectors.detect_doubtful(text).iter().any(counts)) {
            return true;
        }
        let border = self.last_typed.len();
        let both = Zeroizing::new([self.last_typed.as_str(), typed_now.as_deref().unwrap_or("")].concat());
        let number = |kind| matches!(kind, SensitiveKind::CardNumber | SensitiveKind::Iban);
        typed_now.is_some()
            && border > 0
            && detectors
                .detect_doubtful(&both)
                .iter()
                .any(|found| number(found.kind) && found.span.end > border)
    }
}

/// A text with form encoding decoded, names and values separated by spaces.
fn decoded(text: &str) -> String {
    url::form_urlencoded::parse(text.as_bytes()).map(|(name, value)| format!("{name} {value} ")).collect()
}

/// Whether a match is not there by chance.
fn counts(sent: &Sent, text: &str) -> bool {
    match (sent.form, sent.found.field.tier()) {
        (SentForm::Pieces | SentForm::Part, _) => true,
        (SentForm::Whole, Tier::T2) => !is_within_a_number(sent, text),
        (SentForm::Whole, _) => sent.found.whole_word || sent.found.span.len() >= MIN_LONG_VALUE,
    }
}

/// Whether a match of a few digits is part of a longer number, as a postal code in an article number.
fn is_within_a_number(sent: &Sent, text: &str) -> bool {
    let span = &sent.found.span;
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let here = text.get(span.clone()).unwrap_or("");
    let before = text.get(..span.start).and_then(|text| text.chars().next_back());
    let after = text.get(span.end..).and_then(|text| text.chars().next());
    here.len() < MIN_LONG_VALUE
        && here.bytes().all(|b| b.is_ascii_digit())
        && (is_digit(before) || is_digit(after))
}
