//! A text as bytes that remember where in the text they came from.

use std::ops::Range;

use zeroize::Zeroizing;

/// A byte that no UTF-8 text contains: nothing matches across it.
pub(super) const BARRIER: u8 = 0xff;

/// Bytes, wiped when dropped, each with the part of the original text that it came from.
pub(super) struct View {
    bytes: Zeroizing<Vec<u8>>,
    spans: Vec<(usize, usize)>,
}

impl View {
    /// An empty view with room for `length` bytes.
    pub(super) fn with_room(length: usize) -> View {
        View { bytes: Zeroizing::new(Vec::with_capacity(length)), spans: Vec::with_capacity(length) }
    }

    /// The text itself.
    pub(super) fn of(text: &str) -> View {
        let mut view = View::with_room(text.len());
        for (place, byte) in text.bytes().enumerate() {
            view.push(byte, place..place + 1);
        }
        view
    }

    /// Adds a byte.
    pub(super) fn push(&mut self, byte: u8, span: Range<usize>) {
        self.bytes.push(byte);
        self.spans.push((span.start, span.end));
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes and where each came from.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, Range<usize>)> {
        self.bytes.iter().zip(&self.spans).map(|(byte, (start, end))| (*byte, *start..*end))
    }

    /// The part of the text that a range of bytes came from.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let spans = self.spans.get(range).unwrap_or(&[]);
        let start = spans.first().map_or(0, |span| span.0);
        start..spans.last().map_or(start, |span| span.1)
    }
}
