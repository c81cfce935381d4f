//! Collects what the decoders find in one layer: texts that were decoded as a whole, and passages, in which single
//! pieces of a sentence were decoded.

use std::ops::Range;

use super::hidden::{Hidden, HiddenCounts};
use super::normalise::Normalised;

/// The way in which a text is hidden in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Disguise {
    /// Letters of other scripts that look like Latin ones.
    Confusables,
    /// Tag characters, U+E0000 to U+E007F, or bytes spelled with variation selectors.
    Tags,
    /// Base64, standard or URL-safe.
    Base64,
    /// Hexadecimal digits.
    Hexadecimal,
    /// Percent-encoding.
    Percent,
    /// HTML character references.
    Entities,
    /// Text written backwards.
    Reversed,
    /// Letters with a space, dot or dash between each.
    SpacedOut,
}

impl Disguise {
    /// Every disguise.
    pub const ALL: [Disguise; 8] = [
        Disguise::Confusables,
        Disguise::Tags,
        Disguise::Base64,
        Disguise::Hexadecimal,
        Disguise::Percent,
        Disguise::Entities,
        Disguise::Reversed,
        Disguise::SpacedOut,
    ];
}

/// A text that a decoder found.
pub(super) struct Found {
    pub(super) disguise: Disguise,
    /// Its range in the layer.
    pub(super) at: Range<usize>,
    pub(super) text: Normalised,
    /// The parts of `text` that are not in the layer, in order.
    pub(super) fresh: Vec<Range<usize>>,
    /// True if it is reported; otherwise it is only searched further.
    pub(super) reported: bool,
}

/// A layer, and the texts found in it so far.
pub(super) struct Collector<'a> {
    layer: &'a Normalised,
    counts: &'a mut HiddenCounts,
    found: Vec<Found>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(layer: &'a Normalised, counts: &'a mut HiddenCounts) -> Collector<'a> {
        Collector { layer, counts, found: Vec::new() }
    }

    pub(super) fn layer(&self) -> &'a Normalised {
        self.layer
    }

    /// Returns the layer's text.
    pub(super) fn text(&self) -> &'a str {
        self.layer.text()
    }

    /// Normalises text that was decoded from a part of the layer. Messages of tag characters in it are reported
    /// separately.
    pub(super) fn fold(&mut self, decoded: &str, at: &Range<usize>) -> String {
        let mut hidden = Hidden::default();
        let folded = Normalised::watched(decoded, |place, character| hidden.count(place, character));
        let counts = hidden.counts();
        self.counts.invisible += counts.invisible;
        self.counts.directional += counts.directional;
        self.counts.tags += counts.tags;
        self.counts.soft_hyphens += counts.soft_hyphens;
        for message in hidden.messages() {
            self.whole(Disguise::Tags, at.clone(), &message.decoded, true);
        }
        folded.text().to_owned()
    }

    /// Adds a normalised text that was decoded from a part of the layer as a whole; `reported` is false for a text
    /// that is only searched further.
    pub(super) fn whole(&mut self, disguise: Disguise, at: Range<usize>, folded: &str, reported: bool) {
        let mut text = Normalised::empty();
        text.append_found(folded, self.layer.original(at.clone()));
        if !folded.is_empty() {
            self.found.push(Found {
                disguise,
                at,
                text,
                fresh: std::iter::once(0..folded.len()).collect(),
                reported,
            });
        }
    }

    /// Adds a passage with decoded parts.
    pub(super) fn passage(&mut self, found: Found) {
        self.found.push(found);
    }

    pub(super) fn into_found(self) -> Vec<Found> {
        self.found
    }
}

/// The length of the context that is taken along on either side of a disguised piece, in bytes. Pieces nearer than
/// twice that share a passage, so that no two passages overlap.
const AROUND: usize = 120;

/// The smallest total weight of a passage that is kept.
pub(super) const ENOUGH: usize = 4;

/// A disguised piece.
pub(super) struct Piece {
    /// Its range in the layer.
    pub(super) at: Range<usize>,
    /// Its decoded text, normalised.
    pub(super) decoded: String,
    /// The weight: higher for a piece that honest texts need less; see [`ENOUGH`].
    pub(super) weight: usize,
}

/// Adds the passages around the pieces, which come in order.
pub(super) fn report_passages(collector: &mut Collector<'_>, disguise: Disguise, pieces: &[Piece]) {
    let mut rest = pieces;
    while let Some(first) = rest.first() {
        let mut end = first.at.end;
        let near = rest.iter().take_while(|piece| {
            let near = piece.at.start <= end + 2 * AROUND;
            if near {
                end = piece.at.end;
            }
            near
        });
        let (group, behind) = rest.split_at(near.count());
        rest = behind;
        if group.iter().map(|piece| piece.weight).sum::<usize>() >= ENOUGH {
            let found = reveal(collector.layer(), disguise, first.at.start..end, group);
            collector.passage(found);
        }
    }
}

fn reveal(layer: &Normalised, disguise: Disguise, at: Range<usize>, pieces: &[Piece]) -> Found {
    let text = layer.text();
    let mut revealed = Normalised::empty();
    let mut fresh = Vec::with_capacity(pieces.len());
    let mut copied = word_start(text, at.start.saturating_sub(AROUND), at.start);
    for piece in pieces {
        revealed.append_part(layer, copied..piece.at.start);
        let start = revealed.text().len();
        revealed.append_found(&piece.decoded, layer.original(piece.at.clone()));
        fresh.push(start..revealed.text().len());
        copied = piece.at.end;
    }
    revealed.append_part(layer, copied..word_end(text, at.end, at.end.saturating_add(AROUND)));
    Found { disguise, at: whole_words(text, at), text: revealed, fresh, reported: true }
}

/// Returns a part widened to the white space on either side, if that is near.
fn whole_words(text: &str, at: Range<usize>) -> Range<usize> {
    let from = text.ceil_char_boundary(at.start.saturating_sub(AROUND));
    let to = text.floor_char_boundary(at.end.saturating_add(AROUND).min(text.len()));
    let before = text.get(from..at.start).unwrap_or_default();
    let after = text.get(at.end..to).unwrap_or_default();
    let start =
        before.char_indices().rfind(|(_, c)| c.is_whitespace()).map(|(place, c)| from + place + c.len_utf8());
    let end = after.find(char::is_whitespace).map(|place| at.end + place);
    let start = start.or((from == 0).then_some(0)).unwrap_or(at.start);
    start..end.or((to == text.len()).then_some(to)).unwrap_or(at.end)
}

/// Returns the first word border from `from` on, at most `to`.
fn word_start(text: &str, from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let from = text.ceil_char_boundary(from);
    let part = text.get(from..to).unwrap_or_default();
    part.find(char::is_whitespace).map_or(from.min(to), |space| from + space)
}

/// Returns the last word border from `from` on, at most `to`.
fn word_end(text: &str, from: usize, to: usize) -> usize {
    if to >= text.len() {
        return text.len();
    }
    let to = text.floor_char_boundary(to).max(from);
    let part = text.get(from..to).unwrap_or_default();
    part.rfind(char::is_whitespace).map_or(to, |space| from + space)
}
