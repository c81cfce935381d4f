//! Where a stored value stands in a text. Places, never values.
//!
//! Looked for are the value as it stands, in other letter case, accents or width, with separators put in
//! or left out; escaped (percent-encoding, `\x41`, `\u0041`, HTML character references), up to three times
//! over; and, in the text or in what escapes hide, hexadecimal (either case, digits with separators
//! between) and Base64 (standard and URL-safe, wrapped lines, any alignment). A value with fewer than four
//! characters besides separators is not looked for: it would be found everywhere. Nor are parts of values,
//! other encodings, or words for digits.
//!
//! **This is an oracle.** Whoever chooses the text and learns whether anything was found can guess values.
//! So what the answer changes must not be visible to the model or the page, but for values already
//! released there ([`Vault::scan_released`]), and the number of guesses is bounded by the session.

mod decode;
mod find;
mod fold;
#[cfg(test)]
mod tests;
mod view;

use std::ops::Range;

use sirl::Field;

use crate::Vault;
use crate::record::Record;
use crate::release::ReleaseError;
use find::{Finder, Needles};
use view::View;

/// How often escapes are undone.
const ESCAPE_ROUNDS: usize = 3;

/// One place where a stored value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Bytes of the text, on character boundaries.
    pub span: Range<usize>,
    /// The record.
    pub handle: String,
    /// The field.
    pub field: Field,
    /// Whether the place neither begins nor ends inside a word. A short value such as a city often stands
    /// inside longer words by chance; an attacker can also put it there.
    pub whole_word: bool,
}

impl Vault {
    /// Every place where a stored value stands in `text`, in order.
    ///
    /// The time is linear in the text for a given vault, but for texts made of near misses of long values.
    ///
    /// # Errors
    /// [`ReleaseError::Locked`] or [`ReleaseError::Damaged`]: then nothing is known about the text, and it
    /// must not go out.
    ///
    /// ```no_run
    /// # fn egress(vault: &vault::Vault, typed: &str) -> Result<bool, vault::ReleaseError> {
    /// Ok(vault.scan(typed)?.is_empty())
    /// # }
    /// ```
    pub fn scan(&self, text: &str) -> Result<Vec<Match>, ReleaseError> {
        self.scan_for(text, |_| true)
    }

    /// Every place where one of the `released` values stands in `text`, in order. Entries that the vault
    /// no longer has are skipped.
    ///
    /// # Errors
    /// As for [`Vault::scan`].
    pub fn scan_released<S: AsRef<str>>(
        &self,
        text: &str,
        released: &[(S, Field)],
    ) -> Result<Vec<Match>, ReleaseError> {
        let wanted = |record: &Record| {
            released.iter().any(|(h, f)| (h.as_ref(), *f) == (record.handle.as_str(), record.field))
        };
        self.scan_for(text, wanted)
    }

    /// Looks for stored values and for those of one task; where both have a handle and field, for both.
    fn scan_for(&self, text: &str, wanted: impl Fn(&Record) -> bool) -> Result<Vec<Match>, ReleaseError> {
        let mut owners = Vec::new();
        let mut needles = Needles::new();
        let mut plain = self.no_value()?;
        for record in self.records.iter().chain(&self.for_task).filter(|record| wanted(record)) {
            self.decrypt_into(record, &mut plain)?;
            if needles.add(plain.expose()) {
                owners.push((&record.handle, &record.field));
            }
        }
        let mut matches = Vec::new();
        for (number, span) in places(text, needles) {
            if let Some((handle, field)) = owners.get(number) {
                let whole_word = stands_alone(text, &span);
                matches.push(Match { span, handle: (*handle).clone(), field: **field, whole_word });
            }
        }
        let key = |m: &Match| (m.span.start, m.span.end, m.handle.clone(), m.field);
        matches.sort_by_cached_key(key);
        matches.dedup();
        Ok(matches)
    }
}

/// The number of each needle that stands in the text in any form, and where; one place may come twice.
fn places(text: &str, needles: Needles) -> Vec<(usize, Range<usize>)> {
    let finder = Finder::new(needles);
    let mut found = Vec::new();
    let mut report = |number, span| found.push((number, span));
    let mut layer = View::of(text);
    for round in 0..=ESCAPE_ROUNDS {
        finder.find(&fold::folded(&layer), &mut report);
        for skip in 0..2 {
            finder.find(&fold::folded(&decode::hex(&layer, skip)), &mut report);
        }
        for skip in 0..4 {
            finder.find(&fold::folded(&decode::base64(&layer, skip)), &mut report);
        }
        match decode::escapes(&layer) {
            Some(next) if round < ESCAPE_ROUNDS => layer = next,
            _ => break,
        }
    }
    found
}

/// Whether neither end of the span is inside a word.
fn stands_alone(text: &str, span: &Range<usize>) -> bool {
    let before = text.get(..span.start).and_then(|t| t.chars().next_back());
    let after = text.get(span.end..).and_then(|t| t.chars().next());
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}
