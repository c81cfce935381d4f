//! What the agent types and opens, over a session.

use classifier::{Detector, Detectors, Finding, SensitiveKind};
use sirl::{Field, Tier};
use url::Url;
use vault::{Outgoing, ReleaseError, Sent, SentForm, Vault};
use zeroize::Zeroizing;

use super::pieces::{self, PATH};
use crate::flow::Readings;

/// From how many bytes on a value of low risk counts inside a longer word too: shorter ones stand there by chance.
const LONG: usize = 6;
/// How much of what was typed last is looked at again, in bytes, for a card number that is typed in pieces.
const TYPED: usize = 64;

/// A text of the agent that is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentText<'a> {
    /// Words for a control of a page.
    Typed(&'a str),
    /// An address to open.
    Address(&'a str),
}

/// Whether text of the agent may go out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextVerdict {
    /// Nothing protected in it.
    Clean,
    /// It has the form of something protected; a made-up value is treated alike.
    Typed,
    /// It holds these values of the vault, or completes them.
    Exact(Vec<(String, Field)>),
}

/// What an agent typed and opened in one session, as far as is needed to see a value that goes out in pieces. The
/// memory is bounded, locked and wiped.
///
/// Typed texts are one sequence, whatever control or page they were for; addresses are two, of the values that
/// they carry and of the ends of their paths.
#[derive(Default)]
pub struct AgentEgress {
    typed: Sequence,
    carried: Sequence,
    paths: Sequence,
    last_typed: Zeroizing<String>,
}

/// Texts that went out one after another.
#[derive(Default)]
struct Sequence {
    all: Outgoing,
    /// Without those that are the user's own words, which would keep the pieces around them apart.
    others: Outgoing,
    /// Whether the last text was the user's own words.
    after_own: bool,
}

impl Sequence {
    /// The values of the vault in a text, and those that it completes.
    fn compare(
        &mut self,
        text: &str,
        readings: &Readings,
        vault: &Vault,
    ) -> Result<Vec<(String, Field)>, ReleaseError> {
        let own = readings.is_own(&decoded(text));
        let mut sent = vault.scan_outgoing(&mut self.all, text)?;
        if !own {
            sent.extend(vault.scan_outgoing(&mut self.others, text)?);
        }
        let theirs = |sent: &Sent| {
            let here = text.get(sent.found.span.clone()).unwrap_or("");
            // The user's last word may be the last piece of what is not theirs.
            (sent.form == SentForm::Whole || self.after_own) && readings.is_own(&decoded(here))
        };
        let found = sent.iter().filter(|sent| counts(sent, text) && !theirs(sent));
        let found = found.map(|sent| (sent.found.handle.clone(), sent.found.field)).collect();
        self.after_own = own;
        Ok(found)
    }
}

impl AgentEgress {
    /// Judges a text, and remembers it where `goes_out` says that it goes if it may.
    ///
    /// The form of a value is looked at first, so that the vault's own card and one that was made up are refused
    /// in the same words. Addresses are full of numbers that look like phone numbers; those pass. What stands in
    /// the user's own words is not compared with the vault: it is theirs to say, and that it passes tells nothing.
    ///
    /// # Errors
    /// The vault is locked or damaged: then nothing is known about the text, and it must not go out.
    pub fn judge(
        &mut self,
        text: AgentText<'_>,
        goes_out: bool,
        readings: &Readings,
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
            AgentText::Address(address) => {
                // As it is written, for encodings that cross its parts; then part by part.
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
        if let AgentText::Typed(typed) = text
            && goes_out
        {
            self.remember(typed);
        }
        Ok(TextVerdict::Clean)
    }

    /// As [`AgentEgress::judge`], of a text that goes out whatever it is, by its form alone: where no vault is open.
    pub(crate) fn has_form(&mut self, text: AgentText<'_>, detectors: &Detectors) -> bool {
        let formed = self.has_typed_form(text, detectors);
        if let AgentText::Typed(typed) = text {
            self.remember(typed);
        }
        formed
    }

    fn remember(&mut self, typed: &str) {
        let all = Zeroizing::new([self.last_typed.as_str(), typed].concat());
        let from = all.ceil_char_boundary(all.len().saturating_sub(TYPED));
        self.last_typed = Zeroizing::new(all.get(from..).unwrap_or("").to_owned());
    }

    /// Whether a text has the form of something protected, or completes a card or account number that was begun.
    fn has_typed_form(&self, text: AgentText<'_>, detectors: &Detectors) -> bool {
        let (text, is_address) = match text {
            AgentText::Typed(text) => (text, false),
            AgentText::Address(text) => (text, true),
        };
        let counts = |finding: &Finding| !(is_address && finding.kind == SensitiveKind::Phone);
        if [text, &decoded(text)].iter().any(|text| detectors.detect(text).iter().any(counts)) {
            return true;
        }
        let border = self.last_typed.len();
        let both = Zeroizing::new([self.last_typed.as_str(), text].concat());
        let number = |kind| matches!(kind, SensitiveKind::CardNumber | SensitiveKind::Iban);
        !is_address
            && border > 0
            && detectors.detect(&both).iter().any(|found| number(found.kind) && found.span.end > border)
    }
}

/// A text with what form encoding hides brought to light, names and values apart.
fn decoded(text: &str) -> String {
    url::form_urlencoded::parse(text.as_bytes()).map(|(name, value)| format!("{name} {value} ")).collect()
}

/// Whether what was found is not there by chance.
fn counts(sent: &Sent, text: &str) -> bool {
    match (sent.form, sent.found.field.tier()) {
        (SentForm::Pieces | SentForm::Part, _) => true,
        (SentForm::Whole, Tier::T2) => !is_within_a_number(sent, text),
        (SentForm::Whole, _) => sent.found.whole_word || sent.found.span.len() >= LONG,
    }
}

/// Whether a few digits are some of the digits of a longer number, as those of a postal code in the number of an
/// article.
fn is_within_a_number(sent: &Sent, text: &str) -> bool {
    let span = &sent.found.span;
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let here = text.get(span.clone()).unwrap_or("");
    let before = text.get(..span.start).and_then(|text| text.chars().next_back());
    let after = text.get(span.end..).and_then(|text| text.chars().next());
    here.len() < LONG && here.bytes().all(|b| b.is_ascii_digit()) && (is_digit(before) || is_digit(after))
}
