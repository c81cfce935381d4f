//! Gathers what the decoders find in one layer.

use std::ops::Range;

use super::hidden::Hidden;
use super::{Disguise, HiddenCounts};
use crate::Normalised;

/// What a decoder found.
pub(super) struct Found {
    pub(super) disguise: Disguise,
    /// Where it stood in the layer.
    pub(super) at: Range<usize>,
    pub(super) text: Normalised,
    /// The parts of `text` that were not in the layer as they are, in order.
    pub(super) fresh: Vec<Range<usize>>,
    /// Whether it is worth telling; otherwise it is only searched further.
    pub(super) telling: bool,
}

/// A layer, and what was found in it so far.
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

    /// The layer's text.
    pub(super) fn text(&self) -> &'a str {
        self.layer.text()
    }

    /// Folds what was decoded from a part of the layer. What is hidden in it by tag characters is reported beside it.
    pub(super) fn fold(&mut self, decoded: &str, at: &Range<usize>) -> String {
        let mut hidden = Hidden::default();
        let folded = Normalised::watched(decoded, |place, character| hidden.note(place, character));
        let counts = hidden.counts();
        self.counts.invisible += counts.invisible;
        self.counts.directional += counts.directional;
        self.counts.tags += counts.tags;
        self.counts.soft_hyphens += counts.soft_hyphens;
        for message in hidden.messages() {
            self.whole(Disguise::Tags, at.clone(), &message.says, true);
        }
        folded.text().to_owned()
    }

    /// Reports text that as a whole was decoded from a part of the layer, folded, and whether it is worth telling.
    pub(super) fn whole(&mut self, disguise: Disguise, at: Range<usize>, folded: &str, telling: bool) {
        let mut text = Normalised::empty();
        text.append_found(folded, self.layer.original(at.clone()));
        if !folded.is_empty() {
            self.found.push(Found {
                disguise,
                at,
                text,
                fresh: std::iter::once(0..folded.len()).collect(),
                telling,
            });
        }
    }

    /// Reports a passage of which parts were decoded.
    pub(super) fn passage(&mut self, found: Found) {
        self.found.push(found);
    }

    pub(super) fn into_found(self) -> Vec<Found> {
        self.found
    }
}
