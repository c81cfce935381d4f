//! Values that go out in pieces: over several fields, addresses, requests or turns.

use std::ops::Range;

use sirl::Field;

use super::{Match, Owner, Parts, is_among, places, stands_alone};
use crate::Vault;
use crate::memory::Buffer;
use crate::record::Record;
use crate::release::ReleaseError;

/// How much of what went out last is remembered, in bytes: a value is found in pieces if what was sent from its first
/// character to its last is no longer than this.
const REMEMBERED: usize = 2048;
/// How many digits of what went out last are remembered.
const DIGITS: usize = 64;

/// What went out, as far as is needed to find a value that went out in pieces: the end of it, in locked memory that
/// is wiped when dropped. Always the same small size.
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

    /// Adds to the end, and forgets from the beginning what there is no room for. It begins at a character.
    fn add(&mut self, text: &str) {
        let most = self.buffer.bytes().len();
        let text = text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or("");
        let mut forget = (self.length + text.len()).saturating_sub(most);
        while self.bytes().get(forget).is_some_and(|byte| matches!(byte, 0x80..=0xbf)) {
            forget += 1;
        }
        let kept = forget.min(self.length)..self.length;
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

/// How a value was found in what goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SentForm {
    /// All of it stands in this text.
    Whole,
    /// With this text and those before it, all of it went out.
    Pieces,
    /// Most of it stands in this text, or in this and those before it.
    Part,
}

/// A value that is in what goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Which value, and where in this text; of a value in pieces, the piece that is here.
    pub found: Match,
    /// How.
    pub form: SentForm,
}

impl Vault {
    /// Every value that stands in `text`, or that `text` completes, as something that goes out after what `before`
    /// remembers; and remembers it.
    ///
    /// Found beyond [`Vault::scan`] are: values of six characters or more over several texts, cut anywhere, also in
    /// an encoding, with nothing but separators between the pieces; eight digits in a row of a number of twelve or
    /// more (all but two of a shorter one, from nine on), also with any words between them; and three quarters in a
    /// row of another T2 value of eight characters or more that is no password or code. Not found are pieces in
    /// another order, and pieces of words with other words between.
    ///
    /// # Errors
    /// As for [`Vault::scan`]; then nothing is remembered.
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

    /// As [`Vault::scan_outgoing`], for the `released` values alone.
    ///
    /// # Errors
    /// As for [`Vault::scan_outgoing`].
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
        let (owners, finder) = self.finder(Parts::Most, wanted)?;
        let mut sent: Vec<Sent> = Vec::new();
        let mut parts = Vec::new();
        let sent_as = |(handle, field): Owner<'_>, span: Range<usize>, form| {
            let whole_word = form == SentForm::Whole && stands_alone(text, &span);
            Sent { found: Match { span, handle: handle.to_owned(), field, whole_word }, form }
        };
        places::each(text, &finder, &mut |hit, view, range| {
            let (Some(owner), span) = (owners.get(hit.value), view.origin(range)) else { return };
            match hit.part {
                true => parts.push((*owner, span)),
                false => sent.push(sent_as(*owner, span, SentForm::Whole)),
            }
        });

        // What begins in what went before and ends here.
        let head = text.get(..text.floor_char_boundary(REMEMBERED)).unwrap_or(text);
        let old = std::str::from_utf8(before.text.bytes()).unwrap_or("");
        let border = old.len();
        let both = zeroize::Zeroizing::new([old, head].concat());
        let mut pieces = Vec::new();
        if border > 0 {
            places::each(&both, &finder, &mut |hit, view, range| {
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
        // Digits, whatever stood between them.
        let digits = zeroize::Zeroizing::new(places::digits_of(text));
        let all = zeroize::Zeroizing::new([before.digits.bytes(), digits.as_bytes()].concat());
        let border = before.digits.bytes().len();
        places::in_digits(&all, &finder, &mut |hit, range| {
            if let Some(owner) = owners.get(hit.value).filter(|_| range.end > border) {
                parts.push((*owner, 0..text.len()));
            }
        });
        let found = pieces.into_iter().map(|found| (found, SentForm::Pieces));
        for (((handle, field), span), form) in
            found.chain(parts.into_iter().map(|found| (found, SentForm::Part)))
        {
            // A value in pieces is told once, and a whole one goes before its parts.
            if !sent.iter().any(|sent| sent.found.handle == handle && sent.found.field == field) {
                sent.push(sent_as((handle, field), span, form));
            }
        }
        before.text.add(text);
        before.digits.add(&digits);
        Ok(sent)
    }
}
