//! Values in outgoing texts, also in pieces over several fields, addresses, requests or steps.

use std::ops::Range;

use sirl::Field;

use super::search;
use super::whole::{Match, Owner, SearchedParts, is_among};
use super::word::is_whole_word;
use crate::content::record::Record;
use crate::crypto::memory::Buffer;
use crate::release::error::ReleaseError;
use crate::store::vault::Vault;

/// The length of the remembered end of the sent text, in bytes. A value is found in pieces if the text from its first
/// character to its last is no longer than this.
const REMEMBERED: usize = 2048;
/// The number of digits that are remembered of the sent text.
const DIGITS: usize = 64;

/// The end of the text that was sent, as far as is needed to find a value that is sent in pieces. It has a small,
/// fixed size, in locked memory that is wiped when dropped.
pub struct Outgoing {
    text: Tail,
    digits: Tail,
}

/// The last bytes of a text.
struct Tail {
    buffer: Buffer,
    length: usize,
}

impl Tail {
    fn new(most: usize) -> Tail {
        Tail { buffer: Buffer::new(most), length: 0 }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.bytes().get(..self.length).unwrap_or(&[])
    }

    /// Adds a text at the end, and drops as much from the start as has no room. The rest starts at a character.
    fn add(&mut self, text: &str) {
        let most = self.buffer.bytes().len();
        let text = text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or("");
        let mut dropped = (self.length + text.len()).saturating_sub(most);
        while self.bytes().get(dropped).is_some_and(|byte| matches!(byte, 0x80..=0xbf)) {
            dropped += 1;
        }
        let kept = dropped.min(self.length)..self.length;
        self.length = kept.len() + text.len();
        let bytes = self.buffer.bytes_mut();
        bytes.copy_within(kept.clone(), 0);
        for (to, from) in bytes.iter_mut().skip(kept.len()).zip(text.bytes()) {
            *to = from;
        }
    }
}

impl Default for Outgoing {
    fn default() -> Outgoing {
        Outgoing { text: Tail::new(REMEMBERED), digits: Tail::new(DIGITS) }
    }
}

/// The part of a value that is in an outgoing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SentForm {
    /// The whole value is in this text.
    Whole,
    /// The whole value is in this text and those before it.
    Pieces,
    /// Most of the value is in this text, or in this one and those before it.
    Part,
}

/// A value in an outgoing text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The value and its place in this text; for a value in pieces, the piece in this text.
    pub found: Match,
    /// The part of the value that is there.
    pub form: SentForm,
}

impl Vault {
    /// Finds every value in `text`, or in `text` and the texts that `before` remembers, and adds `text` to `before`.
    ///
    /// Besides the places of [`Vault::scan`], it finds values of six characters or more over several texts, cut
    /// anywhere, also in an encoding, with nothing but separators between the pieces; eight digits in a row of a
    /// number of twelve or more (all but two of a shorter one, from nine on), also with any words between them; and
    /// three quarters in a row of another T2 value of eight characters or more that is no password or code. It does
    /// not find pieces in another order, or pieces of words with other words between.
    ///
    /// # Errors
    /// Those of [`Vault::scan`]. After an error `before` is unchanged.
    ///
    /// ```no_run
    /// # fn typed(vault: &vault::Vault) -> Result<(), vault::ReleaseError> {
    /// let mut before = vault::Outgoing::default();
    /// assert!(vault.scan_outgoing(&mut before, "4111 11")?.is_empty());
    /// assert_eq!(vault.scan_outgoing(&mut before, "11 1111 1111")?.len(), 1); // where it is in the vault
    /// # Ok(())
    /// # }
    /// ```
    pub fn scan_outgoing(&self, before: &mut Outgoing, text: &str) -> Result<Vec<Sent>, ReleaseError> {
        self.sent(before, text, |_| true)
    }

    /// Does the same as [`Vault::scan_outgoing`], for the `released` values only.
    ///
    /// # Errors
    /// Those of [`Vault::scan_outgoing`].
    pub fn scan_outgoing_released<S: AsRef<str>>(
        &self,
        before: &mut Outgoing,
        text: &str,
        released: &[(S, Field)],
    ) -> Result<Vec<Sent>, ReleaseError> {
        self.sent(before, text, |record| is_among(record, released))
    }

    fn sent(
        &self,
        before: &mut Outgoing,
        text: &str,
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<Vec<Sent>, ReleaseError> {
        let (owners, finder) = self.finder(SearchedParts::Most, wanted)?;
        let mut sent: Vec<Sent> = Vec::new();
        let mut parts = Vec::new();
        let sent_as = |(handle, field): Owner<'_>, span: Range<usize>, form| {
            let whole_word = form == SentForm::Whole && is_whole_word(text, &span);
            Sent { found: Match { span, handle: handle.to_owned(), field, whole_word }, form }
        };
        search::each(text, &finder, &mut |hit, view, range| {
            let (Some(owner), span) = (owners.get(hit.value), view.origin(range)) else { return };
            match hit.part {
                true => parts.push((*owner, span)),
                false => sent.push(sent_as(*owner, span, SentForm::Whole)),
            }
        });

        // A value that starts in an earlier text and ends in this one.
        let head = text.get(..text.floor_char_boundary(REMEMBERED)).unwrap_or(text);
        let old = std::str::from_utf8(before.text.bytes()).unwrap_or("");
        let border = old.len();
        let both = zeroize::Zeroizing::new([old, head].concat());
        let mut pieces = Vec::new();
        if border > 0 {
            search::each(&both, &finder, &mut |hit, view, range| {
                let span = view.origin(range);
                let Some(owner) = owners.get(hit.value).filter(|_| hit.long && span.end > border) else {
                    return;
                };
                let here = span.start.saturating_sub(border)..span.end - border;
                match (hit.part, span.start < border) {
                    (false, true) => pieces.push((*owner, here)),
                    (true, _) => parts.push((*owner, here)),
                    (false, false) => {}
                }
            });
        }
        // Numbers, with any words between their digits.
        let digits = zeroize::Zeroizing::new(search::digits_of(text));
        let all = zeroize::Zeroizing::new([before.digits.bytes(), digits.as_bytes()].concat());
        let border = before.digits.bytes().len();
        search::in_digits(&all, &finder, &mut |hit, range| {
            if let Some(owner) = owners.get(hit.value).filter(|_| range.end > border) {
                parts.push((*owner, 0..text.len()));
            }
        });
        let found = pieces.into_iter().map(|found| (found, SentForm::Pieces));
        for (((handle, field), span), form) in
            found.chain(parts.into_iter().map(|found| (found, SentForm::Part)))
        {
            // Each value is reported once, and a whole one takes precedence over its parts.
            if !sent.iter().any(|sent| sent.found.handle == handle && sent.found.field == field) {
                sent.push(sent_as((handle, field), span, form));
            }
        }
        before.text.add(text);
        before.digits.add(&digits);
        Ok(sent)
    }
}
