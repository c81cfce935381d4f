//! Masking: values are masked by their form everywhere, and released values exactly.
//!
//! The contacts that a page publishes stay readable (see `contacts`).
//!
//! The parts of a released value are masked too: each word of four letters or more of a name, the local part of an
//! e-mail address, a street with the number beside it. Where a number was released, the last digits of any number are
//! masked beside words that announce them (`ending in 0173`).
//!
//! Before a release, exact masking would be an oracle: a page that lists guesses could learn from the agent's next
//! actions which of them the vault holds. Until then only the form of a value counts, and a made-up card number is
//! masked as the real one is (I13).

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use browser_signals::ElementRef;
use browser_signals::outline::{LinePart, Outline, OutlineLine, Purpose, TextPlace, WITHHELD, Words};
use browser_signals::rendered::{Mark, QuotedWords, quoted_words};
use browser_signals::text_guard::{TextGuard, TextWithheld};
use classifier::{Detectors, Safety};
use sirl::{Field, Tier};

use super::contacts::{LoggedIn, Readable, mask_except};
use super::number_endings::endings;
use super::pay_button::pay_button;
use super::{PageSafety, Quarantine, Scrubber};
use crate::egress::Releases;
use crate::guard::agent_actions::OnPage;
use crate::guard::shared_vault::SharedVault;
use crate::system::unix_ms;

/// The mark in the place of a released value.
pub const MASKED: &str = "[withheld]";

/// The least bytes of a value that is masked inside a word too.
const MIN_LONG_VALUE: usize = 6;

/// Scrubs and masks page text for one container.
pub struct PageTextGuard {
    scrubber: Scrubber,
    quarantine: Quarantine,
    detectors: Arc<Detectors>,
    releases: Releases,
    vault: SharedVault,
    safety: Option<Arc<dyn PageSafety>>,
    /// Whether the pages are in the user's own browser, where the user may be logged in anywhere.
    own_browser: bool,
    /// Whether the user may have typed into the pages by hand.
    unknown_values: AtomicBool,
    /// The safety of what was rendered last.
    judged: Mutex<Option<Safety>>,
    /// The button of the page that was rendered last that starts a payment.
    pay_button: Mutex<Option<ElementRef>>,
    /// The released values that were masked in a text.
    shown: Mutex<OnPage>,
}

impl PageTextGuard {
    /// A guard for the container that `releases` belongs to. Words that the scrubber finds suspicious go to `quarantine`.
    pub fn new(
        scrubber: Scrubber,
        quarantine: Quarantine,
        detectors: Arc<Detectors>,
        releases: Releases,
        vault: SharedVault,
    ) -> PageTextGuard {
        PageTextGuard {
            scrubber,
            quarantine,
            detectors,
            releases,
            vault,
            safety: None,
            own_browser: false,
            unknown_values: AtomicBool::new(false),
            judged: Mutex::new(None),
            pay_button: Mutex::new(None),
            shown: Mutex::default(),
        }
    }

    /// Judges what the model is told of every page, and of every other text that is rendered.
    #[must_use]
    pub fn with_safety(self, safety: Option<Arc<dyn PageSafety>>) -> PageTextGuard {
        PageTextGuard { safety, ..self }
    }

    /// Reads pages of the user's own browser: no contact is taken for a published one there.
    #[must_use]
    pub fn in_own_browser(self, own_browser: bool) -> PageTextGuard {
        PageTextGuard { own_browser, ..self }
    }

    /// What the page showed of released values since the last call. This is for the user alone.
    pub(crate) fn take_shown(&self) -> OnPage {
        self.shown.lock().map(|mut shown| std::mem::take(&mut *shown)).unwrap_or_default()
    }

    /// Takes the safety of what was rendered last; none without a judge, or where nothing was rendered since.
    pub fn take_safety(&self) -> Option<Safety> {
        self.judged.lock().ok()?.take()
    }

    /// Takes the button that starts a payment on the page that was rendered last, if it has one.
    pub(crate) fn take_pay_button(&self) -> Option<ElementRef> {
        self.pay_button.lock().ok()?.take()
    }
}

impl TextGuard for PageTextGuard {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        *self.pay_button.lock().map_err(|_| TextWithheld)? = pay_button(outline);
        self.render_outline(outline)
    }

    /// Not with private data in the container: a page could write them into a path, and what the user typed cannot be masked.
    fn tells_paths(&self) -> bool {
        !self.has_released() && !self.unknown_values.load(Ordering::Relaxed)
    }
}

/// Judges a whole page, as a picture shows it, and renders nothing.
pub(crate) struct PictureJudge<'a>(pub(crate) &'a PageTextGuard);

impl TextGuard for PictureJudge<'_> {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let judged = self.0.safety.as_ref().map(|safety| safety.of(outline));
        *self.0.judged.lock().map_err(|_| TextWithheld)? = judged;
        Ok(String::new())
    }

    fn tells_paths(&self) -> bool {
        self.0.tells_paths()
    }
}

impl PageTextGuard {
    /// Scrubs, judges and masks an outline. Words that are withheld do not lower the safety: the model is not told them.
    fn render_outline(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let (scrubbed, judged) = match &self.safety {
            Some(safety) => {
                let (scrubbed, told) = self.scrubber.scrub_and_tell(outline);
                (scrubbed, Some(safety.of(&told)))
            }
            None => (self.scrubber.scrub(outline), None),
        };
        *self.judged.lock().map_err(|_| TextWithheld)? = judged;
        self.quarantine.add(&scrubbed.withheld, unix_ms());
        self.mask_within(&scrubbed.text, self.logged_in().readable(&scrubbed.lines))
    }

    /// Notes that the pages may have values that the guard does not know: what the user types by hand, or what is in their files.
    pub(crate) fn note_unknown_values(&self) {
        self.unknown_values.store(true, Ordering::Relaxed);
    }

    /// Whether values of the user were released into the container.
    pub fn has_released(&self) -> bool {
        !self.releases.entries().is_empty()
    }

    /// Renders a text for the model that left a page in another way than by reading it: line by line, as the page's
    /// words, with attacks withheld and values masked.
    ///
    /// # Errors
    /// [`TextWithheld`] where the vault is locked or damaged.
    pub fn render(&self, text: &str) -> Result<String, TextWithheld> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines = lines.map(|line| lone_line("- text", line, Purpose::Text)).collect();
        self.render_outline(&Outline { lines, frames: vec![None], ..Outline::default() })
    }

    /// Renders words of a page that stand among words of the guard, as one line: in quotes, or as the mark of withheld ones. A text
    /// without words is empty.
    ///
    /// # Errors
    /// [`TextWithheld`] where the vault is locked or damaged.
    pub fn render_inline(&self, text: &str, purpose: Purpose) -> Result<String, TextWithheld> {
        let text = text.replace(char::is_control, " ");
        let lines = vec![lone_line("-", text.trim(), purpose)];
        let line = self.render_outline(&Outline { lines, frames: vec![None], ..Outline::default() })?;
        Ok(line.trim_end().strip_prefix("-: ").unwrap_or_default().to_owned())
    }

    /// Masks the values in a text that is rendered already. Its place in a page is unknown.
    ///
    /// # Errors
    /// [`TextWithheld`] where the vault is locked or damaged.
    pub fn mask(&self, text: &str) -> Result<String, TextWithheld> {
        let anywhere = Readable { span: 0..text.len(), link: false };
        let readable = if self.logged_in().is_nowhere() { vec![anywhere] } else { Vec::new() };
        self.mask_within(text, readable)
    }

    /// The origins that a login was released to.
    fn logged_in(&self) -> LoggedIn {
        if self.own_browser {
            return LoggedIn::Anywhere;
        }
        let releases = self.releases.all().into_iter();
        let logins = releases.filter(|release| {
            matches!(release.field, Field::Password | Field::OneTimeCode)
                || release.handle.split(':').next() == Some("login")
        });
        LoggedIn::At(logins.map(|release| release.destination.origin).collect())
    }

    /// Masks released values exactly, and the rest by form except for contacts in the readable parts.
    fn mask_within(&self, text: &str, mut readable: Vec<Readable>) -> Result<String, TextWithheld> {
        let released = self.released_spans(text)?;
        if !released.is_empty() {
            let moved = Moved::new(&released);
            for part in &mut readable {
                part.span = moved.place(part.span.start)..moved.place(part.span.end);
            }
        }
        let mut exact = String::with_capacity(text.len());
        let mut from = 0;
        for span in &released {
            exact.push_str(text.get(from..span.start).ok_or(TextWithheld)?);
            exact.push_str(MASKED);
            from = span.end;
        }
        exact.push_str(text.get(from..).ok_or(TextWithheld)?);
        Ok(mask_except(&exact, &self.detectors, &readable))
    }

    /// The spans of released values, in order and apart.
    fn released_spans(&self, text: &str) -> Result<Vec<Range<usize>>, TextWithheld> {
        let entries = self.releases.entries();
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let vault = self.vault.lock().map_err(|_| TextWithheld)?;
        let found = vault.scan_released(text, &entries).map_err(|_| TextWithheld)?;
        // A short value occurs inside longer words by chance, and masking it there would garble the page. A longer one
        // does not occur by chance.
        if let Ok(mut shown) = self.shown.lock() {
            let long = found.iter().filter(|it| it.span.len() >= MIN_LONG_VALUE);
            shown.records.extend(long.map(|it| it.handle.clone()));
            let whole = found.iter().filter(|it| it.whole_word);
            shown.values.extend(whole.map(|it| (it.handle.clone(), it.field)));
        }
        let whole = found
            .into_iter()
            .filter(|m| m.whole_word || m.field.tier() == Tier::T2 || m.span.len() >= MIN_LONG_VALUE);
        let mut spans: Vec<_> = whole.map(|m| m.span).collect();
        // A page can split a value over elements, and put an address or unseen words between its parts.
        let all = words_of_the_page(text);
        let but = |left_out: &[Mark]| {
            let words: Vec<_> = all.iter().filter(|(mark, _)| !left_out.contains(mark)).cloned().collect();
            (words.len() < all.len()).then_some(words)
        };
        let others = [but(&[Mark::Address]), but(&[Mark::Unseen]), but(&[Mark::Address, Mark::Unseen])];
        for words in std::iter::once(&all).chain(others.iter().flatten()) {
            let words: Vec<Range<usize>> = words.iter().map(|(_, words)| words.clone()).collect();
            let segments: Vec<&str> = words.iter().filter_map(|words| text.get(words.clone())).collect();
            let pieces = vault.scan_segments_released(&segments, &entries).map_err(|_| TextWithheld)?;
            spans.extend(pieces.into_iter().filter_map(|(number, piece)| {
                let start = words.get(number)?.start;
                Some(start + piece.span.start..start + piece.span.end)
            }));
            if entries.iter().any(|(_, field)| is_number(*field)) {
                spans.extend(endings_in(&words, &segments));
            }
        }
        spans.sort_by_key(|span| span.start);
        // A value within the one before is masked with it; one that only begins within it is masked as the rest.
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(spans.len());
        for span in spans {
            match apart.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                _ => apart.push(span),
            }
        }
        Ok(apart)
    }
}

/// The places of a text after spans of it were replaced by [`MASKED`].
struct Moved<'a> {
    spans: &'a [Range<usize>],
    /// The bytes removed by the spans up to each.
    removed: Vec<usize>,
}

impl Moved<'_> {
    fn new(spans: &[Range<usize>]) -> Moved<'_> {
        let removed = spans.iter().scan(0, |sum, span| {
            *sum += span.len();
            Some(*sum)
        });
        Moved { spans, removed: removed.collect() }
    }

    /// The new place; one within a replaced span is behind its mark.
    fn place(&self, at: usize) -> usize {
        let before = self.spans.partition_point(|span| span.start < at);
        let Some(last) = before.checked_sub(1) else { return at };
        let (Some(span), Some(removed)) = (self.spans.get(last), self.removed.get(last)) else { return at };
        at.max(span.end) + before * MASKED.len() - removed
    }
}

/// Whether a field is a number whose last digits a site may show to identify it.
fn is_number(field: Field) -> bool {
    matches!(field, Field::Phone | Field::CardNumber | Field::GovernmentId)
}

/// The spans of last digits that words announce. The words may be in one element and the digits in the next.
fn endings_in(words: &[Range<usize>], segments: &[&str]) -> Vec<Range<usize>> {
    let mut starts = Vec::with_capacity(segments.len());
    let mut length = 0;
    for segment in segments {
        starts.push(length);
        length += segment.len() + 1;
    }
    let found = endings(&segments.join("\n"));
    let of = |span: Range<usize>| {
        let number = starts.partition_point(|start| *start <= span.start).checked_sub(1)?;
        let (start, words) = (starts.get(number)?, words.get(number)?);
        Some(words.start + (span.start - start)..words.start + (span.end - start))
    };
    found.into_iter().filter_map(of).collect()
}

/// A line with a text that the model asked for, so that it counts as shown.
fn lone_line(head: &str, text: &str, purpose: Purpose) -> OutlineLine {
    let words = Words { text: text.to_owned(), place: TextPlace::Shown, purpose, frame: 0 };
    OutlineLine {
        head: vec![LinePart::Own(head.to_owned())],
        text: vec![words],
        bare: true,
        ..OutlineLine::default()
    }
}

/// The spans of the page's own words in an outline, and the mark before each: the quoted parts of each line, or the whole of a line without quotes
/// unless the bridge wrote it. The number or bullet of a short list item (`3. M`, `• M`) is left out, since a value can be spelled one
/// letter an item.
fn words_of_the_page(text: &str) -> Vec<(Mark, Range<usize>)> {
    let mut places = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let quoted = quoted_words(line);
        if quoted.is_empty() && !is_written_by_bridge(line) {
            places.push((Mark::None, start..start + line.len()));
        }
        places.extend(quoted.into_iter().map(|QuotedWords { mark, words, .. }| {
            let from = words.start + marker(line.get(words.clone()).unwrap_or_default());
            (mark, start + from..start + words.end)
        }));
        start += line.len();
    }
    places
}

/// Whether a line without quotes is the bridge's own: a role and the element's state, or the mark of withheld words. A line with the origin of a frame
/// is not, since the page chooses that.
fn is_written_by_bridge(line: &str) -> bool {
    let line = line.trim();
    let begins = line.starts_with("- ") || line.starts_with(WITHHELD);
    begins && line.ends_with([']', ':']) && !line.contains("//")
}

/// The length in bytes of the item number or bullet before a short text.
fn marker(words: &str) -> usize {
    if let Some(text) = words.strip_prefix(|c: char| !c.is_alphanumeric() && !c.is_ascii()) {
        let text = text.trim_start();
        return if (1..=2).contains(&text.chars().count()) { words.len() - text.len() } else { 0 };
    }
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
    use super::*;

    #[test]
    fn places_move_with_the_marks() {
        let spans = [2..4, 10..30];
        let moved = Moved::new(&spans);
        let mark = MASKED.len();
        for (at, place) in [
            (0, 0),
            (2, 2),
            (3, 2 + mark),
            (4, 2 + mark),
            (10, 8 + mark),
            (30, 8 + 2 * mark),
            (31, 9 + 2 * mark),
        ] {
            assert_eq!(moved.place(at), place, "{at}");
        }
    }
}
