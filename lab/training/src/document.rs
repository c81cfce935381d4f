//! Documents: texts for training and measuring, with their labels and their part.

use std::ops::Range;

use classifier::WindowPlace;

/// The part of a corpus that a document belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CorpusPart {
    /// Weights are fitted to it.
    Training,
    /// Settings, calibration and thresholds are chosen on it.
    Development,
    /// The model is only measured on it.
    Test,
}

impl CorpusPart {
    /// Returns the part of all documents with this name: 70 % of names are for training, 15 % for each of the others.
    /// Documents with a common goal or carrier must share a part, so the name is that of the goal or the carrier.
    pub fn of(name: &str) -> CorpusPart {
        match hash(name) % 100 {
            0..70 => CorpusPart::Training,
            70..85 => CorpusPart::Development,
            _ => CorpusPart::Test,
        }
    }
}

/// A split of a corpus into parts. Splits with different seeds are independent, so settings can be chosen on some and
/// judged on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    seed: u64,
}

impl Split {
    /// Returns the split of this seed.
    pub(crate) fn new(seed: u64) -> Split {
        Split { seed }
    }

    /// Returns the part of all documents with this name, in the shares of [`CorpusPart::of`].
    pub(crate) fn part(self, name: &str) -> CorpusPart {
        CorpusPart::of(&self.salted(name))
    }

    /// Does the same for our own lines. They mostly serve training; the others show whether the model generalises
    /// beyond them.
    pub(crate) fn part_of_line(self, line: &str) -> CorpusPart {
        match hash(&self.salted(line)) % 100 {
            0..84 => CorpusPart::Training,
            84..92 => CorpusPart::Development,
            _ => CorpusPart::Test,
        }
    }

    fn salted(self, name: &str) -> String {
        format!("parts {}/{name}", self.seed)
    }
}

/// Returns a hash of a name that is the same on every machine (FNV-1a with a final mixing).
pub fn hash(name: &str) -> u64 {
    let mixed = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// A text with its source and its label.
#[derive(Debug, Clone)]
pub struct Document {
    /// The corpus and the kind in it, for instance `bipia/email`.
    pub source: String,
    /// Its part.
    pub part: CorpusPart,
    /// The text.
    pub text: String,
    /// Its place on a page.
    pub place: WindowPlace,
    /// The harmful part, in bytes of the text; `None` if all is harmless.
    pub harmful: Option<Range<usize>>,
    /// Its weight in fitting; 1 for most.
    pub weight: f32,
}

impl Document {
    /// Returns a text that is harmless throughout.
    pub fn harmless(source: &str, part: CorpusPart, text: impl Into<String>) -> Document {
        let (source, text) = (source.to_owned(), text.into());
        Document { source, part, text, place: WindowPlace::Unknown, harmful: None, weight: 1.0 }
    }

    /// Returns a text that is harmful throughout.
    pub fn harmful(source: &str, part: CorpusPart, text: impl Into<String>) -> Document {
        let text = text.into();
        Document { harmful: Some(0..text.len()), ..Document::harmless(source, part, text) }
    }

    /// Returns a harmful text between two harmless ones.
    pub fn inserted(source: &str, part: CorpusPart, before: &str, harmful: &str, after: &str) -> Document {
        let text = format!("{before}{harmful}{after}");
        let span = before.len()..before.len() + harmful.len();
        Document { harmful: Some(span), ..Document::harmless(source, part, text) }
    }

    /// Returns the document with another weight.
    #[must_use]
    pub fn weighing(mut self, weight: f32) -> Document {
        self.weight = weight;
        self
    }

    /// Returns the label of a window of the text: harmful, harmless, or `None` for neither clearly.
    pub(crate) fn label(&self, window: &Range<usize>) -> Option<bool> {
        let Some(span) = &self.harmful else { return Some(false) };
        let shared = window.end.min(span.end).saturating_sub(window.start.max(span.start));
        if shared == 0 {
            return Some(false);
        }
        let enough = shared * 10 >= span.len() * 7 || shared >= 100;
        (enough && shared * 3 >= window.len()).then_some(true)
    }
}
