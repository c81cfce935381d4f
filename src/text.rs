//! What the model may read: page text as [`crate::scrub`] tells it, with typed values masked everywhere, and
//! released values masked exactly.
//!
//! Of a released value its parts are masked too: each word of four letters or more of a name, the local part of an
//! e-mail address, a street with the number beside it. Where a number was released, the last digits of any are
//! masked beside words that say what they are (`ending in 0173`).
//!
//! Before a release, exact masking would show a page that lists guesses which of them the vault holds, by
//! what the agent then does. So until then only the form of a value counts, and a made-up card number
//! looks the same as the real one (I13).

mod endings;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use browser_signals::outline::{Line, Outline, Part, Place, Purpose, Words};
use browser_signals::text_guard::{TextGuard, TextWithheld};
use classifier::{Detector, Detectors, Safety, SensitiveKind, is_role_address, mask};
use sirl::{Field, Tier};
use vault::Vault;

use crate::egress::Releases;
use crate::safety::PageSafety;
use crate::scrub::{Quarantine, Scrubber};
use crate::time::unix_ms;

/// What stands where a released value was.
pub const MASKED: &str = "[withheld]";

/// From how many bytes on a value is masked inside a word too.
const LONG: usize = 6;

/// Scrubs and masks page text for one container.
pub struct PageTextGuard {
    scrubber: Scrubber,
    quarantine: Quarantine,
    detectors: Arc<Detectors>,
    releases: Releases,
    vault: Arc<Mutex<Vault>>,
    safety: Option<Arc<dyn PageSafety>>,
    /// Of the page that was read last.
    judged: Mutex<Option<Safety>>,
    /// Records of which something was masked.
    shown: Mutex<BTreeSet<String>>,
}

impl PageTextGuard {
    /// A guard for the container that `releases` belongs to. What the scrubber finds suspicious goes to
    /// `quarantine`.
    pub fn new(
        scrubber: Scrubber,
        quarantine: Quarantine,
        detectors: Arc<Detectors>,
        releases: Releases,
        vault: Arc<Mutex<Vault>>,
    ) -> PageTextGuard {
        PageTextGuard {
            scrubber,
            quarantine,
            detectors,
            releases,
            vault,
            safety: None,
            judged: Mutex::new(None),
            shown: Mutex::default(),
        }
    }

    /// Judges every page that is read.
    #[must_use]
    pub fn with_safety(self, safety: Option<Arc<dyn PageSafety>>) -> PageTextGuard {
        PageTextGuard { safety, ..self }
    }

    /// The records of which the texts that were masked since the last call showed a longer value. For the user alone.
    pub(crate) fn take_shown(&self) -> BTreeSet<String> {
        self.shown.lock().map(|mut shown| std::mem::take(&mut *shown)).unwrap_or_default()
    }

    /// How safe the page is that was read last, once; none where nobody judges, or nothing was read since.
    pub fn take_safety(&self) -> Option<Safety> {
        self.judged.lock().ok()?.take()
    }
}

impl TextGuard for PageTextGuard {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let judged = self.safety.as_ref().map(|safety| safety.of(outline));
        *self.judged.lock().map_err(|_| TextWithheld)? = judged;
        let told = self.scrubber.scrub(outline);
        self.quarantine.take_in(&told.withheld, unix_ms());
        self.mask(&told.text)
    }
}

impl PageTextGuard {
    /// Whether values of the user's were released into the container.
    pub fn has_released(&self) -> bool {
        !self.releases.entries().is_empty()
    }

    /// What a model may be told of a text that comes out of a page in another way than by reading it: line by line,
    /// as what the page says, with the attacks taken out and the values masked.
    ///
    /// # Errors
    /// [`TextWithheld`] where the vault is locked or damaged.
    pub fn tell(&self, text: &str) -> Result<String, TextWithheld> {
        let words = |line: &str| Words {
            text: line.to_owned(),
            // It is told because it was asked for, as what a person sees is.
            place: Place::Shown,
            purpose: Purpose::Text,
            frame: 0,
        };
        let line = |line: &str| Line {
            head: vec![Part::Own("- text".to_owned())],
            text: vec![words(line)],
            bare: true,
            ..Line::default()
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty()).map(line).collect();
        let told = self.scrubber.scrub(&Outline { lines, frames: vec![None], ..Outline::default() });
        self.quarantine.take_in(&told.withheld, unix_ms());
        self.mask(&told.text)
    }

    /// Masks the values in a text that is told already.
    ///
    /// # Errors
    /// [`TextWithheld`] where the vault is locked or damaged.
    pub fn mask(&self, text: &str) -> Result<String, TextWithheld> {
        let exact = self.mask_released(text)?;
        Ok(mask_by_form(&exact, &self.detectors))
    }

    fn mask_released(&self, text: &str) -> Result<String, TextWithheld> {
        let entries = self.releases.entries();
        if entries.is_empty() {
            return Ok(text.to_owned());
        }
        let vault = self.vault.lock().map_err(|_| TextWithheld)?;
        let found = vault.scan_released(text, &entries).map_err(|_| TextWithheld)?;
        // Short values stand inside longer words by chance; masking those would garble the page. A longer one
        // was put there.
        if let Ok(mut shown) = self.shown.lock() {
            shown.extend(found.iter().filter(|it| it.span.len() >= LONG).map(|it| it.handle.clone()));
        }
        let whole =
            found.into_iter().filter(|m| m.whole_word || m.field.tier() == Tier::T2 || m.span.len() >= LONG);
        let mut spans: Vec<_> = whole.map(|m| m.span).collect();
        // A page can show a value in several elements.
        let words = words_of_the_page(text);
        let segments: Vec<&str> = words.iter().filter_map(|words| text.get(words.clone())).collect();
        let pieces = vault.scan_segments_released(&segments, &entries).map_err(|_| TextWithheld)?;
        spans.extend(pieces.into_iter().filter_map(|(number, piece)| {
            let start = words.get(number)?.start;
            Some(start + piece.span.start..start + piece.span.end)
        }));
        if entries.iter().any(|(_, field)| is_number(*field)) {
            spans.extend(endings_of(&words, &segments));
        }
        spans.sort_by_key(|span| span.start);
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for span in spans {
            if span.end <= from {
                continue;
            }
            if span.start >= from {
                out.push_str(text.get(from..span.start).ok_or(TextWithheld)?);
                out.push_str(MASKED);
            }
            from = span.end;
        }
        out.push_str(text.get(from..).ok_or(TextWithheld)?);
        Ok(out)
    }
}

/// Masks what looks like a person's data or a secret. The addresses of offices (`support@…`) stay: by their form
/// alone, so that they tell nothing of the vault.
pub fn mask_by_form(text: &str, detectors: &Detectors) -> String {
    let mut found = detectors.detect(text);
    found.retain(|one| {
        let words = text.get(one.span.clone()).unwrap_or_default();
        one.kind != SensitiveKind::Email || !is_role_address(words)
    });
    mask(text, &found)
}

/// Fields whose last digits are shown to tell one from another.
fn is_number(field: Field) -> bool {
    matches!(field, Field::Phone | Field::CardNumber | Field::GovernmentId)
}

/// The last digits of numbers, where something says that they are. The words may stand in one element and the digits
/// in the next.
fn endings_of(words: &[Range<usize>], segments: &[&str]) -> Vec<Range<usize>> {
    let mut starts = Vec::with_capacity(segments.len());
    let mut length = 0;
    for segment in segments {
        starts.push(length);
        length += segment.len() + 1;
    }
    let found = endings::endings(&segments.join("\n"));
    let of = |span: Range<usize>| {
        let number = starts.partition_point(|start| *start <= span.start).checked_sub(1)?;
        let (start, words) = (starts.get(number)?, words.get(number)?);
        Some(words.start + (span.start - start)..words.start + (span.end - start))
    };
    found.into_iter().filter_map(of).collect()
}

/// The places of what the page itself says: what stands in quotes, line by line; of a line without any, all, but for
/// one that the bridge wrote alone. Of an item with its number, `3. M`, a short text alone: a value that is spelled
/// letter by letter goes on in the next.
fn words_of_the_page(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let (mut open, mut escaped, mut quoted) = (None, false, false);
        for (place, c) in line.char_indices() {
            match (c, open) {
                _ if escaped => escaped = false,
                ('\\', Some(_)) => escaped = true,
                ('"', None) => open = Some(place + 1),
                ('"', Some(from)) => {
                    let words = line.get(from..place).unwrap_or("");
                    places.push(start + from + marker(words)..start + place);
                    (open, quoted) = (None, true);
                }
                _ => {}
            }
        }
        if !quoted && !is_of_the_bridge(line) {
            places.push(start..start + line.len());
        }
        start += line.len();
    }
    places
}

/// Whether a line without quotes is the bridge's own: a role and what is known of the element. The origin of a frame
/// is the page's choice.
fn is_of_the_bridge(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("- ") && line.ends_with([']', ':']) && !line.contains("//")
}

/// How many bytes before a short text are the number of its item.
fn marker(words: &str) -> usize {
    let rest = words.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = words.len() - rest.len();
    let Some(text) = rest.strip_prefix(['.', ')']).filter(|_| (1..=3).contains(&digits)) else { return 0 };
    let text = text.trim_start();
    match text.chars().count() {
        1 | 2 => words.len() - text.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn offices_can_be_written_to_and_people_are_masked() {
        let detectors = Detectors::standard().unwrap();
        let text = "Write to support@shop.example or ann@shop.example.";
        assert_eq!(mask_by_form(text, &detectors), "Write to support@shop.example or [email].");
    }
}
