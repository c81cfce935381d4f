//! Where a stored value stands in a text. Places, never values.
//!
//! Looked for are the value as it stands; in other letter case, accents, width or digits; with everything put in
//! or left out that is neither letter nor digit, so also as a host name or a list; and, from six characters on,
//! backwards and in ROT13. All of them also behind escapes (percent-encoding, `\x41`, `\101`, `\u0041`, HTML
//! references by number and by name), up to three times over; and, in the text or in what escapes hide, behind
//! hexadecimal, Base64 and Base32 (any case and alphabet, any alignment, wrapped lines) and quoted-printable. What
//! they hide may be UTF-8, UTF-16 or Latin-1.
//!
//! A value with fewer than four characters besides separators is not looked for: it would be found everywhere. Of
//! values with fewer than six letters and digits that also hold other marks, the marks count. Not found are other
//! encodings (compressed text, Base58), one of the encodings within another, words for digits, letters of other
//! scripts that look alike, and any cipher.
//!
//! Of a value that was released, the parts that a page shows by themselves are found too (a word of a name, a local part, a
//! street beside a house number), by
//! [`Vault::scan_segments_released`] alone: what goes out is compared with whole values, or with most of one.
//!
//! A value that stands in several texts is found by [`Vault::scan_segments_released`] where the texts are of one
//! page, and by [`Vault::scan_outgoing`] where they went out one after another.
//!
//! **This is an oracle.** Whoever chooses the text and learns whether anything was found can guess values.
//! So what the answer changes must not be visible to the model or the page, but for values already
//! released there ([`Vault::scan_released`]), and the number of guesses is bounded by the session.

mod decode;
mod escape;
mod find;
mod fold;
mod ordinary;
mod outgoing;
mod places;
mod segments;
mod spill;
mod street;
#[cfg(test)]
mod tests;
mod view;
mod words;

use std::ops::Range;

use sirl::{Field, Tier};

use crate::Vault;
use crate::record::Record;
use crate::release::ReleaseError;
use find::{Finder, Needles};
pub use outgoing::{Outgoing, Sent, SentForm};

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

/// Which value is meant by a number of a finder.
type Owner<'v> = (&'v str, Field);

/// Which parts of values are looked for beside the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    None,
    /// Most of a number, and most of another T2 value that is no secret word.
    Most,
    /// These, and what a page shows of a value by itself: words of a name, local parts, streets with a number.
    Shown,
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
        self.scan_for(text, |record| is_among(record, released))
    }

    fn scan_for(&self, text: &str, wanted: impl Fn(&Record) -> bool) -> Result<Vec<Match>, ReleaseError> {
        let (owners, finder) = self.finder(Parts::None, wanted)?;
        Ok(matches(text, &owners, &finder))
    }

    /// What finds the wanted values, the stored ones and those of one task; where both have a handle and field,
    /// both.
    fn finder(
        &self,
        parts: Parts,
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<(Vec<Owner<'_>>, Finder), ReleaseError> {
        let mut owners = Vec::new();
        let mut needles = Needles::new();
        let mut plain = self.no_value()?;
        for record in self.records.iter().chain(&self.for_task).filter(|record| wanted(record)) {
            self.decrypt_into(record, &mut plain)?;
            if needles.add(plain.expose()) {
                owners.push((record.handle.as_str(), record.field));
                // Parts of a secret word would be found in other words, and guessed one by one.
                let secret = matches!(record.field, Field::Password | Field::OneTimeCode | Field::CardCode);
                if parts != Parts::None && !secret {
                    needles.add_parts(record.field.tier() == Tier::T2);
                }
                if parts == Parts::Shown {
                    needles.add_words(record.field, plain.expose());
                }
            }
        }
        Ok((owners, Finder::new(needles)))
    }
}

fn is_among<S: AsRef<str>>(record: &Record, released: &[(S, Field)]) -> bool {
    released.iter().any(|(h, f)| (h.as_ref(), *f) == (record.handle.as_str(), record.field))
}

/// The whole values in a text, in order.
fn matches(text: &str, owners: &[Owner<'_>], finder: &Finder) -> Vec<Match> {
    let mut matches = Vec::new();
    places::each_apart(text, finder, &mut |hit, view, range| {
        let span = view.origin(range);
        if let Some((handle, field)) = owners.get(hit.value).filter(|_| !hit.part) {
            let whole_word = stands_alone(text, &span);
            matches.push(Match { span, handle: (*handle).to_owned(), field: *field, whole_word });
        }
    });
    in_order(&mut matches);
    matches
}

/// Sorts and leaves out what was found twice.
fn in_order(matches: &mut Vec<Match>) {
    matches.sort_by_cached_key(|m| (m.span.start, m.span.end, m.handle.clone(), m.field));
    matches.dedup();
}

/// Whether neither end of the span is inside a word.
fn stands_alone(text: &str, span: &Range<usize>) -> bool {
    let before = text.get(..span.start).and_then(|t| t.chars().next_back());
    let after = text.get(span.end..).and_then(|t| t.chars().next());
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}
