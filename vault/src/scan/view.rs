//! Bytes of a text or of its decoded form, with their origin in the text.

use std::ops::Range;

use zeroize::Zeroizing;

/// A byte that no UTF-8 text contains, so that nothing matches across it.
pub(super) const BARRIER: u8 = 0xff;

/// Bytes, wiped when dropped, each with the part of the original text that it came from.
///
/// Origins cost most of the time of a search, and most texts hold no value. So a view can also be made without
/// origins, to find out first if there is a value at all.
pub(super) struct View {
    bytes: Zeroizing<Vec<u8>>,
    spans: Option<Vec<(usize, usize)>>,
}

impl View {
    /// Makes a view of the text itself.
    pub(super) fn of(text: &str, with_origins: bool) -> View {
        View {
            bytes: Zeroizing::new(text.as_bytes().to_vec()),
            spans: with_origins.then(|| (0..text.len()).map(|place| (place, place + 1)).collect()),
        }
    }

    /// Makes an empty view with room for `length` bytes, with origins if this one has them.
    pub(super) fn like(&self, length: usize) -> View {
        View {
            bytes: Zeroizing::new(Vec::with_capacity(length)),
            spans: self.spans.is_some().then(|| Vec::with_capacity(length)),
        }
    }

    /// Adds a byte.
    pub(super) fn push(&mut self, byte: u8, span: Range<usize>) {
        self.bytes.push(byte);
        if let Some(spans) = &mut self.spans {
            spans.push((span.start, span.end));
        }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The part of the text that a range of bytes came from; empty in a view without origins.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let mut each = self.origins(range);
        let Some(first) = each.next() else { return 0..0 };
        first.start..each.next_back().map_or(first.end, |last| last.end)
    }

    /// The origin of each of a range of bytes.
    pub(super) fn origins(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = Range<usize>> {
        let spans = self.spans.as_deref().and_then(|spans| spans.get(range)).unwrap_or(&[]);
        spans.iter().map(|(start, end)| *start..*end)
    }
}
