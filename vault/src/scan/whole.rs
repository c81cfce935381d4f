//! Whole values in one text, and the needles of a vault.

use std::ops::Range;

use sirl::{Field, Tier};

use super::find::{Finder, Needles};
use super::search;
use super::word::is_whole_word;
use crate::content::record::Record;
use crate::release::error::ReleaseError;
use crate::shape::other_spellings;
use crate::store::vault::Vault;

/// One place of a stored value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The bytes of the text, on character boundaries.
    pub span: Range<usize>,
    /// The handle of the record.
    pub handle: String,
    /// The field.
    pub field: Field,
    /// True if the place neither begins nor ends inside a word. A short value such as a city is often inside longer
    /// words by chance; an attacker can also put it there.
    pub whole_word: bool,
}

/// The handle and field of a value that a finder knows by its number.
pub(super) type Owner<'v> = (&'v str, Field);

/// The parts of values that are searched for besides whole values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchedParts {
    None,
    /// Most of a number, and most of another T2 value that is no password or code.
    Most,
    /// Those of `Most`, and parts that a page shows by themselves: words of a name, local parts, streets with a
    /// number.
    Shown,
}

impl Vault {
    /// Finds every place of a stored value in `text`, in order.
    ///
    /// The time is linear in the text for a given vault, except for texts made of near misses of long values.
    ///
    /// # Errors
    /// [`ReleaseError::Locked`] or [`ReleaseError::Damaged`]. Then nothing is known about the text, and it must
    /// not be sent.
    ///
    /// ```no_run
    /// # fn egress(vault: &vault::Vault, typed: &str) -> Result<bool, vault::ReleaseError> {
    /// Ok(vault.scan(typed)?.is_empty())
    /// # }
    /// ```
    pub fn scan(&self, text: &str) -> Result<Vec<Match>, ReleaseError> {
        self.scan_for(text, |_| true)
    }

    /// Finds every place of one of the `released` values in `text`, in order. Entries that the vault no longer has
    /// are skipped.
    ///
    /// # Errors
    /// Those of [`Vault::scan`].
    pub fn scan_released<S: AsRef<str>>(
        &self,
        text: &str,
        released: &[(S, Field)],
    ) -> Result<Vec<Match>, ReleaseError> {
        self.scan_for(text, |record| is_among(record, released))
    }

    fn scan_for(&self, text: &str, wanted: impl Fn(&Record) -> bool) -> Result<Vec<Match>, ReleaseError> {
        let (owners, finder) = self.finder(SearchedParts::None, wanted)?;
        Ok(matches(text, &owners, &finder))
    }

    /// Makes a finder of the wanted values: the stored ones and those for one task, also if both have the same handle
    /// and field.
    pub(super) fn finder(
        &self,
        parts: SearchedParts,
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<(Vec<Owner<'_>>, Finder), ReleaseError> {
        let mut owners = Vec::new();
        let mut needles = Needles::new();
        let mut plain = self.no_value()?;
        let of_task = self.task.records.iter().chain(&self.task.tokens);
        for record in self.records.iter().chain(of_task).filter(|record| wanted(record)) {
            self.decrypt_into(record, &mut plain)?;
            let text = std::str::from_utf8(plain.expose()).unwrap_or_default();
            for spelling in other_spellings(record.field, text) {
                if needles.add(spelling.as_bytes()) {
                    owners.push((record.handle.as_str(), record.field));
                }
            }
            if needles.add(plain.expose()) {
                owners.push((record.handle.as_str(), record.field));
                // Parts of a password would be found in other words, and could be guessed one by one.
                let secret = matches!(record.field, Field::Password | Field::OneTimeCode | Field::CardCode);
                if parts != SearchedParts::None && !secret {
                    needles.add_parts(record.field.tier() == Tier::T2);
                }
                if parts == SearchedParts::Shown {
                    needles.add_words(record.field, plain.expose());
                }
            }
        }
        Ok((owners, Finder::new(needles)))
    }
}

/// Tells if a record is one of the released values.
pub(super) fn is_among<S: AsRef<str>>(record: &Record, released: &[(S, Field)]) -> bool {
    released.iter().any(|(h, f)| (h.as_ref(), *f) == (record.handle.as_str(), record.field))
}

/// Finds the whole values in a text, in order.
fn matches(text: &str, owners: &[Owner<'_>], finder: &Finder) -> Vec<Match> {
    let mut matches = Vec::new();
    search::each_apart(text, finder, &mut |hit, view, range| {
        let span = view.origin(range);
        if let Some((handle, field)) = owners.get(hit.value).filter(|_| !hit.part) {
            let whole_word = is_whole_word(text, &span);
            matches.push(Match { span, handle: (*handle).to_owned(), field: *field, whole_word });
        }
    });
    in_order(&mut matches);
    matches
}

/// Sorts the matches and removes duplicates.
fn in_order(matches: &mut Vec<Match>) {
    matches.sort_by_cached_key(|m| (m.span.start, m.span.end, m.handle.clone(), m.field));
    matches.dedup();
}
