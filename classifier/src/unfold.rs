//! A text with what is hidden in it brought to light, before anything judges it.

use std::ops::Range;

use crate::Normalised;

/// How a text was hidden within another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Disguise {
    /// Letters of other scripts that look like Latin ones.
    Confusables,
    /// Tag characters, U+E0000 to U+E007F.
    Tags,
    /// Base64, standard or URL-safe.
    Base64,
    /// Hexadecimal digits.
    Hexadecimal,
    /// Percent-encoding.
    Percent,
    /// HTML character references.
    Entities,
    /// Written backwards.
    Reversed,
    /// Letters with a space, dot or dash between each.
    SpacedOut,
}

/// What was dropped on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenCounts {
    /// Characters that show nothing, without the joiners of emoji.
    pub invisible: usize,
    /// Controls of the writing direction.
    pub directional: usize,
    /// Tag characters.
    pub tags: usize,
}

/// A text that stood in another in disguise.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// How it was hidden.
    pub disguise: Disguise,
    /// What it says, folded.
    pub text: Normalised,
    /// The part of the original text that it stood in.
    pub span: Range<usize>,
}

/// A text, folded, and what was found hidden in it.
#[derive(Debug, Clone)]
pub struct Unfolded {
    plain: Normalised,
    decoded: Vec<Decoded>,
    counts: HiddenCounts,
}

impl Unfolded {
    /// Unfolds a text.
    pub fn new(text: &str) -> Unfolded {
        Unfolded { plain: Normalised::new(text), decoded: Vec::new(), counts: HiddenCounts::default() }
    }

    /// The text itself, folded.
    pub fn plain(&self) -> &Normalised {
        &self.plain
    }

    /// What was hidden in it.
    pub fn decoded(&self) -> &[Decoded] {
        &self.decoded
    }

    /// What was dropped.
    pub fn counts(&self) -> HiddenCounts {
        self.counts
    }
}
